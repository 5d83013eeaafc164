/** A page's text: its lines, the places of highlights, and what the user has selected. Offsets are of the whole text, UTF-16. */

export interface Range {
  start: number;
  end: number;
}

interface Line extends Range {
  kind: '' | 'prose-heading' | 'prose-item' | 'prose-quote' | 'prose-row';
  /** Whether the previous line belongs to the same block. */
  follows: boolean;
}

const item = /^\s*(?:[-•*]|\d{1,3}[.)]) /;
/** A quoted line, unlike a prompt such as `>>> x`. */
const quote = /^ {0,3}(?:>(?: +|$))+/;
/** Of Markdown. */
const heading = /^ {0,3}#{1,6} +/;
const aligned = /\t|^ {2}/m;

/** Lines in the form of the extraction: list items have markers, table rows tabs. Quotes start after their `>`, headings after their `#`. */
export function linesOf(text: string, headings: ReadonlySet<string>): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const block of text.split('\n\n')) {
    const other = aligned.test(block) ? 'prose-row' : '';
    const { length: before } = lines;
    for (const line of block.split('\n')) {
      const end = start + line.length;
      const { length: hashes } = heading.exec(line)?.[0] ?? '';
      const isHeading = headings.has(line.slice(hashes).trim());
      const { length: marker } = (isHeading ? heading : quote).exec(line)?.[0] ?? '';
      const listed = item.test(line) ? 'prose-item' : other;
      const kind = isHeading ? 'prose-heading' : marker > 0 ? 'prose-quote' : listed;
      if (line.slice(marker).trim() !== '')
        lines.push({ start: start + marker, end, kind, follows: lines.length > before });
      start = end + 1;
    }
    start++;
  }
  return lines;
}

/** A stored highlight. Imported ones have only a text. */
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

/** The range of a highlight: at its position, or where its quote and most of its context are. Null if not found. */
export function placeOf(text: string, highlight: unknown): Range | null {
  const { quote, start, ...context } = partsOf(highlight);
  const prefix = context.prefix?.slice(-contextLength) ?? '';
  const suffix = context.suffix?.slice(0, contextLength) ?? '';
  if (quote.trim() === '') return null;
  if (start !== undefined && text.startsWith(quote, start)) return { start, end: start + quote.length };
  let best: Range | null = null;
  let most = -1;
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    const end = at + quote.length;
    const shared = sharedEnd(text.slice(Math.max(0, at - prefix.length), at), prefix) + sharedStart(text, end, suffix);
    if (shared > most) best = { start: at, end };
    most = Math.max(most, shared);
    if (shared === prefix.length + suffix.length) break;
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

/** Imported quotes may have other white space, or a note on lines at the end. At most `maxQuote` characters. */
function withOtherSpaces(text: string, quote: string): Range | null {
  if (quote.length > maxQuote) return null;
  const whole = patternOf(quote, 'g').exec(text);
  if (whole !== null) return { start: whole.index, end: whole.index + whole[0].length };
  const [first, ...lines] = quote.split('\n').filter((line) => line.trim() !== '');
  const found = lines.length === 0 ? null : patternOf(first, 'g').exec(text);
  if (found === null) return null;
  let end = found.index + found[0].length;
  for (const line of lines) {
    while (/\s/.test(text.charAt(end))) end++;
    const next = patternOf(line, 'y');
    next.lastIndex = end;
    if (!next.test(text)) break;
    end = next.lastIndex;
  }
  return { start: found.index, end: found.index + text.slice(found.index, end).trimEnd().length };
}

function patternOf(quote: string, flag: 'g' | 'y'): RegExp {
  const words = quote.trim().split(/\s+/);
  return new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+'), flag);
}

/** The selected range of a text whose paragraphs have their offsets in `data-start`; null if nothing is selected. */
export function selectedRange(root: HTMLElement, text: string): Range | null {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  if (!root.contains(range.startContainer)) return null;
  const last = [...root.querySelectorAll<HTMLElement>('[data-start]')].at(-1);
  const shownEnd = Number(last?.dataset.start ?? 0) + (last?.textContent.length ?? 0);
  let start = offsetOf(root, shownEnd, range.startContainer, range.startOffset);
  let end = offsetOf(root, shownEnd, range.endContainer, range.endOffset);
  while (start < end && /\s/.test(text[start])) start++;
  while (end > start && /\s/.test(text[end - 1])) end--;
  return start < end ? { start, end } : null;
}

function offsetOf(root: HTMLElement, shownEnd: number, node: Node, offset: number): number {
  const inside = node === root ? root.children[offset] : node;
  const element = inside instanceof Element ? inside : inside?.parentElement;
  const paragraph = element?.closest<HTMLElement>('[data-start]') ?? null;
  if (paragraph === null) return shownEnd; // after the last paragraph
  const start = Number(paragraph.dataset.start);
  if (node === root) return start;
  const before = document.createRange();
  before.setStart(paragraph, 0);
  before.setEnd(node, offset);
  return start + before.toString().length;
}
