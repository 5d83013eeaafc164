/** What a searcher thread makes of a query: its search terms in the languages of the library, and its vector by the embedded model. */
import { createEmbedderShelf } from '../compute/embedding/embed-local.ts';
import type { WordVectors } from '../compute/embedding/word-vectors.ts';
import { type ContentWord, contentWords, OF_NONE } from '../compute/ranking/query-terms.ts';
import { lookupTerm } from '../compute/structures/term-table.ts';
import type { TextAnalyzer } from '../compute/text/analyze-text.ts';
import { foldAccents } from '../compute/text/fold-accents.ts';
import type { Correction } from '../domain/search.ts';
import { isForwardStem, type QueryForm } from './rerank/gather-candidates.ts';
import { COMPOUND, PART } from './words/compounds.ts';
import type { CorpusWord } from './words/corpus-words.ts';
import { COMPLETIONS, GUESSES, type KnownWords } from './words/spelling.ts';

/** What every searcher thread is given when it starts. */
export interface SearchThreadData {
  /** What the embedded models and the local reranker are made of, or null: there are neither. */
  wordVectors: SharedArrayBuffer | null;
}

export interface AnalyzedQuery {
  /** The query's words without its stop words, repeated ones repeated, each with its stems in the languages of the library. */
  forms: QueryForm[];
  /** Unit length; null where the query has no term, or its model is not embedded here. */
  vector: Float32Array | null;
  /** The vector with only its components from the word vectors; null where it has none. */
  wordPart: Float32Array | null;
  /** How many of the query's words the model knows. */
  knownWords: number;
  /** Words that the corpus does not have, and what they were taken for. */
  corrected: Correction[];
  /** The language that the query is in, ISO 639-1. */
  language: string;
  /** What the hits of the vector weigh in reciprocal rank fusion beside those of the words, 1 in the model's own language. */
  denseWeight: number;
}

/** Unknown words that are corrected, at most: a text with more is in a language, or on a subject, that the library does not have. */
const mostCorrected = 8;
/** Forms in which an unknown word is looked for: itself, and its stems in the query's language and the commonest of the library. */
const mostSpellings = 4;
/** Of so many words all may be misspelt, of more half of them. */
const fewWords = 4;

/** A longer query has words enough of its own: compounds are not looked for. */
const mostWithCompounds = 16;

/** What a pair of characters of two words, and a stop word, weighs beside a word (npm run bench:languages). */
const ACROSS = 0.5;
const STOP_WORD = 0.2;

/** The language of the word vectors. */
const MODEL_LANGUAGE = 'en';
/**
 * In other languages the model has stems alone, which BM25 knows to weigh: fused as equals both rank below BM25 (docs/ranking.md,
 * "Languages"). So little that words decide, and what has none of them still comes.
 */
const FOREIGN_WEIGHT = 0.01;

/** A query; `dim`: the embedded model that is to embed it, null for none; `prefix`: whether its last word may be unfinished. */
export interface QueryToAnalyze {
  query: string;
  dim: number | null;
  prefix: boolean;
}
export type QueryAnalyzer = (query: QueryToAnalyze, known: KnownWords) => AnalyzedQuery;

