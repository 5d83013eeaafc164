/** Turns a DOM tree into text: blank lines between paragraphs, one line per item or table row, `pre` as it is. */
import type { Section } from '../../domain/page.ts';
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';

export interface ReadableText {
  text: string;
  sections: Section[];
}

const paragraphs = new Set(
  (
    'address article aside blockquote body center details dialog div dl fieldset figure footer form header hgroup hr main nav ol ' +
    'p pre section summary table ul h1 h2 h3 h4 h5 h6'
  ).split(' '),
);
/** Elements that begin on a new line. */
const lines = new Set('caption dd dt figcaption li option tr'.split(' '));
export const headings: ReadonlySet<string> = new Set('h1 h2 h3 h4 h5 h6'.split(' '));
/** Elements without readable text: code, pictures, controls, sources of formulas. */
const unread = new Set(
  (
    'annotation annotation-xml audio button canvas embed head iframe input link meta noscript object script select style svg ' +
    'template textarea title video'
  ).split(' '),
);

/** The text below `root`, with a section at the offset of each heading. `isSkipped` leaves elements out. Linear. */
export function readableText(root: DomNode, isSkipped: (element: DomNode) => boolean = () => false): ReadableText {
  const writer = new TextWriter();
  const sections: Section[] = [];
  let preformatted = 0;
  let heading: { node: DomNode; mark: TextMark } | undefined;
  const items = new Map<DomNode, number>();
  const marker = (item: DomNode): string => {
    const list = item.parentNode;
    if (list?.localName !== 'ol') return '- ';
    const position = (items.get(list) ?? 0) + 1;
    items.set(list, position);
    return `${position}. `;
  };
  walkTree(
    root,
    (node) => {
      if (node.nodeType === textNode) {
        if (preformatted > 0) writer.writePreformatted(node.data);
        else writer.write(node.data);
        return false;
      }
      if (node.nodeType !== elementNode || unread.has(node.localName) || isSkipped(node)) return false;
      const name = node.localName;
      // A footnote number does not belong to the preceding word.
      if (preformatted === 0 && isFootnoteNumber(node)) writer.write(' ');
      if (name === 'br') writer.breakLine();
      else if (lines.has(name)) writer.separate(line);
      else if (paragraphs.has(name)) writer.separate(paragraph);
      else if (name === 'td' || name === 'th') writer.separate(cell);
      if (name === 'li') writer.startItem(marker(node));
      if (name === 'pre') preformatted++;
      if (headings.has(name) && heading === undefined) heading = { node, mark: writer.mark() };
      return true;
    },
    (node) => {
      const name = node.localName;
      if (name === 'pre') preformatted--;
      if (name === 'li') writer.endItem();
      if (node === heading?.node) {
        const title = writer.since(heading.mark);
        if (title !== '') sections.push({ char_start: heading.mark.offset, title });
        heading = undefined;
      }
      if (lines.has(name)) writer.separate(line);
      else if (paragraphs.has(name)) writer.separate(paragraph);
    },
  );
  return { text: writer.text(), sections };
}

/** Whether `sup` and an internal link contain only each other. Bracketed numbers are separate anyway. */
function isFootnoteNumber(node: DomNode): boolean {
  const inner = node.firstChild;
  const names = `${node.localName} ${inner?.localName}`;
  if (inner === null || inner.nextSibling !== null || (names !== 'sup a' && names !== 'a sup')) return false;
  let text: DomNode = inner;
  while (text.firstChild !== null) text = text.firstChild;
  return (
    (node.localName === 'a' ? node : inner).getAttribute('href')?.startsWith('#') === true &&
    text.nodeType === textNode &&
    /^[\p{L}\p{N}]/u.test(text.data)
  );
}

const separators = ['', ' ', '\t', '\n', '\n\n'];
const space = 1;
const cell = 2;
const line = 3;
const paragraph = 4;

interface TextMark {
  /** Offset of the next piece in the final text. */
  offset: number;
  /** Length of the separator and item marker before it. */
  lead: number;
  part: number;
}

/** Joins pieces: no white space at the ends, at most one blank line, `pre` unchanged. Offsets are in the final text. */
class TextWriter {
  readonly #parts: string[] = [];
  #length = 0;
  #pending = 0;
  /** White space of preformatted text after the last piece. */
  #held = '';
  #marker = '';

  write(data: string): void {
    const core = data.trim();
    if (core === '') {
      if (data !== '') this.separate(space);
      return;
    }
    if (data[0].trim() === '') this.separate(space);
    this.#push(core.replace(/\s+/g, ' '));
    if (data[data.length - 1].trim() === '') this.separate(space);
  }

  writePreformatted(data: string): void {
    const core = data.trim();
    if (core === '') {
      this.#held += data;
      return;
    }
    const at = data.indexOf(core);
    this.#held += data.slice(0, at);
    this.#push(core);
    this.#held = data.slice(at + core.length);
  }

  /** Ends a line. Two line ends make a paragraph. */
  breakLine(): void {
    this.separate(this.#pending >= line ? paragraph : line);
  }

  /** Puts at least this separator before the next piece. */
  separate(separator: number): void {
    this.#pending = Math.max(this.#pending, separator);
  }

  /** Put `marker` before the next piece, unless the item ends first. */
  startItem(marker: string): void {
    this.#marker = marker;
  }

  endItem(): void {
    this.#marker = '';
  }

  mark(): TextMark {
    const lead = this.#separator().length + this.#marker.length;
    return { offset: this.#length + lead, lead, part: this.#parts.length };
  }

  since(mark: TextMark): string {
    return this.#parts.slice(mark.part).join('').slice(mark.lead).replace(/\s+/g, ' ');
  }

  text(): string {
    return this.#parts.join('');
  }

  #separator(): string {
    if (this.#length === 0) return '';
    if (this.#held === '') return separators[this.#pending];
    const indent = this.#held.slice(this.#held.lastIndexOf('\n') + 1);
    return this.#pending >= line ? separators[this.#pending] + indent : this.#held;
  }

  #push(core: string): void {
    const separator = this.#separator();
    if (separator !== '') this.#parts.push(separator);
    if (this.#marker !== '') this.#parts.push(this.#marker);
    this.#parts.push(core);
    this.#length += separator.length + this.#marker.length + core.length;
    this.#pending = 0;
    this.#held = '';
    this.#marker = '';
  }
}

/** Number of letters that one character of these scripts counts for. */
const lettersOfSign = 2.5;
const signs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const hasSign = /[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Amount of text to read, in letters; characters of Chinese, Japanese and Korean count as several. */
export function readingLength(text: string): number {
  return hasSign.test(text) ? text.length + (text.match(signs)?.length ?? 0) * (lettersOfSign - 1) : text.length;
}
