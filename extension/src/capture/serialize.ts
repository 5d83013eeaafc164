/**
 * Serialises a document as shown: with open shadow roots and same-origin frames, without scripts, hidden content and
 * user input. The service extracts the text. Changes nothing.
 */
import { isReadMeta } from '../../../src/compute/extraction/meta-names.ts';
import { contentsPlace, isOutOfReach, isTooSmall, type Place, pagePlace, styleOf } from './seen.ts';
import { withoutNames } from './without-names.ts';

/** Elements that are never shown as text, or not the page's: scripts, graphics, form fields. */
const skipped = new Set(
  'script style noscript template link object embed applet param canvas svg audio video source track map area input textarea select option optgroup datalist output progress meter'.split(
    ' ',
  ),
);
/** Attributes that extraction uses. It does not use picture addresses, inline styles, handlers and data attributes. */
const keptAttributes = new Set(
  'id class href alt title lang dir datetime rel role itemprop itemtype itemscope property name content colspan rowspan start cite aria-label'.split(
    ' ',
  ),
);
const longestAttribute = 1000;
/** Pages have some dozens. */
const maxMetas = 1000;
const voidElements = new Set(['br', 'hr', 'img', 'meta', 'wbr', 'col', 'base']);

/** Maximum depth; the service accepts 512. Deeper elements lose their tags. */
const deepest = 400;
/** Nodes per step. */
const nodesAStep = 200;

export interface Serialized {
  html: string;
  /** The page was longer than the limit. */
  cut: boolean;
  /** Whether it shows or contains a password or card field; then nothing may be kept. */
  secretField: boolean;
}

const escapeText = (text: string): string =>
  /[&<>]/.test(text) ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') : text;
