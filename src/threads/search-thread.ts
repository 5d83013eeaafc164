/**
 * Entry of the searcher threads; its exports are their tasks. Each thread is pinned and holds a snapshot of the sparse
 * index, so its tasks are never aborted: a replaced thread would have none until the next publication.
 */
import type { SparseHits } from '../compute/bm25/top-hits.ts';
import { createSparseSearcher, type SnapshotUpdate, type SparseQuery, type SparseResult } from './sparse-searcher.ts';

const sparse = createSparseSearcher();

export function publish(update: SnapshotUpdate): number[] {
  return sparse.publish(update);
}

export function searchSparse(query: SparseQuery): SparseResult {
  return sparse.search(query);
}

export function scoreSparse({ terms, labels }: { terms: readonly string[]; labels: Uint32Array }): SparseHits {
  return { labels, scores: sparse.score(terms, labels) };
}
