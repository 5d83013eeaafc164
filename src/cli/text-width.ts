import { stripVTControlCharacters } from 'node:util';

/**
 * The width of text on a terminal: East Asian characters and emoji take two columns, combining marks none. Source:
 * Unicode Standard Annex 11, classes W and F by their blocks, since regular expressions lack that property.
 */
const wide =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{RI}{2}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}])/u;
const zero = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Most text is narrow. */
const narrow = /^[\x20-\x7e\u00a1-\u02ff\u2010-\u2027…]*$/;

/** Columns of a text, whose styles take none. */
export function textWidth(text: string): number {
  if (narrow.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) width += widthOf(segment);
  return width;
}

/** Cut to a width, with an ellipsis. */
export function fitted(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** Lines of a maximum width after `indent`, broken at spaces, or within a word longer than a line if `breaksWords`. */
export function wrapped(text: string, columns: number, indent = '', breaksWords = true): string[] {
  const room = Math.max(1, columns - textWidth(indent));
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (textWidth(longer) <= room) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = breaksWords ? '' : word;
    if (!breaksWords) continue;
    for (const { segment } of graphemes.segment(word)) {
      if (textWidth(line + segment) > room) {
        lines.push(line);
        line = '';
      }
      line += segment;
    }
  }
  return [...lines, line].map((each) => indent + each);
}

/**
 * A line as lines of a maximum width, which continue below the last column (after two spaces) that begins in its first half. Words stay
 * whole, so that addresses can be copied.
 */
export function folded(line: string, columns: number): string[] {
  if (textWidth(line) <= columns) return [line];
  const starts = Array.from(line.matchAll(/(?:^ *| {2,})(?=\S)/g), ({ 0: gap, index }) => index + gap.length);
  const start = starts.findLast((each) => textWidth(line.slice(0, each)) <= columns / 2) ?? 0;
  const indent = ' '.repeat(textWidth(line.slice(0, start)));
  const [first, ...others] = wrapped(line.slice(start), columns, indent, false);
  return [line.slice(0, start) + first.slice(indent.length), ...others];
}

export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}

function widthOf(grapheme: string): number {
  if (zero.test(grapheme)) return 0;
  return wide.test(grapheme) ? 2 : 1;
}
