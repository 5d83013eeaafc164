/** Turns a PDF's lines into text: joins paragraphs across columns and pages, undoes hyphenation, finds headings. */
import type { Section } from '../../domain/page.ts';
import type { Line } from './page-lines.ts';

export interface FlowedText {
  text: string;
  sections: Section[];
}

/** Min size of a heading relative to the body; max characters and lines. */
const headingRatio = 1.12;
const longestHeading = 200;
const longestTitle = 500;
/** Headings by font: min share of the body font, min space above in line heights, and max length. */
const bodyFontShare = 0.5;
const apartGap = 1.2;
const longestFontHeading = 100;
/** Space above a new paragraph, in line heights. */
const paragraphGap = 1.45;

interface Paragraph {
  lines: Line[];
  page: number;
  isHeading: boolean;
}

/** The most common size, points; 0 without text. */
export function bodySize(pages: readonly Line[][]): number {
  return mostUsed(pages, ({ size }) => Math.round(size * 2) / 2).value ?? 0;
}

function mostUsed<Value>(
  pages: readonly Line[][],
  of: (line: Line) => Value | null,
): { value: Value | null; share: number } {
  const lengths = new Map<Value, number>();
  let all = 0;
  for (const line of pages.flat()) {
    const value = of(line);
    if (value === null) continue;
    all += line.text.length;
    lengths.set(value, (lengths.get(value) ?? 0) + line.text.length);
  }
  let most: Value | null = null;
  for (const [value, length] of lengths) if (most === null || length > (lengths.get(most) ?? 0)) most = value;
  return { value: most, share: most === null ? 0 : (lengths.get(most) ?? 0) / all };
}

interface Body {
  size: number;
  /** Null if no font dominates. */
  font: string | null;
  outline: ReadonlySet<string>;
}

/** `outline`: titles by `headingLetters`. Linear, except for sorting. */
export function flowText(pages: readonly Line[][], outline: ReadonlySet<string>): FlowedText {
  const { value, share } = mostUsed(pages, ({ font }) => font);
  const body: Body = { size: bodySize(pages), font: share >= bodyFontShare ? value : null, outline };
  const paragraphs: Paragraph[] = [];
  for (const [page, lines] of pages.entries()) {
    const leading = usualLeading(lines, body.size);
    let before: Line | undefined;
    for (const line of lines) {
      const isHeading = isHeadingLine(line, before, body, leading);
      const open = paragraphs.at(-1);
      if (open === undefined || !continues(open, line, before, isHeading, leading, page)) {
        paragraphs.push({ lines: [line], page, isHeading });
      } else open.lines.push(line);
      before = line;
    }
  }
  return written(paragraphs);
}

/** Letters and digits of a title: outline and page often differ in punctuation. */
export function headingLetters(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

const bullet = /^[•◦▪‣●○■□*·–—-]\s/u;

function isHeadingLine(line: Line, before: Line | undefined, body: Body, leading: number): boolean {
  const { text, size, font } = line;
  if (text.length > longestHeading || !/\p{L}/u.test(text) || bullet.test(text)) return false;
  if (size >= body.size * headingRatio || body.outline.has(headingLetters(text))) return true;
  // A heading in another font of the same size: on a separate line, with space above, and not a sentence.
  const isApart = before === undefined || before.column !== line.column || before.y - line.y > apartGap * leading;
  const isOtherFont = body.font !== null && font !== null && font !== body.font && size >= body.size * 0.95;
  return (
    isOtherFont &&
    isApart &&
    text.length <= longestFontHeading &&
    /^(?:[\d.]+ +)?\p{Lu}.*[^.,:;!?\t-]$/u.test(text) &&
    /\p{L}{3}/u.test(text) &&
    !text.includes('\t')
  );
}

function usualLeading(lines: readonly Line[], body: number): number {
  const gaps: number[] = [];
  for (let i = 1; i < lines.length; i++) {
    const gap = lines[i - 1].y - lines[i].y;
    if (lines[i].column === lines[i - 1].column && gap > 0 && gap < 3 * Math.max(body, lines[i].size)) gaps.push(gap);
  }
  gaps.sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 2)] ?? 1.2 * body;
}

