/** Turns a query into search terms in the library's languages, on a searcher thread. */
import { addressesIn, beginningsOfQuery } from '../compute/ranking/exact-query.ts';
import { type ContentWord, contentWords, isFunctionWord, OF_NONE } from '../compute/ranking/query-terms.ts';
import type { TextAnalyzer } from '../compute/text/analyze-text.ts';
import { otherForms } from '../compute/text/other-forms.ts';
import { foldAccents, isOfDictionary, isOfPairs } from '../compute/text/scripts.ts';
import type { Correction } from '../domain/search.ts';
import { COMPOUND, PART } from './words/compounds.ts';
import type { QueryStem } from './words/corpus.ts';
import type { CorpusWord } from './words/corpus-words.ts';
import { addressTerm, joinedTerm, pathWord } from './words/marked-terms.ts';
import { COMPLETIONS, COMPLETIONS_OF_WHOLE, type KnownWords } from './words/spelling.ts';

export interface SearchThreadData {
  /** Result of `loadWordList`. Null: segments have no forms of words. */
  wordList: SharedArrayBuffer | null;
}

export interface AnalyzedQuery {
  /** Words without stop words, with repetitions, each with its stems in the library's languages. */
  forms: QueryStem[];
  /** Words that are in neither texts nor word lists, with their replacements. */
  corrected: Correction[];
  language: string;
}

/** With more unknown words, the library lacks the query's language or subject: nothing is corrected. */
const mostUnknown = 8;
/** Max searched forms of an unknown word: the word, and stems in the query's and the library's main languages. */
const mostSpellings = 4;
/** With at most this many words, all may be misspelt; with more, half of them. */
const fewWords = 4;
const REPLACED = 0.9;

/** A longer query has enough words, so compounds are not searched. */
const mostWithCompounds = 16;
/** Max words for splitting, which looks each word up at every cut: .1 ms for a word of 10 letters. */
const mostWithSplits = 8;

/** Weight of another spelling: joined, hyphenated or split. */
const RESPELT = 0.4;

/** Max stems of a prefix that are searched. */
const mostOfBeginning = 128;

/** Weight of a word in the path of the address. */
const ON_PATH = 0.5;

/** Weight of a page whose address begins like the query. */
const UNDER_ADDRESS = 4;

/** Weight of a stop word, and of a pair of characters from two words, relative to a word. */
const ACROSS = 0.5;
const STOP_WORD = 0.2;

export interface QueryToAnalyze {
  query: string;
  /** Whether its last word may be unfinished; default false. */
  prefix?: boolean;
  /** Whether unknown words are corrected; default true. */
  spelling?: boolean;
  /** Prefixes in the query, as written; default none. */
  beginnings?: readonly string[] | undefined;
}
export type QueryAnalyzer = (query: QueryToAnalyze, known: KnownWords) => AnalyzedQuery;

