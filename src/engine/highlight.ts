/**
 * Where a passage has the words of a query, and the part of it that is worth showing first. Words are compared by their stems in English and
 * in the passage's own language, as passages are found, corrections included. Pure; called by the searchers.
 */
import type { TextAnalyzer } from '../compute/text/analyze-text.ts';
import { foldAccents } from '../compute/text/fold-accents.ts';
import { bareTerm, isBareTerm, stemIn } from '../compute/text/stemmers.ts';
import { blank } from '../compute/text/tokenizer-view.ts';
import { eachCharacter, findUnspacedRuns, isOfPairs } from '../compute/text/unspaced-scripts.ts';
import { curlyApostrophes, elision } from '../compute/text/word-terms.ts';
import { normalizeText, withoutJoiners } from '../domain/normalize-text.ts';

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
const continuation = /[\p{L}\p{N}\p{M}\p{Join_C}\u00ad\u2060'’]/u;
const digits = /\p{N}/gu;
/** A stretch is looked at so far to either side, UTF-16 code units. */
const mostOfStretch = 64;
const apostrophe = /['\u2019\u02bc]/;
const clitic = /'(?:s|re|ve|ll|d|m|t)?$/i;
/** Languages whose stems may begin otherwise than their words: what is behind a stem's first letter is somewhere in them. */
const prefixCutters: ReadonlySet<string> = new Set(['ar', 'ms']);
/** Those that write letters in two ways: `ae` for `ä`. */
const respellers: ReadonlySet<string> = new Set(['de', 'fi']);
/** Those whose stems may have no letter of their words: of another alphabet, or cut on both sides. Each word is stemmed. */
const freeStemmers: ReadonlySet<string> = new Set(['sr', 'ta']);
/** So many letters at most are compared before a word is stemmed. */
const mostOpening = 4;
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

/** `stem`: the English one of a word in small letters without accents; `analyzer`: that of queries, which is kept small here. */
export function createHighlighter(stem: (word: string) => string, analyzer: TextAnalyzer): Highlighter {
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
      analyzer.trim();
      const wanted = new Set(ofQuery.filter((each) => each !== ''));
      const written = [...wanted].map((each) => foldAccents(isBareTerm(each) ? each.slice(1) : each));
      const usual = openingsOf(written, usualLetters);
      const respelt = openingsOf(written, respeltLetters);
      const within = coresOf(written, usual);
      const openingsIn = (language: string) => {
        if (freeStemmers.has(language)) return null;
        if (prefixCutters.has(language)) return within;
        return respellers.has(language) ? respelt : usual;
      };
      const bare = ofQuery.some(isBareTerm);
      // The digits of `5G` and its letter are a term each.
      const hasNumbers = [...wanted].some((term) => term.length === 1 || /\p{N}/u.test(term));
      return passages.map(({ text, language }) => {
        const isWanted = (form: string): boolean => {
          if (wanted.has(form)) return true;
          if (bare && wanted.has(bareTerm('vi', form) ?? '')) return true;
          if (wanted.has(stemOf('en', form))) return true;
          return language !== '' && language !== 'en' && wanted.has(stemOf(language, form));
        };
        const openings = openingsIn(language);
        const highlights = spansOf(text, { wanted, isWanted, openings, hasNumbers }, analyzer);
        return { highlights, snippet: snippetOf(text, highlights) };
      });
    },
  };
}

/** The terms that are looked for; whether a form is one; how such forms begin, null where that is not known; and whether terms may have digits beside them. */
interface Sought {
  wanted: ReadonlySet<string>;
  isWanted: (form: string) => boolean;
  openings: Openings | null;
  hasNumbers: boolean;
}

