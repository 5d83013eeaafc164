/**
 * Entry of the searcher threads; its exports are their tasks. Each thread is pinned and holds a snapshot of the sparse
 * index, so its tasks are never aborted: a replaced thread would have none until the next publication.
 */
import type { SparseHits } from '../compute/bm25/top-hits.ts';
import type { LabelSet } from '../compute/label-set.ts';
import { openWordVectors } from '../compute/word-vectors.ts';
import { type AnalyzedQuery, createQueryAnalyzer, type SearchThreadData } from './analyze-query.ts';
import { type CandidateReranker, type CandidateScores, createCandidateReranker } from './rerank-candidates.ts';
import {
  createSparseSearcher,
  NoSnapshotError,
  type SnapshotUpdate,
  type SparseQuery,
  type SparseResult,
} from './sparse-searcher.ts';
import { threadData } from './thread-pool.ts';

const sparse = createSparseSearcher();
let tools: { analyze: (query: string) => AnalyzedQuery; rerank: CandidateReranker | null } | undefined;

export interface TextQuery {
  query: string;
  k: number;
  /** Only these labels may be found; without it, all. */
  allow?: LabelSet;
}

/** The sparse side's answer, and what the dense side needs to give its own. */
export interface TextResult extends Pick<AnalyzedQuery, 'vector' | 'wordPart' | 'knownWords'> {
  sparse: SparseResult;
}

/**
 * Analyse a query, search the sparse side for it, and embed it. Null when this thread has no snapshot: it replaced another one
 * that was lost, and must be given the snapshot again.
 */
export function search({ query, ...request }: TextQuery): TextResult | null {
  tools ??= openTools();
  const { terms, vector, wordPart, knownWords } = tools.analyze(query);
  return unlessNew(() => ({ sparse: sparse.search({ terms, ...request }), vector, wordPart, knownWords }));
}

/**
 * Scores of a query's candidates by the local reranker. Null where it has not what it needs: the word vectors, a snapshot,
 * the forward entry of every candidate.
 */
export function rerank({ query, ...candidates }: CandidateScores & { query: string }): Float64Array | null {
  tools ??= openTools();
  const { analyze, rerank: score } = tools;
  if (score === null) return null;
  return unlessNew(() => score(sparse.snapshot(), analyze(query).forms, candidates));
}

/** Load the language model and the word vectors, so that the first search does not wait for them. */
export function warmUp(): void {
  tools ??= openTools();
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

function openTools() {
  const { embedded } = threadData<SearchThreadData>();
  if (embedded === null) return { analyze: createQueryAnalyzer(null), rerank: null };
  const vectors = openWordVectors(embedded.wordVectors);
  return { analyze: createQueryAnalyzer({ vectors, dim: embedded.dim }), rerank: createCandidateReranker(vectors) };
}

/** Null instead of NoSnapshotError: errors lose their class on the way to the main thread. */
function unlessNew<Value>(answer: () => Value): Value | null {
  try {
    return answer();
  } catch (error) {
    if (error instanceof NoSnapshotError) return null;
    throw error;
  }
}
