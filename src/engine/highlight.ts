/**
 * Where a passage has the words of a query, and the part of it that is worth showing first. Words are compared by their stems in the
 * languages of the library, as passages are found, corrections included. Pure; called by the searchers.
 */
import { foldAccents } from '../compute/text/fold-accents.ts';
import { bareTerm, isBareTerm, stemIn } from '../compute/text/stemmers.ts';
import { blank } from '../compute/text/tokenizer-view.ts';
import { eachCharacter, findUnspacedRuns, isOfPairs } from '../compute/text/unspaced-scripts.ts';
import { curlyApostrophes, elision } from '../compute/text/word-terms.ts';
import { normalizeText } from '../domain/normalize-text.ts';

/** UTF-16 offsets into the passage. */
export interface Span {
  start: number;
  end: number;
}

export interface Marked {
  /** In order, not overlapping. */
  highlights: Span[];
  snippet: Span;
}

/** Of a snippet, UTF-16 code units. */
export const maxSnippet = 300;
/** Behind these a snippet may begin and end. */
const sentenceEnd = /[.!?…]["'”’)\]]*\s+|[。！？]|\n+/g;
const word = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\p{Join_C}'’]*(?:\+\+|#)?/gu;
const clitic = /['’](?:s|re|ve|ll|d|m|t)$/;
/** UTF-16 code units; what is longer is no word. */
const longestWord = 64;
/** Words whose stems are remembered. */
const maxRemembered = 20_000;

export interface Highlighter {
  /** Shape: one result a text. `stems`: of the query, all languages; `languages`: of the library. */
  mark(texts: readonly string[], stems: readonly string[], languages: readonly string[]): Marked[];
}

/** `stem`: the English one of a word in small letters without accents. */
export function createHighlighter(stem: (word: string) => string): Highlighter {
  /** By language and word. */
  let remembered = new Map<string, string>();
  const stemOf = (language: string, form: string): string => {
    const key = `${language} ${form}`;
    let known = remembered.get(key);
    if (known === undefined) {
      if (remembered.size > maxRemembered) remembered = new Map();
      const folded = foldAccents(form);
      known =
        language === 'en' ? (/^[a-z]{1,32}$/.test(folded) ? stem(folded) : folded) : (stemIn(language, form) ?? '');
      remembered.set(key, known);
    }
    return known;
  };
  return {
    mark(texts, stems, languages) {
      const wanted = new Set(stems.filter((each) => each !== ''));
      const letters = new Set([...wanted].map((each) => each[0]));
      const asked = ['en', ...languages.filter((language) => language !== 'en')];
      const bare = stems.some(isBareTerm);
      const cutsPrefixes = languages.includes('ar') || languages.includes('ms');
      const isWanted = (form: string): boolean => {
        if (wanted.has(form)) return true;
        if (bare && wanted.has(bareTerm('vi', form) ?? '')) return true;
        // Stems begin as their words do, but for an accent, and where prefixes are cut off.
        if (!cutsPrefixes && !letters.has(foldAccents(form[0])[0]) && !letters.has(form[0])) return false;
        return asked.some((language) => wanted.has(stemOf(language, form)));
      };
      return texts.map((text) => {
        const highlights = spansOf(text, wanted, isWanted);
        return { highlights, snippet: snippetOf(text, highlights) };
      });
    },
  };
}

function spansOf(text: string, wanted: ReadonlySet<string>, isWanted: (form: string) => boolean): Span[] {
  const spans: Span[] = [];
  const runs = findUnspacedRuns(text);
  for (const run of runs) {
    let pairEnd = -1;
    let pairStart = -1;
    eachCharacter(text, run, (token) => {
      // The second character of a pair is part of it.
      if (pairEnd === token.start) {
        spans.push({ start: pairStart, end: token.end });
        pairEnd = -1;
      }
      if (wanted.has(token.word)) spans.push({ start: token.start, end: token.end });
      if (!wanted.has(token.term)) return;
      if (isOfPairs(token.word) && token.term !== token.word) [pairStart, pairEnd] = [token.start, token.end];
      else spans.push({ start: token.start, end: token.end });
    });
  }
  // Words end where such a run begins.
  for (const { 0: written, index } of blank(text, runs).matchAll(word)) {
    // The article that lost its vowel is another word: `l'eau`.
    const elided = elision.exec(written.replace(curlyApostrophes, "'"))?.[0].length ?? 0;
    const [surface, start] = [written.slice(elided), index + elided];
    if (surface.length > longestWord) continue;
    const form = normalizeText(surface, 'NFC').toLowerCase().replace(clitic, '');
    if (form === '' || !isWanted(form)) continue;
    spans.push({ start, end: start + surface.replace(clitic, '').length });
  }
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else joined.push({ ...span });
  }
  return joined;
}

/** The sentences, at most `maxSnippet` long, that hold most of what is highlighted: different words before repeated ones. */
function snippetOf(text: string, highlights: readonly Span[]): Span {
  const borders = [0];
  for (const { 0: end, index } of text.matchAll(sentenceEnd)) borders.push(index + end.length);
  if (borders.at(-1) !== text.length) borders.push(text.length);
  let best: Span = { start: 0, end: 0 };
  let most = -1;
  for (let from = 0; from < borders.length - 1; from++) {
    const start = borders[from];
    let to = from + 1;
    while (to + 1 < borders.length && borders[to + 1] - start <= maxSnippet) to++;
    const end = Math.min(borders[to], start + maxSnippet);
    const within = highlights.filter((span) => span.start >= start && span.end <= end);
    const distinct = new Set(within.map((span) => text.slice(span.start, span.end).toLowerCase().slice(0, 6)));
    const value = 10 * distinct.size + Math.min(9, within.length);
    if (value <= most) continue;
    most = value;
    best = { start, end };
  }
  return trimmed(text, around(text, best, highlights));
}

/** Where a sentence is longer than a snippet and its end has what was looked for, the part around that. */
function around(text: string, { start, end }: Span, highlights: readonly Span[]): Span {
  const first = highlights.find((span) => span.start >= start);
  if (first === undefined || first.end <= end) return { start, end };
  const from = Math.max(start, first.start - maxSnippet / 2);
  const space = text.indexOf(' ', from);
  const begin = space >= 0 && space < first.start ? space + 1 : from;
  return { start: begin, end: Math.min(text.length, begin + maxSnippet) };
}

/** Without white space at its ends, no word cut at its end, no character cut. */
function trimmed(text: string, { start, end }: Span): Span {
  let to = end;
  if (to < text.length && /\S{2}/.test(text.slice(to - 1, to + 1))) {
    const space = text.lastIndexOf(' ', to);
    if (space > start + maxSnippet / 2) to = space;
  }
  while (to > start && /\s/.test(text[to - 1])) to--;
  const unit = text.charCodeAt(to - 1);
  if (unit >= 0xd800 && unit <= 0xdbff) to--;
  let from = start;
  while (from < to && /\s/.test(text[from])) from++;
  const first = text.charCodeAt(from);
  if (from > 0 && first >= 0xdc00 && first <= 0xdfff) from++;
  return { start: from, end: to };
}