function spansOf(text: string, { wanted, isWanted, openings, hasNumbers }: Sought, analyzer: TextAnalyzer): Span[] {
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
  const spaced = blank(text, runs);
  const knots = knotsOf(spaced, hasNumbers);
  for (const { start, end } of knots) {
    const { starts, ends, words, stems } = analyzer.analyze(spaced.slice(start, end));
    for (const [token, word] of words.entries()) {
      if (word !== '' && (wanted.has(stems[token]) || isWanted(word)))
        spans.push({ start: start + starts[token], end: start + ends[token] });
    }
  }
  eachWord(blank(spaced, knots), openings, (written, index, hasApostrophe) => {
    // The article that lost its vowel is another word: `l'eau`; what follows a word with an apostrophe is a clitic.
    const straight = hasApostrophe ? written.replace(curlyApostrophes, "'") : written;
    const elided = hasApostrophe ? (elision.exec(straight)?.[0].length ?? 0) : 0;
    const surface = hasApostrophe ? straight.slice(elided).replace(clitic, '') : straight;
    if (surface === '' || surface.length > longestWord) return;
    if (hasApostrophe && openings !== null && !mayOpen(surface, 0, surface.length, openings)) return;
    if (!isWanted(withoutJoiners(normalizeText(surface, 'NFC')).toLowerCase())) return;
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

/**
 * Stretches without a space that the analyzer takes apart by more than their letters: with a point between letters (`Ph.D.`, `node.js`), and with digits
 * (`5G`, `3.11.4`) where these are looked for. Ascending, not overlapping.
 */
function knotsOf(text: string, hasNumbers: boolean): Span[] {
  const isLetter = (at: number) => (partAt(text, at) & BEGINS) !== 0;
  const places: number[] = [];
  for (let at = text.indexOf('.', 1); at >= 0 && at < text.length - 1; at = text.indexOf('.', at + 1))
    if (isLetter(at - 1) && isLetter(at + 1)) places.push(at);
  if (hasNumbers) places.push(...Array.from(text.matchAll(digits), ({ index }) => index));
  const knots: Span[] = [];
  for (const place of places.sort((a, b) => a - b)) {
    const before = knots.at(-1)?.end ?? 0;
    if (place < before) continue;
    let [start, end] = [place, place + 1];
    while (start > before && place - start < mostOfStretch && !isSpace(text, start - 1)) start--;
    while (end < text.length && end - place < mostOfStretch && !isSpace(text, end)) end++;
    knots.push({ start, end });
  }
  return knots;
}

const isSpace = (text: string, at: number): boolean => /\s/.test(text[at]);

/** The words of a text that begin so, and those that hold an apostrophe, behind which another may. Most words are only stepped over. */
function eachWord(
  text: string,
  openings: Openings | null,
  take: (word: string, index: number, hasApostrophe: boolean) => void,
): void {
  const { length } = text;
  for (let at = 0; at < length; ) {
    const start = at;
    let part = partAt(text, at);
    at += 1 + (part & WIDE);
    if ((part & BEGINS) === 0) continue;
    let all = part;
    while (at < length) {
      part = partAt(text, at);
      if ((part & CONTINUES) === 0) break;
      all |= part;
      at += 1 + (part & WIDE);
    }
    const next = at < length ? text.charCodeAt(at) : 0;
    if (next === PLUS && text.charCodeAt(at + 1) === PLUS) at += 2;
    else if (next === SHARP) at++;
    const hasApostrophe = (all & APOSTROPHE) !== 0;
    if (hasApostrophe || openings === null || mayOpen(text, start, at, openings))
      take(text.slice(start, at), start, hasApostrophe);
  }
}

const PLUS = 0x2b;
const SHARP = 0x23;
/** A character of two code units. */
const WIDE = 1;
const BEGINS = 2;
const CONTINUES = 4;
const APOSTROPHE = 8;
const KNOWN = 16;
/** What each code unit may be in a word, filled as they come; nothing of surrogates. */
const parts = new Uint8Array(0x1_0000);

function partAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = parts[unit];
  if (known !== 0) return known;
  const character = String.fromCodePoint(text.codePointAt(at) ?? unit);
  const isWide = character.length === 2;
  const part =
    KNOWN |
    (isWide ? WIDE : 0) |
    (beginning.test(character) ? BEGINS : 0) |
    (continuation.test(character) ? CONTINUES : 0) |
    (apostrophe.test(character) ? APOSTROPHE : 0);
  if (unit < 0xd800 || unit > 0xdfff) parts[unit] = part;
  return part;
}

/**
 * How words begin whose stems are looked for: a stem has the first letters of its words, the more of them the longer it is. By count of letters,
 * from 1, the beginnings in small letters without accents, as text and packed. What is not ASCII is looked for as text.
 */
interface Openings {
  texts: readonly ReadonlySet<string>[];
  packed: readonly ReadonlySet<number>[];
  /** By ASCII letter, small and capital, whether one of them begins with it: most words are told by it. */
  firsts: Uint8Array;
  /** `ae` may stand for `ä`: a word whose second letter is an `e` may begin otherwise. */
  isRespelt: boolean;
  /** Where words may begin otherwise, the second to fourth letters of the stems, packed; null where they may not. */
  cores: ReadonlySet<number> | null;
}

/** Letters behind a stem's first that are looked for where its words may begin otherwise: `menulis` has one of `tulis`. */
const coreLetters = 3;
const coreBits = (1 << (7 * coreLetters)) - 1;
/** Of a stem of so many letters, those that its words have. `dying` has one of `die`. */
const usualLetters = (length: number) => (length < 4 ? 1 : length < 6 ? 3 : mostOpening);
const respeltLetters = (length: number) => (length < 4 ? 1 : 2);

function openingsOf(stems: readonly string[], lettersOf: (length: number) => number): Openings {
  const texts = Array.from({ length: mostOpening }, () => new Set<string>());
  for (const stem of stems) {
    const letters = lettersOf(stem.length);
    texts[letters - 1].add(stem.slice(0, letters));
  }
  const packed = texts.map((set) => new Set([...set].map(packedOf)));
  const firsts = new Uint8Array(0x80);
  for (const stem of stems) {
    const first = stem.charCodeAt(0);
    if (first < 0x80) firsts[first] = firsts[String.fromCharCode(first).toUpperCase().charCodeAt(0)] = 1;
  }
  return { texts, packed, firsts, isRespelt: lettersOf === respeltLetters, cores: null };
}

/** Null where a stem is too short to be told by a part of it. */
function coresOf(stems: readonly string[], usual: Openings): Openings | null {
  if (stems.some((stem) => stem.length < 1 + coreLetters)) return null;
  return { ...usual, cores: new Set(stems.map((stem) => packedOf(stem.slice(1, 1 + coreLetters)))) };
}

/** Letters in one number. */
function packedOf(letters: string): number {
  return Array.from(letters).reduce((packed, _, at) => packed * 128 + letters.charCodeAt(at), 0);
}

/** Whether the word from `start` to `end` begins as one that is looked for, or has the core of one. */
function mayOpen(text: string, start: number, end: number, openings: Openings): boolean {
  const { texts, packed, firsts, isRespelt, cores } = openings;
  if (cores !== null && mayHold(text, start, end, cores)) return true;
  if (isRespelt && (text.charCodeAt(start + 1) | 0x20) === 0x65) return true;
  const first = text.charCodeAt(start);
  if (first < 0x80 && firsts[first] === 0) return false;
  let letters = 0;
  for (let at = start; at < end && at < start + mostOpening; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) {
      const word = foldAccents(withoutJoiners(text.slice(start, end)).toLowerCase());
      return texts.some((set, before) => set.has(word.slice(0, before + 1)));
    }
    letters = letters * 128 + smallOf(unit);
    if (packed[at - start].has(letters)) return true;
  }
  return false;
}

/** Of a word that is not ASCII it is not known. */
function mayHold(text: string, start: number, end: number, cores: ReadonlySet<number>): boolean {
  let letters = 0;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) return true;
    letters = ((letters << 7) | smallOf(unit)) & coreBits;
    if (at - start >= coreLetters - 1 && cores.has(letters)) return true;
  }
  return false;
}

const smallOf = (unit: number): number => (unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit);

/** The sentences, at most `maxSnippet` long, that hold most of what is highlighted: different words before repeated ones. */
function snippetOf(text: string, highlights: readonly Span[]): Span {
  const borders = [0];
  for (const { 0: end, index } of text.matchAll(sentenceEnd)) borders.push(index + end.length);
  if (borders.at(-1) !== text.length) borders.push(text.length);
  const words = highlights.map(({ start, end }) => text.slice(start, end).toLowerCase().slice(0, 6));
  let best: Span = { start: 0, end: 0 };
  let most = -1;
  for (let from = 0; from < borders.length - 1; from++) {
    const start = borders[from];
    let to = from + 1;
    while (to + 1 < borders.length && borders[to + 1] - start <= maxSnippet) to++;
    const end = Math.min(borders[to], start + maxSnippet);
    const within = words.filter((_, at) => highlights[at].start >= start && highlights[at].end <= end);
    const value = 10 * new Set(within).size + Math.min(9, within.length);
    if (value <= most) continue;
    most = value;
    best = { start, end };
  }
  return trimmed(text, around(text, trimmed(text, best), highlights));
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