export function createQueryAnalyzer(analyzer: TextAnalyzer): QueryAnalyzer {
  return ({ query, prefix = false, spelling = true, beginnings = [] }, known) => {
    const { languages, spoken: spokenHere, nearest, completions } = known;
    const isKnown = (stem: string) => known.isKnown(stem) || known.isKnown(joinedTerm(stem));
    const onPath = ({ word, stems }: ContentWord) =>
      (isOfPairs(word) ? stems : [word]).map((each) => addressTerm(pathWord(each))).filter(known.isKnown);
    const all = analyzer.terms(query);
    const { language, words, stopWords } = contentWords(all, languages, spokenHere);
    const mayHoldCompounds = words.length <= mostWithCompounds;
    const partsOf = (word: string) => (mayHoldCompounds ? known.parts(word, language) : []);
    const stemsOf = (word: string) => contentWords(analyzer.terms(word), languages, spokenHere).words[0]?.stems ?? [];
    const joined = mayHoldCompounds ? joinedWords(query, all.words, { language, stemsOf, isKnown: known.isKnown }) : [];
    const inJoined = new Set(joined.flatMap(({ parts }) => parts));
    const apart = new Map(
      words.length <= mostWithSplits ? words.map((each) => [each.word, known.apart(each, language)]) : [],
    );
    const isUnknown = (each: ContentWord) =>
      each.of !== OF_NONE &&
      !each.stems.some(isKnown) &&
      partsOf(each.word).length === 0 &&
      !inJoined.has(each.word) &&
      (apart.get(each.word) ?? []).length === 0 &&
      onPath(each).length === 0;
    const last = prefix ? unfinishedWord(query, words) : null;
    const distinct = [...new Map(words.map((each) => [each.word, each])).values()];
    const unfinished = new Map(
      beginnings.map((word) => [word.toLowerCase(), known.beginning(word).slice(0, mostOfBeginning)]),
    );
    const addresses = new Set(analyzer.terms(addressesIn(query).join(' ')).words);
    const unknown = distinct.filter(
      (each) => isUnknown(each) && !addresses.has(each.word) && !unfinished.has(each.word),
    );
    const completed = last === null ? [] : completions(last);
    const misspelt = unknown.filter(({ word }) => word !== last || completed.length === 0);
    const isFew = words.length <= fewWords || 2 * misspelt.length <= words.length;
    const mayBeMisspelt = spelling && unknown.length <= mostUnknown && isFew;
    const replaced = new Map<string, CorpusWord>();
    for (const { word, stems } of mayBeMisspelt ? misspelt : []) {
      // In the same form as the texts' words: folded and stemmed.
      const found = nearest(word, [...new Set([foldAccents(word), ...stems])].slice(0, mostSpellings));
      if (found !== null) replaced.set(word, found);
    }
    const asked = new Set(words.flatMap(({ stems }) => stems));
    const lesser = (stems: readonly string[], share: number) => stems.map((stem) => ({ stem, of: OF_NONE, share }));
    const forms = words.flatMap((each): QueryStem[] => {
      const { word, stems, of } = each;
      if (of === OF_NONE) return lesser(stems, ACROSS);
      const begun = unfinished.get(word);
      if (begun !== undefined) return [...new Set([...stems, ...begun])].map((stem) => ({ stem, of }));
      const hyphenated = isOfPairs(word) ? [] : stems.map(joinedTerm).filter(known.isKnown);
      const respelt = [...hyphenated, ...(apart.get(word) ?? [])].map((stem) => ({
        stem,
        of,
        share: RESPELT,
        also: [],
      }));
      const addressed = onPath(each).map((stem) => ({ stem, of, share: ON_PATH, also: [] }));
      const own = [...stems.map((stem) => ({ stem, of })), ...respelt, ...addressed];
      const guessed = (near: readonly CorpusWord[], shares: readonly number[]) =>
        near.map(({ stem }, at) => ({ stem, of, share: shares[at] }));
      if (word === last && completed.length > 0) {
        const isWhole = stems.some(isKnown);
        const others = completed.filter(({ stem }) => !stems.includes(stem));
        return [...(isWhole ? own : []), ...guessed(others, isWhole ? COMPLETIONS_OF_WHOLE : COMPLETIONS)];
      }
      const meant = replaced.get(word);
      if (meant !== undefined) return guessed([meant], [REPLACED]);
      if (!mayHoldCompounds) return own;
      const within = partsOf(word).map((stem) => ({ stem, of, share: PART }));
      const around = known.compounds(stems[0], language).map(({ stem }) => ({ stem, of, share: COMPOUND }));
      return [...own, ...[...within, ...around].filter(({ stem }) => !asked.has(stem))];
    });
    // Corrections that are stop words or several tokens.
    let next = Math.max(OF_NONE, ...words.map(({ of }) => of));
    for (const [beginning, stems] of unfinished) {
      if (words.some(({ word }) => word === beginning)) continue;
      next++;
      forms.push(...stems.map((stem) => ({ stem, of: next })));
    }
    for (const { parts, stems } of joined) {
      const [of = OF_NONE, ...also] = numbersOf(parts, words);
      for (const stem of stems.filter((each) => !asked.has(each))) forms.push({ stem, of, share: RESPELT, also });
    }
    const whole = (stem: string, parts: readonly string[], share: number) => {
      const [of = OF_NONE, ...also] = numbersOf(parts, words);
      if (known.isKnown(stem)) forms.push({ stem, of, share, also });
    };
    for (const { word, kind } of otherForms(query))
      if (kind === 'name') whole(joinedTerm(word), analyzer.terms(word).words, RESPELT);
    const beginning = beginningsOfQuery(query).map(addressTerm).find(known.isKnown);
    if (beginning !== undefined) whole(beginning, all.words, UNDER_ADDRESS);
    if (forms.some(({ stem }) => known.isKnown(stem)))
      forms.push(...stopWords.flatMap(({ stems }) => lesser(stems, STOP_WORD)).filter(({ stem }) => !asked.has(stem)));
    const corrected = Array.from(replaced, ([word, { word: by }]) => ({ word, taken: [by] }));
    return { forms, corrected, language };
  };
}

interface JoinedWord {
  parts: readonly string[];
  stems: string[];
}

/** Min letters; shorter adjacent words form another word by chance. */
const leastJoined = 4;
const spacedWord = /^[\p{L}\p{M}\p{N}]+$/u;

/** Hyphenated words, and adjacent words without function words, that texts contain as one word. */
function joinedWords(
  query: string,
  all: readonly string[],
  {
    language,
    stemsOf,
    isKnown,
  }: { language: string; stemsOf: (word: string) => string[]; isKnown: KnownWords['isKnown'] },
): JoinedWord[] {
  const mayJoin = (word: string | undefined): word is string =>
    word !== undefined &&
    spacedWord.test(word) &&
    !isOfPairs(word) &&
    !isOfDictionary(word) &&
    !isFunctionWord(word, language);
  const found = new Map<string, readonly string[]>();
  for (let at = 1; at < all.length; at++) {
    const parts = [all[at - 1], all[at]];
    if (parts.every(mayJoin) && parts.join('').length >= leastJoined) found.set(parts.join(''), parts);
  }
  for (const { word, start, end } of otherForms(query).filter(({ kind }) => kind === 'joined'))
    found.set(
      word,
      query
        .slice(start, end)
        .toLowerCase()
        .split(/[^\p{L}\p{M}\p{N}]+/u),
    );
  return Array.from(found, ([word, parts]) => ({ parts, stems: stemsOf(word).filter(isKnown) })).filter(
    ({ stems }) => stems.length > 0,
  );
}

function numbersOf(parts: readonly string[], words: readonly ContentWord[]): number[] {
  const numbers = words.filter(({ word, of }) => of !== OF_NONE && parts.includes(word)).map(({ of }) => of);
  return [...new Set(numbers)];
}

function unfinishedWord(query: string, words: readonly ContentWord[]): string | null {
  const written =
    query
      .toLowerCase()
      .split(/[^\p{L}\p{M}\p{N}]/u)
      .at(-1) ?? '';
  const last = words.at(-1)?.word;
  return last !== undefined && foldAccents(last) === foldAccents(written) ? last : null;
}
