/** Highlights of a page: their places in its text, and what the user has selected. Offsets are of the whole text, UTF-16. */

export interface Range {
  start: number;
  end: number;
}

/** As the service stores it. Imports have texts alone. */
interface Highlight {
  quote: string;
  prefix?: string;
  suffix?: string;
  start?: number;
}

/** UTF-16 units stored before and after a quote. */
const contextLength = 40;
/** The service's maximum, UTF-16 units. */
export const maxQuote = 10_000;

export function highlightOf(text: string, { start, end }: Range): Highlight {
  return {
    quote: text.slice(start, end),
    prefix: text.slice(Math.max(0, start - contextLength), start).toWellFormed(),
    suffix: text.slice(end, end + contextLength).toWellFormed(),
    start,
  };
}

function partsOf(highlight: unknown): Highlight {
  if (typeof highlight === 'string') return { quote: highlight };
  const { quote, text, name, prefix, suffix, start } = (highlight ?? {}) as Record<string, unknown>;
  const quoted = [quote, text, name].find((each) => typeof each === 'string');
  return {
    quote: typeof quoted === 'string' ? quoted : '',
    ...(typeof prefix === 'string' && { prefix }),
    ...(typeof suffix === 'string' && { suffix }),
    ...(typeof start === 'number' && { start }),
  };
}

export const quoteOf = (highlight: unknown): string => partsOf(highlight).quote;

/** Where a highlight is: at its position, else where its quote and most of its context are. Null if the text does not contain it. */
export function placeOf(text: string, highlight: unknown): Range | null {
  const { quote, prefix = '', suffix = '', start } = partsOf(highlight);
  if (quote.trim() === '') return null;
  if (start !== undefined && text.startsWith(quote, start)) return { start, end: start + quote.length };
  let best: Range | null = null;
  let most = -1;
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    const end = at + quote.length;
    const shared = sharedEnd(text.slice(Math.max(0, at - prefix.length), at), prefix) + sharedStart(text, end, suffix);
    if (shared > most) best = { start: at, end };
    most = Math.max(most, shared);
  }
  return best ?? withOtherSpaces(text, quote);
}

function sharedEnd(before: string, prefix: string): number {
  let count = 0;
  while (count < Math.min(before.length, prefix.length) && before.at(-1 - count) === prefix.at(-1 - count)) count++;
  return count;
}

function sharedStart(text: string, from: number, suffix: string): number {
  let count = 0;
  while (count < suffix.length && text[from + count] === suffix[count]) count++;
  return count;
}

/** Imported quotes have other white space, or a note on lines of their own at the end. */
function withOtherSpaces(text: string, quote: string): Range | null {
  const words = quote.trim().split(/\s+/);
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+');
  const found = new RegExp(pattern).exec(text);
  if (found !== null) return { start: found.index, end: found.index + found[0].length };
  const lastLine = quote.lastIndexOf('\n');
  return lastLine > 0 ? placeOf(text, quote.slice(0, lastLine)) : null;
}

/** The selected range of a text whose paragraphs have their offsets in `data-start`; null without one. */
export function selectedRange(root: HTMLElement, text: string): Range | null {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  if (!root.contains(range.commonAncestorContainer)) return null;
  let start = offsetOf(root, text, range.startContainer, range.startOffset);
  let end = offsetOf(root, text, range.endContainer, range.endOffset);
  while (start < end && /\s/.test(text[start])) start++;
  while (end > start && /\s/.test(text[end - 1])) end--;
  return start < end ? { start, end } : null;
}

function offsetOf(root: HTMLElement, text: string, node: Node, offset: number): number {
  const inside = node === root ? root.children[offset] : node;
  const element = inside instanceof Element ? inside : inside?.parentElement;
  const paragraph = element?.closest<HTMLElement>('[data-start]') ?? null;
  if (paragraph === null) return text.length; // behind the last one
  const start = Number(paragraph.dataset.start);
  if (node === root) return start;
  const before = document.createRange();
  before.setStart(paragraph, 0);
  before.setEnd(node, offset);
  return start + before.toString().length;
}
