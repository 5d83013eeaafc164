/**
 * Entry of the searcher threads; its exports are their tasks. Each thread is pinned and holds a snapshot of the sparse
 * index, so its tasks are never aborted: a replaced thread would have none until the next publication.
 */
import type { SparseHits } from '../compute/bm25/top-hits.ts';
import type { LabelSet } from '../compute/label-set.ts';
import { type AnalyzedQuery, createQueryAnalyzer, type SearchThreadData } from './analyze-query.ts';
import {
  createSparseSearcher,
  NoSnapshotError,
  type SnapshotUpdate,
  type SparseQuery,
  type SparseResult,
} from './sparse-searcher.ts';
import { threadData } from './thread-pool.ts';

const sparse = createSparseSearcher();
let analyze: ((query: string) => AnalyzedQuery) | undefined;

export interface TextQuery {
  query: string;
  k: number;
  /** Only these labels may be found; without it, all. */
  allow?: LabelSet;
}

/** The sparse side's answer, and what the dense side needs to give its own. */
export interface TextResult extends Pick<AnalyzedQuery, 'vector' | 'knownWords'> {
  sparse: SparseResult;
}

/**
 * Analyse a query, search the sparse side for it, and embed it. Null when this thread has no snapshot: it replaced another one
 * that was lost, and must be given the snapshot again.
 */
export function search({ query, ...request }: TextQuery): TextResult | null {
  analyze ??= createQueryAnalyzer(threadData<SearchThreadData>());
  const { terms, vector, knownWords } = analyze(query);
  try {
    return { sparse: sparse.search({ terms, ...request }), vector, knownWords };
  } catch (error) {
    if (error instanceof NoSnapshotError) return null; // errors lose their class on the way to the main thread
    throw error;
  }
}

/** Load the language model and the word vectors, so that the first search does not wait for them. */
export function warmUp(): void {
  analyze ??= createQueryAnalyzer(threadData<SearchThreadData>());
}

export function publish(update: SnapshotUpdate): number[] {
  return sparse.publish(update);
}

export function searchSparse(query: SparseQuery): SparseResult {
  return sparse.search(query);
}

export function scoreSparse({ terms, labels }: { terms: readonly string[]; labels: Uint32Array }): SparseHits {
  return { labels, scores: sparse.score(terms, labels) };
}