function continues(
  open: Paragraph,
  line: Line,
  before: Line | undefined,
  isHeading: boolean,
  leading: number,
  page: number,
): boolean {
  const last = open.lines[open.lines.length - 1];
  const isSameSize = Math.abs(last.size - line.size) <= 0.12 * Math.max(last.size, line.size);
  if (isHeading || open.isHeading) {
    const isNear =
      last === before && last.column === line.column && last.y - line.y <= 1.6 * line.size && last.y > line.y;
    return isHeading && open.isHeading && isSameSize && isNear && open.lines.length < 4;
  }
  if (line.text.includes('\t') || last.text.includes('\t') || beginsItem(line.text)) return false;
  const isElsewhere = open.page !== page || before === undefined || last.column !== line.column || line.y >= last.y;
  // An unfinished sentence continues after a column or page.
  if (isElsewhere) return isSameSize && !endsSentence(last.text) && /^[\p{Ll}\p{N}(“"'«]/u.test(line.text);
  if (!isSameSize) return false;
  if (last.y - line.y > paragraphGap * leading) return false;
  const first = open.lines[0];
  const isIndented = line.left - last.left > 0.8 * line.size && open.lines.length > 1 && endsSentence(last.text);
  const isOutdented = last.left - line.left > 0.8 * line.size && open.lines.length > 1 && !beginsItem(first.text);
  if (isIndented || (isOutdented && endsSentence(last.text))) return false;
  const widest = open.lines.reduce((right, each) => Math.max(right, each.right), line.right);
  const isShort = widest - last.right > 0.25 * (widest - last.left) && widest - last.right > 3 * line.size;
  return !(isShort && (endsSentence(last.text) || /^\p{Lu}/u.test(line.text)));
}

function beginsItem(text: string): boolean {
  return /^(?:[•◦▪‣●○■□–—*·-]\s|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s)/u.test(text);
}

function endsSentence(text: string): boolean {
  return /[.!?:;。！？：；…]["'”’»)\]]*$/u.test(text);
}

function written(paragraphs: readonly Paragraph[]): FlowedText {
  const compounds = hyphenated(paragraphs);
  const parts: string[] = [];
  const sections: Section[] = [];
  let length = 0;
  let before: Paragraph | undefined;
  for (const paragraph of paragraphs) {
    const text = joinedLines(paragraph.lines, compounds);
    if (text === '') continue;
    const isRow = before !== undefined && isRowOf(before) && isRowOf(paragraph);
    const separator = before === undefined ? '' : isRow ? '\n' : '\n\n';
    if (paragraph.isHeading)
      sections.push({ char_start: length + separator.length, title: text.slice(0, longestTitle) });
    parts.push(separator, text);
    length += separator.length + text.length;
    before = paragraph;
  }
  return { text: parts.join(''), sections };
}

/** Whether the paragraph is a table row or list item, which keeps its line. */
function isRowOf({ lines, isHeading }: Paragraph): boolean {
  return !isHeading && (lines[0].text.includes('\t') || beginsItem(lines[0].text));
}

/** Words that are hyphenated inside a line. At the end of a line they keep the hyphen. */
function hyphenated(paragraphs: readonly Paragraph[]): Set<string> {
  const words = new Set<string>();
  for (const { lines } of paragraphs) {
    for (const { text } of lines) {
      for (const [word] of text.matchAll(/(?<!\p{L})\p{L}+-\p{L}+/gu)) words.add(word.toLowerCase());
    }
  }
  return words;
}

const wideScript = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。，．：；！？「」『』（）]/u;

function joinedLines(lines: readonly Line[], compounds: ReadonlySet<string>): string {
  let text = '';
  for (const line of lines) {
    const next = line.text;
    if (text === '') text = next;
    else if (text.endsWith('\u00ad')) text = text.slice(0, -1) + next;
    else if (/\p{L}[-‐]$/u.test(text) && /^\p{Ll}/u.test(next)) {
      const head = /(?<!\p{L})\p{L}+$/u.exec(text.slice(-60, -1))?.[0] ?? '';
      const tail = /^\p{L}+/u.exec(next)?.[0] ?? '';
      text = compounds.has(`${head}-${tail}`.toLowerCase()) ? text + next : text.slice(0, -1) + next;
    } else if (/[-–—/]$/u.test(text) && /\S[-–—/]$/u.test(text)) text += next;
    else if (wideScript.test(text.slice(-1)) && wideScript.test(next[0])) text += next;
    else text += ` ${next}`;
  }
  return text.replaceAll('\u00ad', '').trim();
}
