/**
 * A document as HTML, as it is shown: open shadow roots and frames of the same origin in their places, without what runs, what is
 * hidden and what somebody typed. The service makes readable text of it. Reads the document and changes nothing in it.
 */
import { withoutNames } from './without-names.ts';

/** Not shown as text, or not the page's: scripts, what is drawn, and everything that people fill in. */
const skipped = new Set(
  'script style noscript template link object embed applet param canvas svg audio video source track map area input textarea select option optgroup datalist output progress meter'.split(
    ' ',
  ),
);
/** What extraction looks at. Addresses of pictures, inline styles, handlers and data attributes are not among it. */
const keptAttributes = new Set(
  'id class href alt title lang dir datetime rel role itemprop itemtype itemscope property name content colspan rowspan start cite aria-label'.split(
    ' ',
  ),
);
const longestAttribute = 1000;
/** Pages have some dozens. */
const mostMetas = 1000;
const voidElements = new Set(['br', 'hr', 'img', 'meta', 'wbr', 'col', 'base']);

/** Elements within elements that are written as such; the service takes 512. What is deeper is written without its tags. */
const deepest = 400;
/** Nodes between two moments at which the work may be interrupted. */
const nodesAStep = 200;

export interface Serialized {
  html: string;
  /** The end is missing: the page was longer than the limit. */
  cut: boolean;
  /** It shows a password or card field, or has one filled in: nothing of it may be kept. */
  secretField: boolean;
}

const escapeText = (text: string): string =>
  /[&<>]/.test(text) ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') : text;
