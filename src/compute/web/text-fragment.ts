/**
 * Links to a passage by a text fragment (WICG "Text Fragments") with its first and last words. Browsers take the first
 * match, so the first phrase is long. Phrases are whole words of a line: no match crosses blocks.
 */
import { findUnspacedRuns } from '../text/scripts.ts';

interface Span {
  start: number;
  end: number;
}

/** Min words per phrase. The first phrase, which must be unique on its page, has more. */
const fewestWords = 4;
const fewestFirstWords = 6;
const mostWords = 12;
/** UTF-16 units. Shorter lines are skipped if possible: a table of contents outside the text may repeat headings. */
const shortLine = 24;

const longestWord = 60;
/** UTF-16 units examined at each end of a line. */
const lookedAt = 200;

const itemMarker = /^(?:[-•*·]|\d{1,4}[.)])\s+/;
/** A sentence ends before a line break, or after its final mark. */
const sentenceEnd = /[.!?…。！？]["'”’)\]]*(?=\s)|[\n\t\v\f\r]/g;
const lineBreak = /^[\n\t\v\f\r]/;
const word = /[\p{L}\p{N}\p{M}\p{Join_C}]+(?:['’.,:\-‑@&/+#_][\p{L}\p{N}\p{M}\p{Join_C}]+)*/gu;
const wordCharacters = /^[\p{L}\p{N}\p{M}]{2}$/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** The URL with a text fragment for a passage; the URL alone if there are no words. */
export function textFragmentLink(url: string, text: string, passage: Span): string {
  const directive = textDirective(text, passage);
  if (directive === null) return url;
  if (url.includes(':~:')) return `${url}&text=${directive}`;
  return `${url}${url.includes('#') ? '' : '#'}:~:text=${directive}`;
}

function textDirective(text: string, passage: Span): string | null {
  const all = linesOf(text, passage);
  const long = all.filter(({ start, end }) => end - start >= shortLine);
  const lines = long.length > 0 ? long : all;
  const before = text.slice(0, passage.start).toLowerCase();
  let first: Span | null = null;
  for (const line of lines) {
    const phrase = firstPhrase(text, line, before);
    if (phrase === null) continue;
    if (first === null || phrase.isUnique) first = phrase.span;
    if (phrase.isUnique) break;
  }
  if (first === null) return null;
  const last = lastPhrase(text, lines, first);
  const start = encoded(text.slice(first.start, first.end));
  return last === null ? start : `${start},${encoded(text.slice(last.start, last.end))}`;
}

/** Sentences within a line or cell, without half words and list markers. White space between them may vary. */
function linesOf(text: string, passage: Span): Span[] {
  const { start: from, end: to } = wholeWords(text, passage);
  return sentencesOf(text.slice(from, to))
    .map(({ line, at }) => {
      const index = from + at;
      const lead = line.length - line.trimStart().length;
      const marker = itemMarker.exec(line.slice(lead, lead + 10))?.[0].length ?? 0;
      return { start: index + lead + marker, end: index + line.trimEnd().length };
    })
    .filter(({ start, end }) => start < end);
}

function sentencesOf(text: string): { line: string; at: number }[] {
  const sentences: { line: string; at: number }[] = [];
  for (let at = 0; at < text.length; ) {
    if (lineBreak.test(text[at])) {
      at++;
      continue;
    }
    sentenceEnd.lastIndex = at + 1;
    const sign = sentenceEnd.exec(text);
    const end = sign === null ? text.length : lineBreak.test(sign[0]) ? sign.index : sentenceEnd.lastIndex;
    sentences.push({ line: text.slice(at, end), at });
    at = end;
  }
  return sentences;
}

function wholeWords(text: string, { start, end }: Span): Span {
  const isInside = (at: number) => at > 0 && at < text.length && wordCharacters.test(text.slice(at - 1, at + 1));
  const whole = { start, end };
  while (whole.start < end && isInside(whole.start)) whole.start++;
  while (whole.end > whole.start && isInside(whole.end)) whole.end--;
  return whole.start < whole.end ? whole : { start, end };
}

/** The shortest unique phrase at a line's start; null if there are no words. */
function firstPhrase(text: string, line: Span, before: string): { span: Span; isUnique: boolean } | null {
  const end = Math.min(line.end, line.start + lookedAt);
  const words = wordsIn(text, { start: line.start, end }, end < line.end).slice(0, mostWords);
  if (words.length === 0) return null;
  const [{ start }] = words;
  for (let count = Math.min(fewestFirstWords, words.length); count <= words.length; count++) {
    const span = { start, end: words[count - 1].end };
    if (!before.includes(text.slice(span.start, span.end).toLowerCase())) return { span, isUnique: true };
  }
  return { span: { start, end: words[words.length - 1].end }, isUnique: false };
}

/** The final words of the last line, if they follow the first phrase; else null. */
function lastPhrase(text: string, lines: readonly Span[], first: Span): Span | null {
  for (const line of lines.toReversed()) {
    if (line.end <= first.end) return null;
    const from = Math.max(line.start, first.end, line.end - lookedAt);
    const words = wordsIn(text, { start: from, end: line.end }, false);
    if (from > line.start && from > first.end) words.shift(); // the first word may be incomplete
    const last = words.at(-1);
    if (last === undefined) continue;
    // Browsers take the first match after the start.
    const between = text.slice(first.end, last.end).toLowerCase();
    for (let count = Math.min(fewestWords, words.length); count <= Math.min(mostWords, words.length); count++) {
      const span = { start: words[words.length - count].start, end: last.end };
      const phrase = text.slice(span.start, span.end).toLowerCase();
      if (between.indexOf(phrase) === between.length - phrase.length) return span;
    }
  }
  return null;
}

/** `isCut`: the last word may be incomplete. */
function wordsIn(text: string, { start, end }: Span, isCut: boolean): Span[] {
  const part = text.slice(start, end);
  const spans = spansOf(part).map((span) => ({ start: start + span.start, end: start + span.end }));
  if (isCut && spans.length > 1) spans.pop();
  const tooLong = spans.findIndex((span) => span.end - span.start > longestWord);
  return tooLong > 0 ? spans.slice(0, tooLong) : spans;
}

function spansOf(part: string): Span[] {
  if (findUnspacedRuns(part).length === 0) {
    return Array.from(part.matchAll(word), ({ 0: each, index }) => ({ start: index, end: index + each.length }));
  }
  return [...segmenter.segment(part)]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment, index }) => ({ start: index, end: index + segment.length }));
}

/** Also escapes the directive's own syntax. */
function encoded(phrase: string): string {
  return encodeURIComponent(phrase.toWellFormed()).replace(
    /[-!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
