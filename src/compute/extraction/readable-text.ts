/**
 * Converts a DOM tree to plain text: blank lines between paragraphs, one line per list item or table row, preformatted text as is,
 * headings as section starts.
 */
import type { Section } from '../../domain/page.ts';
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';
import { type TextMark, TextWriter } from './text-writer.ts';

export interface ReadableText {
  text: string;
  sections: Section[];
}

/** Blank line before and after. */
const paragraphs = new Set(
  (
    'address article aside blockquote body center details dialog div dl fieldset figure footer form header hgroup hr main nav ol ' +
    'p pre section summary table ul h1 h2 h3 h4 h5 h6'
  ).split(' '),
);
/** Begin on a new line. */
const lines = new Set('caption dd dt figcaption li option tr'.split(' '));
export const headings: ReadonlySet<string> = new Set('h1 h2 h3 h4 h5 h6'.split(' '));
/** Without readable text: code, pictures, controls, sources of formulas. */
const unread = new Set(
  (
    'annotation annotation-xml audio button canvas embed head iframe input link meta noscript object script select style svg ' +
    'template textarea title video'
  ).split(' '),
);

/**
 * The trimmed text below `root`, and a section per heading with text. `isSkipped` excludes further elements. Linear; `char_start` is the
 * heading's offset.
 */
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
      // A footnote number is no part of the preceding word.
      if (preformatted === 0 && isFootnoteNumber(node)) writer.write(' ');
      if (name === 'br') writer.breakLine();
      else if (lines.has(name)) writer.newLine();
      else if (paragraphs.has(name)) writer.newParagraph();
      else if (name === 'td' || name === 'th') writer.newCell();
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
      if (lines.has(name)) writer.newLine();
      else if (paragraphs.has(name)) writer.newParagraph();
    },
  );
  return { text: writer.text(), sections };
}

/** A `sup` that contains only an internal link, or the reverse; bracketed ones are separate anyway. */
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
