/** Runs that wait for the query log; the journal later writes them. A full queue drops runs and counts them. */
import type { FusedHit } from '../../compute/ranking/fuse-rrf.ts';
import type { LoggedHits, QueryRun } from '../../domain/query-log.ts';
import type { Retrieved } from '../system/service.ts';

export interface FreshRun extends Omit<QueryRun, 'candidate_set' | 'dense_hits' | 'sparse_hits' | 'final_pages'> {
  retrieved: Retrieved;
  fused: readonly FusedHit[];
  /** Best first. */
  pages: readonly { page_no: number; score: number }[];
  /** Number of pages before the first. */
  offset: number;
}

/** Max waiting runs: seconds of searching, at up to 40 kB per run. */
const maxWaiting = 512;

export class QueryLogQueue {
  readonly #onDrop: () => void;
  #waiting: FreshRun[] = [];
  #wake: () => void = () => {};

  constructor(onDrop: () => void) {
    this.#onDrop = onDrop;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  offer(run: FreshRun): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#onDrop();
      return;
    }
    if (this.#waiting.push(run) === 1) this.#wake();
  }

  /** Called when the queue becomes nonempty. Returns the unsubscribe function. */
  listen(wake: () => void): () => void {
    this.#wake = wake;
    if (this.#waiting.length > 0) wake();
    return () => {
      this.#wake = () => {};
    };
  }

  take(limit: number): FreshRun[] {
    return this.#waiting.splice(0, limit);
  }

  /** Count runs that could not be written. */
  drop(count: number): void {
    for (let i = 0; i < count; i++) this.#onDrop();
  }
}

/** Leaves out chunks that no longer belong to a page. */
export function queryRunOf({ retrieved, fused, pages, offset, ...run }: FreshRun): QueryRun {
  const { sparse, dense, pageOf } = retrieved;
  return {
    ...run,
    candidate_set: hitsOf(
      fused.map(({ label }) => label),
      fused.map(({ score }) => score),
      pageOf,
    ),
    dense_hits: hitsOf(dense.labels, dense.scores, pageOf),
    sparse_hits: hitsOf(sparse.labels, sparse.scores, pageOf),
    final_pages: pages.map(({ page_no, score }, place) => ({ page_no, score, rank: offset + place + 1 })),
  };
}

function hitsOf(found: ArrayLike<number>, scored: ArrayLike<number>, pageOf: Retrieved['pageOf']): LoggedHits {
  const labels = new Uint32Array(found.length);
  const page_nos = new Uint32Array(found.length);
  const scores = new Float64Array(found.length);
  let kept = 0;
  for (let i = 0; i < found.length; i++) {
    const page = pageOf.get(found[i]);
    if (page === undefined) continue;
    labels[kept] = found[i];
    page_nos[kept] = page;
    scores[kept++] = scored[i];
  }
  return { labels: labels.subarray(0, kept), page_nos: page_nos.subarray(0, kept), scores: scores.subarray(0, kept) };
}
