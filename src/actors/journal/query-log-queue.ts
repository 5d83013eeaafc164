/**
 * Runs on their way to the query log. A search hands over what it has, by reference; the journal takes it from here and makes a
 * row of it later, so that a search does not wait. Bounded: a run that finds no room is dropped and counted.
 */
import type { FusedHit } from '../../compute/ranking/fuse-rrf.ts';
import type { LoggedHits, QueryRun } from '../../domain/query-log.ts';
import type { RankedChunks, Retrieved } from '../system/system-messages.ts';

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

/** The row of a run. Chunks that belong to no page any more are left out. */
export function queryRunOf({ retrieved, fused, pages, offset, ...run }: FreshRun): QueryRun {
  const { pageOf } = retrieved;
  return {
    ...run,
    candidate_set: hitsOf(
      fused.length,
      (i) => fused[i].label,
      (i) => fused[i].score,
      pageOf,
    ),
    dense_hits: sideOf(retrieved.dense, pageOf),
    sparse_hits: sideOf(retrieved.sparse, pageOf),
    final_pages: pages.map(({ page_no, score }, place) => ({ page_no, score, rank: offset + place + 1 })),
  };
}

function sideOf({ labels, scores }: RankedChunks, pageOf: Retrieved['pageOf']): LoggedHits {
  return hitsOf(
    labels.length,
    (i) => labels[i],
    (i) => scores[i],
    pageOf,
  );
}

function hitsOf(
  count: number,
  labelAt: (i: number) => number,
  scoreAt: (i: number) => number,
  pageOf: Retrieved['pageOf'],
): LoggedHits {
  const labels = new Uint32Array(count);
  const page_nos = new Uint32Array(count);
  const scores = new Float64Array(count);
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const label = labelAt(i);
    const page = pageOf(label);
    if (page === 0) continue;
    labels[kept] = label;
    page_nos[kept] = page;
    scores[kept++] = scoreAt(i);
  }
  return { labels: labels.subarray(0, kept), page_nos: page_nos.subarray(0, kept), scores: scores.subarray(0, kept) };
}
