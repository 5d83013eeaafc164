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
  text.replace(/[&<>]/g, (c) => (c === '&' ? '&amp;' : c === '<' ? '&lt;' : '&gt;'));
const escapeValue = (text: string): string => text.replace(/[&"]/g, (c) => (c === '&' ? '&amp;' : '&quot;'));

/** False for what has no box and is not there for its children either, such as `display: none` and what is closed. */
function isShown(element: Element): boolean {
  if (typeof element.checkVisibility !== 'function' || element.checkVisibility()) return true;
  return element.ownerDocument.defaultView?.getComputedStyle(element).display === 'contents';
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
    return asksForSecret(element) && (isShown(element) || (element as HTMLInputElement).value !== '');
  }
  return name === 'iframe' && paymentFrame.test(element.getAttribute('src') ?? '') && isShown(element);
}

/** The document of a frame of the same origin; null for others. */
function frameBody(frame: Element): Element | null {
  return (frame as HTMLIFrameElement).contentDocument?.body ?? null;
}

function isEditable(element: Element): boolean {
  const value = element.getAttribute('contenteditable');
  return value !== null && value.toLowerCase() !== 'false';
}

function attributesOf(element: Element): string {
  let text = '';
  for (const { name, value } of element.attributes) {
    if (keptAttributes.has(name)) text += ` ${name}="${escapeValue(value.slice(0, longestAttribute))}"`;
  }
  return text;
}

class Writer {
  readonly #parts: string[] = [];
  #length = 0;
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
    if (this.#length + text.length > this.#limit) this.cut = true;
    else this.#push(text);
  }

  /** Text of the page: as much of it as there is room for. */
  text(text: string): void {
    if (this.done) return;
    const escaped = escapeText(text);
    const room = this.#limit - this.#length;
    if (escaped.length <= room) this.#push(escaped);
    else {
      this.#push(escaped.slice(0, room).replace(/&[a-z]{0,4}$/, ''));
      this.cut = true;
    }
  }

  /** An end tag, for which there is always room. */
  end(name: string): void {
    this.#push(`</${name}>`);
  }

  #push(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }

  toString(): string {
    return this.#parts.join('').toWellFormed();
  }
}

/** What stands in an element's place: its shadow root's children, a slot's nodes, a frame's body. */
function childrenOf(element: Element, name: string): Iterable<Node> {
  if (element.shadowRoot) return element.shadowRoot.childNodes;
  if (name === 'slot') {
    const assigned = (element as HTMLSlotElement).assignedNodes?.({ flatten: true }) ?? [];
    return assigned.length > 0 ? assigned : element.childNodes;
  }
  if (name === 'iframe' || name === 'frame') return frameBody(element)?.childNodes ?? [];
  return element.childNodes;
}

function* writeNode(node: Node, out: Writer, counter: { nodes: number }): Generator<void> {
  if (out.done) return;
  if (++counter.nodes % nodesAStep === 0) yield;
  if (node.nodeType === 3) {
    out.text(node.nodeValue ?? '');
    return;
  }
  if (node.nodeType !== 1) return;
  const element = node as Element;
  const name = element.localName;
  if (isSecretField(element, name)) {
    out.secretField = true;
    return;
  }
  // Fields within a skipped element are looked at all the same, and so are hidden ones: they may have been filled in.
  const hidden = skipped.has(name) || isEditable(element) || !isShown(element);
  if (hidden) {
    if (holdsFilledSecret(element)) out.secretField = true;
    return;
  }
  const tag = name === 'iframe' || name === 'frame' ? 'section' : name === 'slot' ? 'span' : name;
  out.markup(`<${tag}${attributesOf(element)}>`);
  if (out.done || voidElements.has(name)) return;
  for (const child of childrenOf(element, name)) yield* writeNode(child, out, counter);
  out.end(tag);
}

function holdsFilledSecret(element: Element): boolean {
  return Array.from(element.querySelectorAll('input')).some((input) => asksForSecret(input) && input.value !== '');
}

/** What describes the page: its title, its meta elements and its canonical link. */
function writeHead(document: Document, out: Writer): void {
  out.markup('<head><meta charset="utf-8"><title>');
  out.text(document.title);
  out.end('title');
  for (const meta of document.querySelectorAll('meta[name], meta[property], meta[itemprop]')) {
    if (!/csrf|token|nonce|verification/i.test(meta.getAttribute('name') ?? ''))
      out.markup(`<meta${attributesOf(meta)}>`);
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
export function* serialize(document: Document, limit: number): Generator<void, Serialized> {
  const out = new Writer(limit);
  const lang = document.documentElement.getAttribute('lang');
  out.markup(`<!doctype html><html${lang ? ` lang="${escapeValue(lang.slice(0, 50))}"` : ''}>`);
  writeHead(document, out);
  if (document.body) yield* writeNode(document.body, out, { nodes: 0 });
  out.end('html');
  return { html: out.secretField ? '' : out.toString(), cut: out.cut, secretField: out.secretField };
}