/** Make the analyzer of queries, which analyses their texts by `analyzer`. */
export function createQueryAnalyzer(analyzer: TextAnalyzer, vectors: WordVectors | null): QueryAnalyzer {
  const embedders = vectors === null ? null : createEmbedderShelf(vectors);
  const rowOf = (word: string) => (vectors === null || word === '' ? -1 : lookupTerm(vectors.vocabulary, word));
  return ({ query, dim, prefix }, known) => {
    const { languages, spoken: spokenHere, isKnown, nearest, completions } = known;
    const all = analyzer.terms(query);
    const { language, words, stopWords } = contentWords(all, languages, spokenHere);
    const isForeign = language !== MODEL_LANGUAGE;
    /** Those that the corpus does not have, and what they may be meant for. */
    const meant = new Map<string, CorpusWord[]>();
    const mayHoldCompounds = words.length <= mostWithCompounds;
    const partsOf = (word: string) => (mayHoldCompounds ? known.parts(word, language) : []);
    const isUnknown = ({ word, stems, of }: ContentWord) =>
      of !== OF_NONE && !stems.some(isKnown) && partsOf(word).length === 0;
    const unknown = new Set(words.filter(isUnknown).map(({ word }) => word));
    const last = prefix ? unfinishedWord(query, words) : null;
    const completed = last === null ? [] : completionsOf(last, completions);
    if (last !== null && completed.length > 0) unknown.delete(last);
    const mayBeMisspelt =
      unknown.size <= mostCorrected && (words.length <= fewWords || 2 * unknown.size <= words.length);
    /** The forms in which the corpus may have a word: folded, and its stems. */
    const spellings = ({ word, stems }: ContentWord) =>
      [...new Set([foldAccents(word), ...stems])].slice(0, mostSpellings);
    if (mayBeMisspelt)
      for (const each of words)
        if (unknown.has(each.word) && !meant.has(each.word)) meant.set(each.word, nearest(spellings(each)));
    const asked = new Set(words.flatMap(({ stems }) => stems));
    const lesser = (stems: readonly string[], share: number) =>
      stems.map((stem) => ({ stem, of: OF_NONE, row: -1, share }));
    const forms = words.flatMap(({ word, stems, of }): QueryForm[] => {
      if (of === OF_NONE) return lesser(stems, ACROSS);
      const own = stems.map((stem) => ({ stem, of, row: isForeign ? -1 : rowOf(word) }));
      const guessed = (near: readonly CorpusWord[], shares: readonly number[]) =>
        near.map(({ stem, row }, at) => ({ stem, of, row: isForeign ? -1 : row, share: shares[at] }));
      if (word === last && completed.length > 0) {
        const others = completed.filter(({ stem }) => !stems.includes(stem));
        return [...(stems.some(isKnown) ? own : []), ...guessed(others, COMPLETIONS)];
      }
      const near = meant.get(word) ?? [];
      if (near.length > 0) return guessed(near, GUESSES);
      if (!mayHoldCompounds) return own;
      const within = partsOf(word).map((stem) => ({ stem, of, row: -1, share: PART }));
      const around = known.compounds(stems[0], language).map(({ stem }) => ({ stem, of, row: -1, share: COMPOUND }));
      return [...own, ...[...within, ...around].filter(({ stem }) => !asked.has(stem))];
    });
    // By stop words alone nothing is to be found.
    if (forms.some(({ stem }) => isKnown(stem)))
      forms.push(...stopWords.flatMap(({ stems }) => lesser(stems, STOP_WORD)).filter(({ stem }) => !asked.has(stem)));
    const corrected = [...meant]
      .filter(([, near]) => near.length > 0)
      .map(([word, near]) => ({ word, taken: near.map((each) => each.word) }));
    const denseWeight = isForeign ? FOREIGN_WEIGHT : 1;
    const none = { forms, vector: null, wordPart: null, knownWords: 0, corrected, language, denseWeight };
    if (vectors === null || embedders === null || dim === null || forms.length === 0) return none;
    const spoken = isForeign
      ? words.map(({ word, stems: [stem] }) => ({ word, stem }))
      : all.words.map((word, at) => ({ word, stem: all.stems[at] }));
    const isWhole = words.some(({ word, stems }) => word === last && stems.some(isKnown));
    const taken = (word: string) => meant.get(word)?.[0] ?? (word === last && !isWhole ? completed[0] : undefined);
    // Passages are embedded by their stems: what else a query has would be chance in a vector.
    const { vector, known: knownWords } = embedders(dim).embedQuery(
      spoken.map(({ word }) => taken(word)?.word ?? word),
      spoken.map(({ word, stem }) => taken(word)?.stem ?? (isForwardStem(stem) ? stem : '')),
    );
    // The model of word vectors alone knows nothing of a query without known words.
    if (vector.every((component) => component === 0)) return none;
    const hasWords = vector.subarray(0, vectors.dim).some((component) => component !== 0);
    const wordPart = hasWords ? vector.slice().fill(0, vectors.dim) : null;
    return { ...none, vector, wordPart, knownWords };
  };
}

/** The last word of a query that ends with it. */
function unfinishedWord(query: string, words: readonly ContentWord[]): string | null {
  const written =
    query
      .toLowerCase()
      .split(/[^\p{L}\p{M}\p{N}]/u)
      .at(-1) ?? '';
  const last = words.at(-1)?.word;
  return last !== undefined && foldAccents(last) === foldAccents(written) ? last : null;
}

/** A corpus has words with accents in languages where these tell words apart, and folded in all others. */
function completionsOf(word: string, completions: KnownWords['completions']): CorpusWord[] {
  const withAccents = completions(word);
  const folded = foldAccents(word);
  return withAccents.length > 0 || folded === word ? withAccents : completions(folded);
}