const escapeValue = (text: string): string =>
  /[&"]/.test(text) ? text.replaceAll('&', '&amp;').replaceAll('"', '&quot;') : text;

/** False for elements that also hide their children, such as `display: none`. */
function isShown(element: Element): boolean {
  return (withoutNames(element).checkVisibility?.() ?? true) || styleOf(element)?.display === 'contents';
}

/** Whether a shown element hides its children: `content-visibility: hidden`, or closed except for its summary. */
function skipsContents(element: Element): boolean {
  if (element.localName === 'details' && !element.hasAttribute('open')) return true;
  return styleOf(element)?.contentVisibility === 'hidden';
}

/** Any token of `autocomplete`. */
const secretTokens = /(?:^|\s)(?:cc-(?:number|csc|exp|exp-month|exp-year|name)|(?:current|new)-password)(?:\s|$)/i;
const cardNames = /card.?num|cardnumber|\bcc.?num|\bcvc\b|\bcvv2?\b|security.?code/i;

/** Whether a field is for a password or card number. */
function asksForSecret(input: Element): boolean {
  if (input.getAttribute('type')?.toLowerCase() === 'password') return true;
  if (secretTokens.test(input.getAttribute('autocomplete') ?? '')) return true;
  return ['name', 'id'].some((name) => cardNames.test(input.getAttribute(name) ?? ''));
}

/** Card number frames of the large payment providers, which are of other origins. */
const paymentFrame =
  /^https:\/\/(?:js\.stripe\.com\/.*(?:card|payment|number)|assets\.braintreegateway\.com|checkoutshopper-[a-z.]*\.adyen\.com|(?:www\.)?paypal\.com\/.*card)/i;

function isSecretField(element: Element, name: string): boolean {
  if (name === 'input') {
    return asksForSecret(element) && ((element as HTMLInputElement).value !== '' || isShown(element));
  }
  return name === 'iframe' && paymentFrame.test(element.getAttribute('src') ?? '') && isShown(element);
}

/** Open or closed; page scripts only see open ones. */
export type RootOf = (element: Element) => ShadowRoot | null;

/** Possible hosts other than custom elements: HTML's list for `attachShadow`. */
const possibleHosts = new Set(
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
);
const mayHaveRoot = (name: string): boolean => possibleHosts.has(name) || name.includes('-');

/** The document of a same-origin `embed`, which Chromium exposes only by its window. */
function embeddedIn(embed: HTMLEmbedElement): Document | null {
  const { defaultView } = withoutNames(embed.ownerDocument);
  for (let n = 0; n < (defaultView?.length ?? 0); n++) {
    try {
      const frame = defaultView?.[n];
      if (frame?.frameElement === embed) return frame.document;
    } catch {
      // The document has another origin.
    }
  }
  return null;
}

/** The body in a same-origin frame, `object` or `embed`; null for others. */
function frameBody(frame: Element, name: string): Element | null {
  const inner = name === 'embed' ? embeddedIn(frame as HTMLEmbedElement) : (frame as HTMLIFrameElement).contentDocument;
  return inner ? withoutNames(inner).body : null;
}
const isFrame = (name: string): boolean => name === 'iframe' || name === 'frame';
const frameOf = (element: Element, name: string): Element | null =>
  isFrame(name) || name === 'object' || name === 'embed' ? frameBody(element, name) : null;

/** Whether users edit the whole document, by `designMode` or its root element. */
const isEdited = (element: Element, name: string): boolean =>
  (name === 'body' || name === 'frameset') &&
  ((element as HTMLElement).isContentEditable || withoutNames(element.ownerDocument).designMode === 'on');

/** The kept attributes as written; null for editable elements. */
function attributesOf(element: Element): string | null {
  if (!element.hasAttributes()) return '';
  let text = '';
  for (const name of element.getAttributeNames()) {
    if (keptAttributes.has(name)) {
      const value = element.getAttribute(name) ?? '';
      text += ` ${name}="${escapeValue(value.length > longestAttribute ? value.slice(0, longestAttribute) : value)}"`;
    } else if (name === 'contenteditable' && element.getAttribute(name)?.toLowerCase() !== 'false') return null;
  }
  return text;
}

/** Max of a serialized page; above it only end tags follow. */
export interface Limits {
  /** UTF-16 units, with escapes. */
  units: number;
  elements: number;
  /** Elements, texts and escapes (parsers make a text of each), and skipped nodes, since a page may grow without end. */
  nodes: number;
}

class Writer {
  #html = '';
  #elements = 0;
  #nodes = 0;
  cut = false;
  secretField = false;
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get done(): boolean {
    return this.cut || this.secretField;
  }

  node(): void {
    if (++this.#nodes > this.#limits.nodes) this.cut = true;
  }

  /** A start tag, dropped if it does not fit. */
  markup(text: string): void {
    if (this.done) return;
    if (++this.#elements > this.#limits.elements || this.#html.length + text.length > this.#limits.units)
      this.cut = true;
    else this.#html += text;
  }

  /** Text, cut to the room. */
  text(text: string): void {
    if (this.done) return;
    const escaped = escapeText(text);
    // An escape is three to four units longer than its character.
    this.#nodes += (escaped.length - text.length) / 3;
    const room = this.#limits.units - this.#html.length;
    if (escaped.length <= room) this.#html += escaped;
    else {
      this.#html += escaped.slice(0, room).replace(/&[a-z]{0,4}$/, '');
      this.cut = true;
    }
  }

  /** An end tag, which always fits. */
  end(name: string): void {
    this.#html += `</${name}>`;
  }

  toString(): string {
    return this.#html.toWellFormed();
  }
}

/** The displayed content of an element: its open shadow root's children, a slot's nodes, a frame's body. */
function childrenOf(element: Element, name: string, root: ShadowRoot | null): ArrayLike<Node> {
  if (root?.mode === 'open') return root.childNodes;
  if (name === 'slot') {
    const assigned = (element as HTMLSlotElement).assignedNodes?.({ flatten: true }) ?? [];
    return assigned.length > 0 ? assigned : element.childNodes;
  }
  if (!isFrame(name)) return element.childNodes;
  const body = frameBody(element, name);
  return body === null ? [] : [body];
}

/** The tag name: a frame and its body become parts of this page. */
function writtenName(name: string, depth: number): string {
  if (isFrame(name) || (name === 'body' && depth > 0)) return 'section';
  return name === 'slot' ? 'span' : name;
}

/** Pending nodes: children of a written element, or elements that are only inspected. */
interface Work {
  /** The end tag, or '' if too deep. Null: only look for secret fields in these, their roots and frames. */
  tag: string | null;
  nodes: ArrayLike<Node>;
  at: number;
  /** Direct text is hidden; elements may be visible. Null until checked. */
  muted: boolean | null;
  /** The parent. */
  of: Element | null;
  /** Whether it has a closed root, which may hide its text. */
  isClosed: boolean;
  place: Place;
  /** Selector of the inspected elements in frames. */
  which: string;
}

const every = '*';
/** For a document without its shadow roots, which is fast. */
const fieldsAndFrames = 'input, iframe, frame, object, embed';

const lookInto = (elements: ParentNode, which = every): Work => ({
  tag: null,
  nodes: elements.querySelectorAll(which),
  at: 0,
  muted: true,
  of: null,
  isClosed: false,
  place: pagePlace,
  which,
});

/** Inspect an unwritten element, and queue its root or frame. */
function look(element: Element, name: string, root: ShadowRoot | null, which: string, out: Writer, work: Work[]): void {
  if (isSecretField(element, name)) out.secretField = true;
  const inner = root ?? frameOf(element, name);
  if (inner !== null) work.push(lookInto(inner, which));
}

/** Whether an element in a `display: contents` parent is shown. */
const isShownIn = (parent: Element | null, element: Element): boolean =>
  isShown(element) && (parent === null || !skipsContents(parent));

/** Write an element's start and queue its children; of hidden ones only queue their roots. */
function begin(given: Element, out: Writer, rootOf: RootOf, work: Work[]): void {
  const element = withoutNames(given);
  const name = element.localName;
  const root = mayHaveRoot(name) ? rootOf(element) : null;
  const isVisible = element.checkVisibility?.({ visibilityProperty: true }) ?? true;
  const isThere = isVisible || (!isFrame(name) && isShownIn(work.at(-1)?.of ?? null, given));
  const isLeftOut =
    skipped.has(name) || !isThere || isEdited(element, name) || (name === 'meta' && !isReadMeta(element));
  const place = isLeftOut ? null : contentsPlace(element, given, work.at(-1)?.place ?? pagePlace);
  const attributes = place === null ? null : attributesOf(element);
  if (place === null || attributes === null) {
    look(element, name, root, every, out, work);
    if (element.firstElementChild !== null) work.push(lookInto(element));
    return;
  }
  const isInvisible = !isVisible && styleOf(given)?.visibility !== 'visible';
  const tag = work.length < deepest ? writtenName(name, work.length) : '';
  // Attributes of an invisible element are invisible; its tag contains visible children.
  if (tag !== '') out.markup(`<${tag}${isInvisible ? '' : attributes}>`);
  if (!out.cut && !voidElements.has(name)) {
    const nodes = childrenOf(element, name, root);
    work.push({
      tag,
      nodes,
      at: 0,
      muted: isInvisible || null,
      of: given,
      isClosed: root?.mode === 'closed',
      place,
      which: every,
    });
  }
  if (root?.mode === 'closed') work.push(lookInto(root));
  else if (isSecretField(element, name)) out.secretField = true;
}

function writeText(text: Node, parent: Work, out: Writer): void {
  const value = text.nodeValue ?? '';
  // White space is not a secret, and it is the most frequent text.
  if (parent.muted !== true && /\S/.test(value)) {
    parent.muted ??= parent.of !== null && (skipsContents(parent.of) || isTooSmall(parent.of));
    if (isOutOfReach(text, parent)) return;
  }
  if (parent.muted !== true) out.text(value);
}

/** Process an element and its descendants in steps. */
function* finish(work: Work[], out: Writer, rootOf: RootOf): Generator<void> {
  for (let nodes = 1; work.length > 0 && !out.secretField; ) {
    const last = work[work.length - 1];
    const node = last.tag !== null && out.cut ? undefined : last.nodes[last.at++];
    if (node === undefined) {
      if (last.tag) out.end(last.tag);
      work.pop();
      continue;
    }
    if (last.tag !== null) out.node();
    const { nodeType } = node;
    if (nodeType === 3) writeText(node, last, out);
    // A form may have a field named `nodeType`.
    else if (nodeType === 1 || typeof nodeType !== 'number') {
      if (last.tag !== null) begin(node as Element, out, rootOf, work);
      else {
        const element = withoutNames(node as Element);
        const name = element.localName;
        look(element, name, mayHaveRoot(name) ? rootOf(element) : null, last.which, out, work);
      }
    }
    if (++nodes % nodesAStep === 0) yield;
  }
}

/** Title, meta elements and canonical link. */
function writeHead(document: Document, out: Writer): void {
  out.markup('<head><meta charset="utf-8"><title>');
  out.text(document.title);
  out.end('title');
  const metas = document.querySelectorAll('meta[name], meta[property], meta[itemprop]');
  for (const meta of Array.from(metas).filter(isReadMeta).slice(0, maxMetas)) {
    out.markup(`<meta${attributesOf(meta) ?? ''}>`);
  }
  const canonical = document.querySelector('link[rel="canonical"]')?.getAttribute('href');
  if (canonical) out.markup(`<link rel="canonical" href="${escapeValue(canonical.slice(0, longestAttribute))}">`);
  out.end('head');
}

/** Steps run at once while a caller waits. */
const maxStepsAtOnce = 250;

/** Whether a document shows or contains a secret field; also true if too large to check at once. */
export function mayAskForSecret(document: Document, rootOf: RootOf): boolean {
  const out = new Writer({ units: 0, elements: 0, nodes: 0 });
  const work = finish([lookInto(withoutNames(document))], out, rootOf);
  for (let steps = 0; steps < maxStepsAtOnce; steps++) {
    if (work.next().done) return out.secretField;
  }
  return true;
}

/** Serialise a document, interruptible at each step. A page that changes meanwhile mixes states; the caller compares the address. */
export function* serialize(
  document: Document,
  limits: Limits,
  rootOf: RootOf = ({ shadowRoot }) => shadowRoot,
): Generator<void, Serialized> {
  const out = new Writer(limits);
  const page = withoutNames(document);
  const lang = page.documentElement?.getAttribute('lang');
  out.markup(`<!doctype html><html${lang ? ` lang="${escapeValue(lang.slice(0, 50))}"` : ''}>`);
  writeHead(page, out);
  const { body } = page;
  yield* finish([lookInto(page, fieldsAndFrames)], out, rootOf);
  if (body !== null && !out.secretField) {
    const work: Work[] = [];
    begin(body, out, rootOf, work);
    yield* finish(work, out, rootOf);
    // The rest after the cut was not inspected, and a field may have appeared.
    if (out.cut) yield* finish([lookInto(body)], out, rootOf);
    yield* finish([lookInto(page, fieldsAndFrames)], out, rootOf);
  }
  out.end('html');
  return { html: out.secretField ? '' : out.toString(), cut: out.cut, secretField: out.secretField };
}
