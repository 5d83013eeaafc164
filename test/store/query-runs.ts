/** Logged runs for tests, with what the test changes. */
import type { LoggedHits, QueryRun } from '../../src/domain/query-log.ts';

/** Hits of these pages, labels and scores following from their places. */
export function hitsOf(...page_nos: number[]): LoggedHits {
  return {
    labels: Uint32Array.from(page_nos, (no) => 10 * no),
    page_nos: Uint32Array.from(page_nos),
    scores: Float64Array.from(page_nos, (_, place) => 1 / (61 + place)),
  };
}

export function queryRun(changes: Partial<QueryRun> = {}): QueryRun {
  return {
    query_id: 'qr_1',
    ts: 1000,
    kind: 'search',
    compare_id: null,
    query_text: 'oak',
    params: { k: 10, filters: null, rollup: 'max' },
    active_model: 'm1',
    reranker_model: null,
    candidate_set: hitsOf(1, 2, 1),
    dense_hits: hitsOf(2),
    sparse_hits: hitsOf(),
    final_pages: [
      { page_no: 1, score: 0.5, rank: 1 },
      { page_no: 2, score: 1 / 3, rank: 2 },
    ],
    timing_ms: { total: 1.5 },
    ...changes,
  };
}
