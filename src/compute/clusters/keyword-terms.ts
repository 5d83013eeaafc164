/**
 * The words of a text that may become keywords: whole words as written, pairs of capitalised words (names, mostly), and in scripts
 * without spaces the words that the platform's dictionary knows. The stop words of its language are none of them, nor are legal forms.
 */
import { englishFunctionWords, stopWordsOf } from '../text/stop-words.ts';
import { findUnspacedRuns } from '../text/unspaced-scripts.ts';

export interface KeywordTerm {
  /** Under which inflections are counted together. */
  key: string;
  /** As written. */
  surface: string;
}

/** An ampersand joins capitals only (`R&D`): elsewhere it is what is left of an entity of HTML. */
const word = /\p{L}[\p{L}\p{M}\p{N}]*(?:(?:[-'’.]|(?<=\p{Lu})&(?=\p{Lu}))[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;
/** Addresses and entities of HTML: what is written, but not said. */
const markup = /\b(?:https?:\/\/|www\.)[^\s<>"]+|&#?\w+;|<[a-z/][^<>]*>/gi;
const possessive = /['’]s$/i;
/** `aren't`, `we'll` */
const contraction = /(?:n['’]t|['’](?:re|ve|ll|d|m))$/i;
const capitalised = /^\p{Lu}/u;
const between = /^[ \u00a0]$/;
/** Legal forms of companies: half of all business news have one, and no subject has. */
const legalForms: ReadonlySet<string> = new Set('inc corp ltd llc plc gmbh pty sarl'.split(' '));
const shortest = 3;
const longest = 40;
const shortestUnspaced = 2;
/**
 * Letters in a row of a script without spaces. Bounded, because the platform's segmenter takes quadratic time: 18 s for 40,000 characters that
 * are one such row, 40 ms in pieces. Sentences are shorter.
 */
const letters = /[\p{L}\p{M}\p{N}]{1,1024}/gu;

/** Finds the terms of a text, in order; its language is an ISO 639-1 code, '' where none is known. */
export type KeywordTermsOf = (text: string, language: string) => KeywordTerm[];

/** `stem` folds inflections. */
export function createKeywordTerms(stem: (word: string) => string): KeywordTermsOf {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  const spaced = (text: string, isStopWord: (word: string) => boolean, terms: KeywordTerm[]) => {
    let last: { surface: string; key: string; end: number } | null = null;
    for (const match of text.matchAll(word)) {
      const surface = match[0].replace(possessive, '');
      const { index } = match;
      const end = index + match[0].length;
      const lower = surface.toLowerCase();
      if (surface.length > longest || isStopWord(lower) || legalForms.has(lower)) {
        last = null;
        continue;
      }
      const key = /^[a-z']+$/.test(lower) ? stem(lower) : lower;
      if (surface.length >= shortest) terms.push({ key, surface });
      const isName = capitalised.test(surface) && surface.length > 1;
      if (isName && last !== null && between.test(text.slice(last.end, index))) {
        terms.push({ key: `${last.key} ${key}`, surface: `${last.surface} ${surface}` });
      }
      last = isName && surface === match[0] ? { surface, key, end } : null;
    }
  };
  const unspaced = (text: string, isStopWord: (word: string) => boolean, terms: KeywordTerm[]) => {
    for (const { segment, isWordLike } of segmenter.segment(text)) {
      if (isWordLike !== true || segment.length < shortestUnspaced || isStopWord(segment)) continue;
      terms.push({ key: segment, surface: segment });
    }
  };
  return (written, language) => {
    const stopWords = stopWordsOf(language);
    const isStopWord = (word: string) =>
      stopWords.has(word) || (language === 'en' && (englishFunctionWords.has(word) || contraction.test(word)));
    const text = written.replace(markup, ' | ');
    const terms: KeywordTerm[] = [];
    let at = 0;
    for (const { start, end } of findUnspacedRuns(text)) {
      spaced(text.slice(at, start), isStopWord, terms);
      for (const [piece] of text.slice(start, end).matchAll(letters)) unspaced(piece, isStopWord, terms);
      at = end;
    }
    spaced(text.slice(at), isStopWord, terms);
    return terms;
  };
}
