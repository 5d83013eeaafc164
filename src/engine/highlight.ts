/** Finds the query's words in a passage, by stem in English and the passage's language, and the snippet to show. */

import { memoized } from '../compute/structures/memoized.ts';
import type { TextAnalyzer } from '../compute/text/analyze-text.ts';
import { otherForms } from '../compute/text/other-forms.ts';
import { eachCharacter, findUnspacedRuns, foldAccents, isOfPairs } from '../compute/text/scripts.ts';
import { bareTerm, irregularForms, isBareTerm, stemIn } from '../compute/text/stemmers.ts';
import { blank } from '../compute/text/tokenizer-view.ts';
import { curlyApostrophes, elision } from '../compute/text/word-terms.ts';
import { normalizeText, withoutJoiners } from '../domain/normalize-text.ts';
import { joinedTerm } from './words/marked-terms.ts';
import { isPair } from './words/phrases.ts';

export interface Span {
  start: number;
  end: number;
}

export interface Marked {
  highlights: Span[];
  snippet: Span;
}

export const maxSnippet = 300;
const sentenceEnd = /[.!?…؟۔።]["'”’»)\]]*\s+|[。！？।॥]["”’」』）]*|\n+/g;
/** Words are cut as `beginning continuation* (++ | #)?`. */
const beginning = /[\p{L}\p{N}]/u;
const continuation = /[\p{L}\p{N}\p{M}\p{Join_C}\u00ad\u2060'’]/u;
const digits = /\p{N}/gu;
/** Max context examined on each side of a stretch, UTF-16 code units. */
const mostOfStretch = 64;
const apostrophe = /['\u2019\u02bc]/;
const clitic = /'(?:s|re|ve|ll|d|m|t)?$/i;
/** Languages whose stems may begin with other letters than the words, so all words are stemmed. */
const freeStemmers: ReadonlySet<string> = new Set(['ar', 'ms', 'sr', 'ta']);
/** Max UTF-16 code units of a word. */
const longestWord = 64;
const maxRemembered = 20_000;
const maxLanguages = 100;

export interface MarkedPassage {
  text: string;
  /** ISO 639-1; '' for unknown. */
  language: string;
}

/** `stem`: English stem of a lower-case word without accents. `analyzer`: the one for queries; it is trimmed here. */
export function createHighlighter(stem: (word: string) => string, analyzer: TextAnalyzer) {
  const stemsOf = memoized(maxLanguages, (language: string) =>
    memoized(maxRemembered, (form: string) => {
      if (language !== 'en') return stemIn(language, form) ?? '';
      const folded = foldAccents(form);
      return /^[a-z']{1,32}$/.test(folded) ? stem(folded) : folded;
    }),
  );
  const stemOf = (language: string, form: string): string => stemsOf(language)(form);
  return {
    /** One result per passage. `ofQuery`: the query's stems, in all languages. */
    mark(passages: readonly MarkedPassage[], ofQuery: readonly string[]): Marked[] {
      analyzer.trim();
      const wanted = new Set(ofQuery.filter((each) => each !== ''));
      const pairs = new Set([...wanted].filter(isPair).map(foldAccents));
      const irregular = Array.from(irregularForms).filter(([, base]) => wanted.has(stemOf('en', base)));
      const written = [...wanted, ...irregular.map(([form]) => form)]
        .filter((each) => !isPair(each))
        .map((each) => foldAccents(isBareTerm(each) ? each.slice(1) : each));
      const letters = { first: new Set(written.map(([letter]) => letter)), two: null };
      const english = { ...letters, two: beginningsOf(written) };
      const bare = ofQuery.some(isBareTerm);
      // `5G` has two terms: digits and letter.
      const hasNumbers = [...wanted].some((term) => term.length === 1 || /\p{N}/u.test(term));
      return passages.map(({ text, language }) => {
        const isWanted = (form: string): boolean => {
          if (wanted.has(form)) return true;
          if (bare && wanted.has(bareTerm('vi', form) ?? '')) return true;
          if (wanted.has(stemOf('en', form))) return true;
          return language !== '' && language !== 'en' && wanted.has(stemOf(language, form));
        };
        const others = freeStemmers.has(language) ? null : letters;
        const firsts = language === 'en' || language === '' ? english : others;
        const highlights = spansOf(text, { wanted, pairs, isWanted, firsts, hasNumbers }, analyzer);
        return { highlights, snippet: snippetOf(text, highlights) };
      });
    },
  };
}

/** Adjacent words, with at most a mark between them. */
const wordOfText = /[\p{L}\p{M}\p{N}]+/gu;
const mostBetween = 3;

/** Query words that texts write as two words. */
function pairsIn(text: string, pairs: ReadonlySet<string>): Span[] {
  const found: Span[] = [];
  let before: { word: string; start: number; end: number } | undefined;
  for (const { 0: written, index } of text.matchAll(wordOfText)) {
    const word = { word: foldAccents(written.toLowerCase()), start: index, end: index + written.length };
    const isNext = before !== undefined && index - before.end <= mostBetween;
    if (before !== undefined && isNext && pairs.has(`${before.word} ${word.word}`))
      found.push({ start: before.start, end: word.end });
    before = word;
  }
  return found;
}

/** First letters of wanted terms, folded. Only words that begin so are stemmed. */
interface Beginnings {
  first: ReadonlySet<string>;
  /** The first two letters, or one if a term has no more. Null outside of English, whose stemmer keeps them. */
  two: ReadonlySet<string> | null;
}

/** The wanted terms; a test for forms; their first letters (null: any); whether terms may be next to digits. */
interface Sought {
  wanted: ReadonlySet<string>;
  pairs: ReadonlySet<string>;
  isWanted: (form: string) => boolean;
  firsts: Beginnings | null;
  hasNumbers: boolean;
}

function spansOf(
  text: string,
  { wanted, pairs, isWanted, firsts, hasNumbers }: Sought,
  analyzer: TextAnalyzer,
): Span[] {
  const spans: Span[] = [];
  const runs = findUnspacedRuns(text);
  for (const run of runs) {
    let pairEnd = -1;
    let pairStart = -1;
    eachCharacter(text, run, (token) => {
      // Part of the preceding pair.
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
  const spaced = blank(text, runs);
  if (pairs.size > 0) spans.push(...pairsIn(spaced, pairs));
  for (const { start, end, word, kind } of otherForms(spaced))
    if (kind === 'name' ? wanted.has(joinedTerm(word)) : isWanted(word)) spans.push({ start, end });
  const knots = knotsOf(spaced, hasNumbers);
  for (const { start, end } of knots) {
    const { starts, ends, words, stems } = analyzer.analyze(spaced.slice(start, end));
    for (const [token, word] of words.entries()) {
      if (word !== '' && (wanted.has(stems[token]) || isWanted(word)))
        spans.push({ start: start + starts[token], end: start + ends[token] });
    }
  }
  eachWord(blank(spaced, knots), firsts, (written, index, hasApostrophe) => {
    // An elided article is a separate word (`l'eau`). The rest after another apostrophe is a clitic.
    const straight = hasApostrophe ? written.replace(curlyApostrophes, "'") : written;
    const elided = hasApostrophe ? (elision.exec(straight)?.[0].length ?? 0) : 0;
    const surface = hasApostrophe ? straight.slice(elided).replace(clitic, '') : straight;
    if (surface === '' || surface.length > longestWord) return;
    if (hasApostrophe && firsts !== null && !beginsAs(surface, 0, surface.length, firsts)) return;
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

/** Stretches that the analyzer splits within words: at points (`Ph.D.`) and, if wanted, digits (`5G`). */
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

/** Yields words that begin like a wanted term, or have an apostrophe. */
function eachWord(
  text: string,
  firsts: Beginnings | null,
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
    if (hasApostrophe || firsts === null || beginsAs(text, start, at, firsts))
      take(text.slice(start, at), start, hasApostrophe);
  }
}

const Y = 0x79;
const PLUS = 0x2b;
const SHARP = 0x23;
const WIDE = 1;
const BEGINS = 2;
const CONTINUES = 4;
const APOSTROPHE = 8;
const KNOWN = 16;
/** Kind of each code unit in a word, computed on demand; nothing for surrogates. */
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

function beginningsOf(terms: readonly string[]): ReadonlySet<string> {
  return new Set(
    terms.map((term) =>
      [...term]
        .slice(0, 2)
        .join('')
        .replace(/(?<=.)y$/u, 'i'),
    ),
  );
}

/** Compares two letters; one for words of three letters (`eye`) and outside of ASCII. `y` counts as `i` (`dying`). */
function beginsAs(text: string, start: number, end: number, { first, two }: Beginnings): boolean {
  const isPlain = text.charCodeAt(start) < 0x80;
  const letter = isPlain ? text[start].toLowerCase() : firstLetter(text.slice(start, end));
  if (!first.has(letter)) return false;
  if (two === null) return true;
  const second = text.charCodeAt(start + 1) | 0x20;
  const isKept = isPlain && end - start > 3 && second >= 0x61 && second <= 0x7a;
  return !isKept || two.has(letter + (second === Y ? 'i' : String.fromCharCode(second))) || two.has(letter);
}

/** The first letter, folded. */
function firstLetter(word: string): string {
  const [letter = ''] = foldAccents(withoutJoiners(word).toLowerCase());
  return letter;
}

/** Offsets where sentences may begin and end, including 0 and the text's length; ascending. */
export function sentenceBorders(text: string): number[] {
  const borders = [0];
  for (const { 0: end, index } of text.matchAll(sentenceEnd)) borders.push(index + end.length);
  if (borders.at(-1) !== text.length) borders.push(text.length);
  return borders;
}

/** The first letters of highlighted words, which are common to the forms of a word. */
export function highlightedWords(text: string, highlights: readonly Span[]): string[] {
  return highlights.map(({ start, end }) => text.slice(start, end).toLowerCase().slice(0, 6));
}

/** The sentences within `maxSnippet` with the most highlights. Distinct words count first. */
function snippetOf(text: string, highlights: readonly Span[]): Span {
  const borders = sentenceBorders(text);
  const words = highlightedWords(text, highlights);
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

/** For a sentence longer than a snippet: the part around its hits. */
function around(text: string, { start, end }: Span, highlights: readonly Span[]): Span {
  const first = highlights.find((span) => span.start >= start);
  if (first === undefined || first.end <= end) return { start, end };
  const from = Math.max(start, first.start - maxSnippet / 2);
  const space = text.indexOf(' ', from);
  const begin = space >= 0 && space < first.start ? space + 1 : from;
  return { start: begin, end: Math.min(text.length, begin + maxSnippet) };
}

/** Trims white space, and incomplete words and characters. */
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
