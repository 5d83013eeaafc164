/** What a searcher thread makes of a query: its search terms, and its vector by the embedded model. */
import { createEmbedderShelf } from '../compute/embedding/embed-local.ts';
import type { WordVectors } from '../compute/embedding/word-vectors.ts';
import { contentTerms } from '../compute/ranking/query-terms.ts';
import { lookupTerm } from '../compute/structures/term-table.ts';
import type { TextAnalyzer } from '../compute/text/analyze-text.ts';
import { isIdeograph } from '../compute/text/unspaced-scripts.ts';
import type { QueryForm } from './rerank/gather-candidates.ts';

/** What every searcher thread is given when it starts. */
export interface SearchThreadData {
  /** What the embedded models and the local reranker are made of, or null: there are neither. */
  wordVectors: SharedArrayBuffer | null;
}

export interface AnalyzedQuery {
  /** The query's words without its function words, repeated ones repeated; their stems are what is searched for. */
  forms: QueryForm[];
  /** Unit length; null where the query has no term, or its model is not embedded here. */
  vector: Float32Array | null;
  /** The vector with only its components from the word vectors; null where it has none. */
  wordPart: Float32Array | null;
  /** How many of the query's words the model knows. */
  knownWords: number;
}

/** Analyses a query; `dim`: the embedded model that is to embed it, null for none. */
export type QueryAnalyzer = (query: string, dim: number | null) => AnalyzedQuery;

/** Make the analyzer of queries, which analyses their texts by `analyzer`. */
export function createQueryAnalyzer(analyzer: TextAnalyzer, vectors: WordVectors | null): QueryAnalyzer {
  const embedders = vectors === null ? null : createEmbedderShelf(vectors);
  const rowOf = (word: string) => (vectors === null || word === '' ? -1 : lookupTerm(vectors.vocabulary, word));
  return (query, dim) => {
    const { words, stems } = analyzer.terms(query);
    const content = contentTerms({ words, stems });
    const forms = content.stems.map((stem, at) => ({ stem, row: rowOf(content.words[at]) }));
    if (vectors === null || embedders === null || dim === null || stems.length === 0) {
      return { forms, vector: null, wordPart: null, knownWords: 0 };
    }
    // Passages are embedded by pairs of ideographs: to a query of single ones their stems' part of the vectors would be chance.
    const embedded = content.stems.every(isIdeograph) ? stems.map(() => '') : stems;
    const { vector, known } = embedders(dim).embedQuery(words, embedded);
    // The model of word vectors alone knows nothing of a query without known words.
    if (vector.every((component) => component === 0)) return { forms, vector: null, wordPart: null, knownWords: 0 };
    const hasWords = vector.subarray(0, vectors.dim).some((component) => component !== 0);
    const wordPart = hasWords ? vector.slice().fill(0, vectors.dim) : null;
    return { forms, vector, wordPart, knownWords: known };
  };
}