const escapeValue = (text: string): string =>
  /[&"]/.test(text) ? text.replaceAll('&', '&amp;').replaceAll('"', '&quot;') : text;

/** Undefined where nothing is laid out: in tests. */
const styleOf = (element: Element): CSSStyleDeclaration | undefined => globalThis.getComputedStyle?.(element);

/** False for what has no box and is not there for its children either, such as `display: none` and what is closed. */
function isShown(element: Element): boolean {
  return (withoutNames(element).checkVisibility?.() ?? true) || styleOf(element)?.display === 'contents';
}

/** Whether the children of an element that is shown are not: `content-visibility: hidden`, and what is closed, but for its summary. */
function skipsContents(element: Element): boolean {
  if (element.localName === 'details' && !element.hasAttribute('open')) return true;
  return styleOf(element)?.contentVisibility === 'hidden';
}

/** Whether text has a place on the page: what is in an element with a closed root need not have one. */
function hasPlace(text: Node): boolean {
  const range = new Range();
  range.selectNode(text);
  return range.getClientRects().length > 0;
}

/** One of the tokens of `autocomplete`, however much stands before it. */
const secretTokens = /(?:^|\s)(?:cc-(?:number|csc|exp|exp-month|exp-year|name)|(?:current|new)-password)(?:\s|$)/i;
const cardNames = /card.?num|cardnumber|\bcc.?num|\bcvc\b|\bcvv2?\b|security.?code/i;

/** Whether a field takes a password or the number of a card. */
function asksForSecret(input: Element): boolean {
  if (input.getAttribute('type')?.toLowerCase() === 'password') return true;
  if (secretTokens.test(input.getAttribute('autocomplete') ?? '')) return true;
  return ['name', 'id'].some((name) => cardNames.test(input.getAttribute(name) ?? ''));
}

/** Frames in which the large payment providers take card numbers; they are of other origins and cannot be looked into. */
const paymentFrame =
  /^https:\/\/(?:js\.stripe\.com\/.*(?:card|payment|number)|assets\.braintreegateway\.com|checkoutshopper-[a-z.]*\.adyen\.com|(?:www\.)?paypal\.com\/.*card)/i;

function isSecretField(element: Element, name: string): boolean {
  if (name === 'input') {
    return asksForSecret(element) && ((element as HTMLInputElement).value !== '' || isShown(element));
  }
  return name === 'iframe' && paymentFrame.test(element.getAttribute('src') ?? '') && isShown(element);
}

/** The shadow root of an element, open or closed; the page's own scripts see open ones alone. */
export type RootOf = (element: Element) => ShadowRoot | null;

/** What may have a shadow root beside custom elements: HTML's list for `attachShadow`. */
const possibleHosts = new Set(
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
);
const mayHaveRoot = (name: string): boolean => possibleHosts.has(name) || name.includes('-');

/** The document in an `embed` of the same origin, which Chromium gives by its window alone. */
function embeddedIn(embed: HTMLEmbedElement): Document | null {
  const { defaultView } = withoutNames(embed.ownerDocument);
  for (let n = 0; n < (defaultView?.length ?? 0); n++) {
    try {
      const frame = defaultView?.[n];
      if (frame?.frameElement === embed) return frame.document;
    } catch {
      // Of another origin.
    }
  }
  return null;
}

/** The body of the document in a frame, `object` or `embed` of the same origin; null for others. */
function frameBody(frame: Element, name: string): Element | null {
  const inner = name === 'embed' ? embeddedIn(frame as HTMLEmbedElement) : (frame as HTMLIFrameElement).contentDocument;
  return inner ? withoutNames(inner).body : null;
}
const isFrame = (name: string): boolean => name === 'iframe' || name === 'frame';
const frameOf = (element: Element, name: string): Element | null =>
  isFrame(name) || name === 'object' || name === 'embed' ? frameBody(element, name) : null;

/** Whether people edit the whole of a document, by `designMode` or its root element: what is in it was typed. */
const isEdited = (element: Element, name: string): boolean =>
  (name === 'body' || name === 'frameset') &&
  ((element as HTMLElement).isContentEditable || withoutNames(element.ownerDocument).designMode === 'on');

/** The kept attributes as they are written; null where people edit what is in the element. */
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

/** What a written page has at most; of what is more there are end tags alone. */
export interface Limits {
  /** UTF-16 units, escapes as they are written. */
  units: number;
  elements: number;
  /** Elements, texts and escapes: parsers make a text of each. Nodes that are not written count, too: a page may grow without an end. */
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

  /** A node is come to. */
  node(): void {
    if (++this.#nodes > this.#limits.nodes) this.cut = true;
  }

  /** A start tag, which is left out as a whole where there is no room for it. */
  markup(text: string): void {
    if (this.done) return;
    if (++this.#elements > this.#limits.elements || this.#html.length + text.length > this.#limits.units)
      this.cut = true;
    else this.#html += text;
  }

  /** Text of the page: as much of it as there is room for. */
  text(text: string): void {
    if (this.done) return;
    const escaped = escapeText(text);
    // Each escape is three to four units longer than what it is for.
    this.#nodes += (escaped.length - text.length) / 3;
    const room = this.#limits.units - this.#html.length;
    if (escaped.length <= room) this.#html += escaped;
    else {
      this.#html += escaped.slice(0, room).replace(/&[a-z]{0,4}$/, '');
      this.cut = true;
    }
  }

  /** An end tag, for which there is always room. */
  end(name: string): void {
    this.#html += `</${name}>`;
  }

  toString(): string {
    return this.#html.toWellFormed();
  }
}

/** What stands in an element's place: its open shadow root's children, a slot's nodes, a frame's body. */
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

/** The name under which an element is written: a frame and the body in it are parts of this page. */
function writtenName(name: string, depth: number): string {
  if (isFrame(name) || (name === 'body' && depth > 0)) return 'section';
  return name === 'slot' ? 'span' : name;
}

/** Nodes that are still to be dealt with: the children of an element whose start tag is written, or elements that are looked at alone. */
interface Work {
  /** The name of the element's end tag, or '' where it is too deep for one. Null: look for secret fields in these, their roots and frames. */
  tag: string | null;
  nodes: ArrayLike<Node>;
  at: number;
  /** Text directly below is not shown; elements may be. Null until it is asked. */
  muted: boolean | null;
  /** Whose children these are. */
  of: Element | null;
  /** It has a closed root, in which its text may have no place. */
  isClosed: boolean;
  /** Which elements of frames are looked at. */
  which: string;
}

const every = '*';
/** In a document, but not in its shadow roots: where most of them are, and found at once. */
const fieldsAndFrames = 'input, iframe, frame, object, embed';

const lookInto = (elements: ParentNode, which = every): Work => ({
  tag: null,
  nodes: elements.querySelectorAll(which),
  at: 0,
  muted: true,
  of: null,
  isClosed: false,
  which,
});

/** Look at an element that is not written, and leave its root or frame to be looked into. */
function look(element: Element, name: string, root: ShadowRoot | null, which: string, out: Writer, work: Work[]): void {
  if (isSecretField(element, name)) out.secretField = true;
  const inner = root ?? frameOf(element, name);
  if (inner !== null) work.push(lookInto(inner, which));
}

/** Whether an element without a box, of which `display: contents` makes its children take the place, is shown in its parent. */
const isShownIn = (parent: Element | null, element: Element): boolean =>
  isShown(element) && (parent === null || !skipsContents(parent));

/** Write the start of an element and leave its children to be written; of what is not shown, leave its roots to be looked into. */
function begin(given: Element, out: Writer, rootOf: RootOf, work: Work[]): void {
  const element = withoutNames(given);
  const name = element.localName;
  const root = mayHaveRoot(name) ? rootOf(element) : null;
  const isVisible = element.checkVisibility?.({ visibilityProperty: true }) ?? true;
  const isThere = isVisible || (!isFrame(name) && isShownIn(work.at(-1)?.of ?? null, given));
  const attributes = skipped.has(name) || !isThere || isEdited(element, name) ? null : attributesOf(element);
  if (attributes === null) {
    look(element, name, root, every, out, work);
    if (element.firstElementChild !== null) work.push(lookInto(element));
    return;
  }
  const isInvisible = !isVisible && styleOf(given)?.visibility !== 'visible';
  const tag = work.length < deepest ? writtenName(name, work.length) : '';
  // What an invisible element says of itself is as invisible; its tag holds those below it that are not.
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
      which: every,
    });
  }
  if (root?.mode === 'closed') work.push(lookInto(root));
  else if (isSecretField(element, name)) out.secretField = true;
}

