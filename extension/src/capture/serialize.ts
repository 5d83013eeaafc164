/**
 * A document as HTML, as it is shown: open shadow roots and frames of the same origin in their places, without what runs, what is
 * hidden and what somebody typed. The service makes readable text of it. Reads the document and changes nothing in it.
 */

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

const styleOf = (element: Element) => element.ownerDocument.defaultView?.getComputedStyle(element);

/** False for what has no box and is not there for its children either, such as `display: none` and what is closed. */
function isShown(element: Element): boolean {
  return (element.checkVisibility?.() ?? true) || styleOf(element)?.display === 'contents';
}

const cardTokens = /^cc-(?:number|csc|exp|exp-month|exp-year|name)$/i;
const cardNames = /card.?num|cardnumber|\bcc.?num|\bcvc\b|\bcvv2?\b|security.?code/i;

/** Whether a field takes a password or the number of a card. */
function asksForSecret(input: Element): boolean {
  if (input.getAttribute('type')?.toLowerCase() === 'password') return true;
  const autocomplete = input.getAttribute('autocomplete') ?? '';
  if (autocomplete.split(/\s+/).some((token) => cardTokens.test(token) || /^(?:current|new)-password$/i.test(token)))
    return true;
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

/** The document of a frame of the same origin; null for others. */
const frameBody = (frame: Element): Element | null => (frame as HTMLIFrameElement).contentDocument?.body ?? null;
const frameOf = (element: Element, name: string): Element | null =>
  name === 'iframe' || name === 'frame' ? frameBody(element) : null;

/** Whether a document, or what is in a shadow root, has a secret field, in its frames of the same origin, too; nested roots are not looked into. */
function hasSecretField(root: ParentNode): boolean {
  for (const element of root.querySelectorAll('input, iframe, frame')) {
    if (isSecretField(element, element.localName)) return true;
    const inner = element.localName === 'input' ? null : frameBody(element);
    if (inner !== null && hasSecretField(inner)) return true;
  }
  return false;
}

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

class Writer {
  #html = '';
  cut = false;
  secretField = false;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get done(): boolean {
    return this.cut || this.secretField;
  }

  /** Text that is left out as a whole where there is no room for it. */
  markup(text: string): void {
    if (this.done) return;
    if (this.#html.length + text.length > this.#limit) this.cut = true;
    else this.#html += text;
  }

  /** Text of the page: as much of it as there is room for. */
  text(text: string): void {
    if (this.done) return;
    const escaped = escapeText(text);
    const room = this.#limit - this.#html.length;
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
  return name === 'iframe' || name === 'frame' ? (frameBody(element)?.childNodes ?? []) : element.childNodes;
}

/** Nodes that are still to be dealt with: the children of an element whose start tag is written, or '' where it is too deep; with null, elements whose roots are looked into. */
interface Work {
  tag: string | null;
  nodes: ArrayLike<Node>;
  at: number;
  /** Text directly below is invisible; elements may be visible again. */
  muted: boolean;
}

const lookInto = (elements: ParentNode): Work => ({
  tag: null,
  nodes: elements.querySelectorAll('*'),
  at: 0,
  muted: true,
});

/** Look for secret fields in a closed root, or in what is not shown, and leave what is below it to be looked into. */
function look(inner: ParentNode | null, out: Writer, work: Work[]): void {
  if (inner === null) return;
  if (hasSecretField(inner)) out.secretField = true;
  else work.push(lookInto(inner));
}

/** Write the start of an element and leave its children to be written; of what is not shown, leave its roots to be looked into. */
function begin(element: Element, out: Writer, rootOf: RootOf, work: Work[]): void {
  const name = element.localName;
  const root = mayHaveRoot(name) ? rootOf(element) : null;
  const isVisible = element.checkVisibility?.({ visibilityProperty: true }) ?? true;
  const isThere = isVisible || (name !== 'iframe' && name !== 'frame' && isShown(element));
  const attributes = skipped.has(name) || !isThere ? null : attributesOf(element);
  if (attributes === null) {
    look(root ?? frameOf(element, name), out, work);
    if (element.firstElementChild !== null) work.push(lookInto(element));
    return;
  }
  const shown = name === 'iframe' || name === 'frame' ? 'section' : name === 'slot' ? 'span' : name;
  const tag = work.length < deepest ? shown : '';
  if (tag !== '') out.markup(`<${tag}${attributes}>`);
  if (!out.cut && !voidElements.has(name)) {
    const muted = !isVisible && styleOf(element)?.visibility !== 'visible';
    work.push({ tag, nodes: childrenOf(element, name, root), at: 0, muted });
  }
  if (root?.mode === 'closed') look(root, out, work);
  else if (root !== null && hasSecretField(root)) out.secretField = true;
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
    if (node.nodeType === 3) {
      if (!last.muted) out.text(node.nodeValue ?? '');
    } else if (node.nodeType === 1) {
      const element = node as Element;
      const name = element.localName;
      if (last.tag !== null) begin(element, out, rootOf, work);
      else look(mayHaveRoot(name) ? rootOf(element) : frameOf(element, name), out, work);
    }
    if (++nodes % nodesAStep === 0) yield;
  }
}

/** What describes the page: its title, its meta elements and its canonical link. */
function writeHead(document: Document, out: Writer): void {
  out.markup('<head><meta charset="utf-8"><title>');
  out.text(document.title);
  out.end('title');
  for (const meta of document.querySelectorAll('meta[name], meta[property], meta[itemprop]')) {
    if (!/csrf|token|nonce|verification/i.test(meta.getAttribute('name') ?? ''))
      out.markup(`<meta${attributesOf(meta) ?? ''}>`);
  }
  const canonical = document.querySelector('link[rel="canonical"]')?.getAttribute('href');
  if (canonical) out.markup(`<link rel="canonical" href="${escapeValue(canonical.slice(0, longestAttribute))}">`);
  out.end('head');
}

/**
 * Write a document, interruptible at each step of the generator.
 * Units: `limit` in UTF-16 units, beyond which there are end tags alone. Escapes count once they are made.
 * Errors: none; a page that changes meanwhile is written as each part is when it is reached, and who calls compares the address.
 */
export function* serialize(
  document: Document,
  limit: number,
  rootOf: RootOf = ({ shadowRoot }) => shadowRoot,
): Generator<void, Serialized> {
  const out = new Writer(limit);
  const lang = document.documentElement.getAttribute('lang');
  out.markup(`<!doctype html><html${lang ? ` lang="${escapeValue(lang.slice(0, 50))}"` : ''}>`);
  writeHead(document, out);
  const { body } = document;
  out.secretField = hasSecretField(document);
  if (body !== null && !out.secretField) {
    const work: Work[] = [];
    begin(body, out, rootOf, work);
    yield* finish(work, out, rootOf);
    // Behind the cut nothing was looked at, and a field may have come meanwhile.
    if (out.cut) yield* finish([lookInto(body)], out, rootOf);
    out.secretField ||= hasSecretField(document);
  }
  out.end('html');
  return { html: out.secretField ? '' : out.toString(), cut: out.cut, secretField: out.secretField };
}
