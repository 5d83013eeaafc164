/**
 * Where a passage has the words of a query, and the part of it that is worth showing first. Words are compared by their stems in English and
 * in the passage's own language, as passages are found, corrections included. Pure; called by the searchers.
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
/** Words are cut as `beginning continuation* (++ | #)?`. */
const beginning = /[\p{L}\p{N}]/u;
const continuation = /[\p{L}\p{N}\p{M}\p{Join_C}'’]/u;
const clitic = /['’](?:s|re|ve|ll|d|m|t)?$/i;
/** Stems of so many letters have the first two of their words. */
const leastOfPairs = 4;
/** Languages whose stems may begin otherwise than their words. */
const prefixCutters: ReadonlySet<string> = new Set(['ar', 'ms']);
/** UTF-16 code units; what is longer is no word. */
const longestWord = 64;
/** Words of a language whose stems are remembered. */
const maxRemembered = 20_000;

export interface MarkedPassage {
  text: string;
  /** ISO 639-1 code, '' where it is not known. */
  language: string;
}

export interface Highlighter {
  /** Shape: one result a passage. `stems`: of the query, in all languages. */
  mark(passages: readonly MarkedPassage[], stems: readonly string[]): Marked[];
}

/** `stem`: the English one of a word in small letters without accents. */
export function createHighlighter(stem: (word: string) => string): Highlighter {
  /** By language, then word. */
  const stems = new Map<string, Map<string, string>>();
  const stemOf = (language: string, form: string): string => {
    const remembered = stems.get(language) ?? new Map<string, string>();
    stems.set(language, remembered);
    let known = remembered.get(form);
    if (known === undefined) {
      if (remembered.size > maxRemembered) remembered.clear();
      const folded = foldAccents(form);
      known =
        language === 'en' ? (/^[a-z]{1,32}$/.test(folded) ? stem(folded) : folded) : (stemIn(language, form) ?? '');
      remembered.set(form, known);
    }
    return known;
  };
  return {
    mark(passages, ofQuery) {
      const wanted = new Set(ofQuery.filter((each) => each !== ''));
      const firsts = new Set([...wanted].map((each) => firstLetter(each.charCodeAt(0))));
      const pairs = new Set([...wanted].map(firstTwo));
      const hasShort = [...wanted].some((each) => each.length < leastOfPairs);
      const bare = ofQuery.some(isBareTerm);
      return passages.map(({ text, language }) => {
        const cutsPrefixes = prefixCutters.has(language);
        const isWanted = (form: string): boolean => {
          if (wanted.has(form)) return true;
          if (bare && wanted.has(bareTerm('vi', form) ?? '')) return true;
          // So do their second letters, but for those of three (`dying`: `die`) and `ae` for `ä`.
          if (!cutsPrefixes && !hasShort && form[1] !== 'e' && !pairs.has(firstTwo(form))) return false;
          if (wanted.has(stemOf('en', form))) return true;
          return language !== '' && language !== 'en' && wanted.has(stemOf(language, form));
        };
        // Stems begin as their words do, but for an accent, and where prefixes are cut off.
        const mayBegin = (unit: number) => cutsPrefixes || firsts.has(firstLetter(unit));
        const highlights = spansOf(text, { wanted, isWanted, mayBegin });
        return { highlights, snippet: snippetOf(text, highlights) };
      });
    },
  };
}

/** The terms that are looked for; whether a form is one; and whether one begins with a code unit. */
interface Sought {
  wanted: ReadonlySet<string>;
  isWanted: (form: string) => boolean;
  mayBegin: (unit: number) => boolean;
}

function spansOf(text: string, { wanted, isWanted, mayBegin }: Sought): Span[] {
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
  eachWord(blank(text, runs), mayBegin, (written, index, hasApostrophe) => {
    // The article that lost its vowel is another word: `l'eau`; what follows a word with an apostrophe is a clitic.
    const elided = hasApostrophe ? (elision.exec(written.replace(curlyApostrophes, "'"))?.[0].length ?? 0) : 0;
    const surface = hasApostrophe ? written.slice(elided).replace(clitic, '') : written;
    if (surface === '' || surface.length > longestWord || !mayBegin(surface.charCodeAt(0))) return;
    if (!isWanted(normalizeText(surface, 'NFC').toLowerCase())) return;
    spans.push({ start: index + elided, end: index + elided + surface.length });
  });
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else joined.push({ ...span });
  }
  return joined;
}

/** The words of a text that may begin so, and those that hold an apostrophe, behind which another may. Most words are only stepped over. */
function eachWord(
  text: string,
  mayBegin: Sought['mayBegin'],
  take: (word: string, index: number, hasApostrophe: boolean) => void,
): void {
  for (let at = 0; at < text.length; ) {
    const first = text.charCodeAt(at);
    const start = at;
    if ((partOf(text, at) & BEGINS) === 0) {
      at += widthAt(text, at);
      continue;
    }
    let hasApostrophe = false;
    do {
      const unit = text.charCodeAt(at);
      hasApostrophe ||= unit === 0x27 || unit === 0x2019 || unit === 0x2bc;
      at += widthAt(text, at);
    } while (at < text.length && (partOf(text, at) & CONTINUES) !== 0);
    if (text.startsWith('++', at)) at += 2;
    else if (text[at] === '#') at++;
    if (hasApostrophe || mayBegin(first)) take(text.slice(start, at), start, hasApostrophe);
  }
}

const BEGINS = 1;
const CONTINUES = 2;
const KNOWN = 4;
/** What each code unit may be in a word, filled as they come. */
const parts = new Uint8Array(0x1_0000);

function partOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (isSurrogate(unit)) return partOfCharacter(String.fromCodePoint(text.codePointAt(at) ?? unit));
  if (parts[unit] === 0) parts[unit] = partOfCharacter(text[at]);
  return parts[unit];
}

function partOfCharacter(character: string): number {
  return KNOWN | (beginning.test(character) ? BEGINS : 0) | (continuation.test(character) ? CONTINUES : 0);
}

function widthAt(text: string, at: number): number {
  return isSurrogate(text.charCodeAt(at)) && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Of each code unit that begins a word, the one that it is compared by: without case and accent. Filled as they come; 0: not yet. */
const letters = new Uint16Array(0x1_0000);

/** Folding makes two letters of one (`œ`), and leaves marks out: so the whole word is folded first. */
function firstTwo(word: string): string {
  return foldAccents(word).slice(0, 2);
}

function firstLetter(unit: number): number {
  if (letters[unit] === 0) letters[unit] = foldAccents(String.fromCharCode(unit).toLowerCase()).charCodeAt(0);
  return letters[unit];
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