/** Write text, if it is shown. */
function writeText(text: Node, parent: Work, out: Writer): void {
  const value = text.nodeValue ?? '';
  // Space is no secret, and the most frequent text.
  if (parent.muted !== true && /\S/.test(value)) {
    parent.muted ??= parent.of !== null && skipsContents(parent.of);
    if (parent.isClosed && !hasPlace(text)) return;
  }
  if (parent.muted !== true) out.text(value);
}

/** Deal with an element and what is below it, however deep; a step ends after so many nodes. */
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
    // A form may have a field of the name.
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

/** What describes the page: its title, its meta elements and its canonical link. */
function writeHead(document: Document, out: Writer): void {
  out.markup('<head><meta charset="utf-8"><title>');
  out.text(document.title);
  out.end('title');
  const metas = document.querySelectorAll('meta[name], meta[property], meta[itemprop]');
  for (const meta of Array.from(metas).slice(0, mostMetas)) {
    if (!/csrf|token|nonce|verification/i.test(meta.getAttribute('name') ?? ''))
      out.markup(`<meta${attributesOf(meta) ?? ''}>`);
  }
  const canonical = document.querySelector('link[rel="canonical"]')?.getAttribute('href');
  if (canonical) out.markup(`<link rel="canonical" href="${escapeValue(canonical.slice(0, longestAttribute))}">`);
  out.end('head');
}

/** So many steps are made at once where somebody waits for the answer. */
const mostStepsAtOnce = 250;

/** Whether a document shows a field for a secret, or has one filled in; true, too, for one that is too large to be looked through at once. */
export function mayAskForSecret(document: Document, rootOf: RootOf): boolean {
  const out = new Writer({ units: 0, elements: 0, nodes: 0 });
  const work = finish([lookInto(withoutNames(document))], out, rootOf);
  for (let steps = 0; steps < mostStepsAtOnce; steps++) {
    if (work.next().done) return out.secretField;
  }
  return true;
}

/**
 * Write a document, interruptible at each step of the generator.
 * Errors: none; a page that changes meanwhile is written as each part is when it is reached, and who calls compares the address.
 */
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
    // Behind the cut nothing was looked at, and a field may have come meanwhile.
    if (out.cut) yield* finish([lookInto(body)], out, rootOf);
    yield* finish([lookInto(page, fieldsAndFrames)], out, rootOf);
  }
  out.end('html');
  return { html: out.secretField ? '' : out.toString(), cut: out.cut, secretField: out.secretField };
}
