/** What a searcher thread makes of a query: its search terms, and its vector by the embedded model. */
import { createTextAnalyzer } from '../compute/analyze-text.ts';
import { createLocalEmbedder } from '../compute/embed-local.ts';
import { contentTerms } from '../compute/query-terms.ts';
import { openWordVectors } from '../compute/word-vectors.ts';

/** What every searcher thread is given when it starts. */
export interface SearchThreadData {
  /** The embedded model, or null when the active model is another's. */
  embedded: { wordVectors: SharedArrayBuffer; dim: number } | null;
}

export interface AnalyzedQuery {
  /** Stems to search for, repeated ones repeated: the query without its function words. */
  terms: string[];
  /** Unit length; null where the query has no term, or the active model is not embedded here. */
  vector: Float32Array | null;
  /** How many of the query's words the model knows. */
  knownWords: number;
}

/** Make the analyzer; loads the language model (about 0.2 s). */
export function createQueryAnalyzer({ embedded }: SearchThreadData): (query: string) => AnalyzedQuery {
  const analyzer = createTextAnalyzer();
  const embedder = embedded === null ? null : createLocalEmbedder(openWordVectors(embedded.wordVectors), embedded.dim);
  return (query) => {
    const { words, stems } = analyzer.terms(query);
    const terms = contentTerms({ words, stems }).stems;
    if (embedder === null || stems.length === 0) return { terms, vector: null, knownWords: 0 };
    const { vector, known } = embedder.embedQuery(words, stems);
    return { terms, vector, knownWords: known };
  };
}
