/** What a searcher thread makes of a query: its search terms, and its vector by the embedded model. */
import { createTextAnalyzer } from '../compute/analyze-text.ts';
import { createLocalEmbedder } from '../compute/embed-local.ts';
import { contentTerms } from '../compute/query-terms.ts';
import type { QueryForm } from '../compute/rerank/gather-candidates.ts';
import { lookupTerm } from '../compute/term-table.ts';
import type { WordVectors } from '../compute/word-vectors.ts';

/** What every searcher thread is given when it starts. */
export interface SearchThreadData {
  /** The embedded model, or null when the active model is another's. */
  embedded: { wordVectors: SharedArrayBuffer; dim: number } | null;
}

export interface AnalyzedQuery {
  /** The query's words without its function words, repeated ones repeated; their stems are what is searched for. */
  forms: QueryForm[];
  /** Unit length; null where the query has no term, or the active model is not embedded here. */
  vector: Float32Array | null;
  /** The vector with only its components from the word vectors; null where it has none. */
  wordPart: Float32Array | null;
  /** How many of the query's words the model knows. */
  knownWords: number;
}

/** What embeds queries: the word vectors and the dimensions of the model made of them. */
export interface EmbeddedModel {
  vectors: WordVectors;
  dim: number;
}

/** Make the analyzer; loads the language model (about 0.2 s). */
export function createQueryAnalyzer(embedded: EmbeddedModel | null): (query: string) => AnalyzedQuery {
  const analyzer = createTextAnalyzer();
  const embedder = embedded === null ? null : createLocalEmbedder(embedded.vectors, embedded.dim);
  const rowOf = (word: string) =>
    embedded === null || word === '' ? -1 : lookupTerm(embedded.vectors.vocabulary, word);
  return (query) => {
    const { words, stems } = analyzer.terms(query);
    const content = contentTerms({ words, stems });
    const forms = content.stems.map((stem, at) => ({ stem, row: rowOf(content.words[at]) }));
    if (embedded === null || embedder === null || stems.length === 0) {
      return { forms, vector: null, wordPart: null, knownWords: 0 };
    }
    const { vector, known } = embedder.embedQuery(words, stems);
    const wordPart = vector.slice().fill(0, embedded.vectors.dim);
    const hasWords = wordPart.some((component) => component !== 0);
    return { forms, vector, wordPart: hasWords ? wordPart : null, knownWords: known };
  };
}
