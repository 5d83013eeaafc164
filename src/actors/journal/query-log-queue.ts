/**
 * Runs on their way to the query log. A search hands over what it has, by reference; the journal takes it from here and makes a
 * row of it later, so that a search does not wait. Bounded: a run that finds no room is dropped and counted.
 */
import type { FusedHit } from '../../compute/ranking/fuse-rrf.ts';
import type { LoggedHits, QueryRun } from '../../domain/query-log.ts';
import type { Retrieved } from '../system/system-messages.ts';

/** A run as the one who made it has it. */
export interface FreshRun extends Omit<QueryRun, 'candidate_set' | 'dense_hits' | 'sparse_hits' | 'final_pages'> {
  retrieved: Retrieved;
  fused: readonly FusedHit[];
  /** The pages answered, best first. */
  pages: readonly { page_no: number; score: number }[];
  /** Pages before them. */
  offset: number;
}

/** Runs that may wait: seconds of searching, at up to 40 kB of hits each. */
const maxWaiting = 512;

export class QueryLogQueue {
  readonly #onDrop: () => void;
  #waiting: FreshRun[] = [];
  #offered = 0;
  #wake: () => void = () => {};

  /** `onDrop` is told of each run that is dropped. */
  constructor(onDrop: () => void) {
    this.#onDrop = onDrop;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs offered and kept so far. */
  get offered(): number {
    return this.#offered;
  }

  offer(run: FreshRun): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#onDrop();
      return;
    }
    this.#offered++;
    if (this.#waiting.push(run) === 1) this.#wake();
  }

  /** Be told when a run waits where none did. Returns how not to be told any more. */
  listen(wake: () => void): () => void {
    this.#wake = wake;
    if (this.#waiting.length > 0) wake();
    return () => {
      this.#wake = () => {};
    };
  }

  /** The oldest runs. */
  take(limit: number): FreshRun[] {
    return this.#waiting.splice(0, limit);
  }

  /** Runs that were taken and could not be written. */
  drop(count: number): void {
    for (let i = 0; i < count; i++) this.#onDrop();
  }
}

/** The row of a run. Chunks that belonged to no page any more are left out. */
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
