/**
 * The exact side of a shard: score rows against the query that `VectorRows.setQuery` took, and keep the best. Of many rows
 * only a short list is scored, by a first look at their sketches.
 */
import type { TopList } from './top-list.ts';
import { BLOCK_ROWS, type VectorRows } from './vector-rows.ts';

/** Fewer rows than this are all scored: half a millisecond at 1,024 dimensions. */
const FIRST_LOOK_FROM_ROWS = 8192;
/** Of short rows, so many of a list: a first look at a list looks at all rows there are, and these are scored in the same time. */
const FIRST_LOOK_FROM_SHORT_ROWS = 32_768;
/**
 * The short list: a share of the rows, at least so many, and so many per hit. Sketches of fewer bits tell less, so more rows
 * are scored, which cost less. Recall in docs/vector-spaces.md.
 */
const SHORTLIST_SHARE = 0.025;
const SHORT_ROWS_SHARE = 0.05;
const LONG_DIM = 512;
const SHORTLIST_MIN = 1200;
const SHORTLIST_PER_HIT = 8;

/** Offer all live ones of `candidates` (each row once) that score at least `minScore`, or the nearest of those. */
export function offerNearest(rows: VectorRows, candidates: Uint32Array, minScore: number, top: TopList): void {
  const few = rows.dim < LONG_DIM && candidates.length < FIRST_LOOK_FROM_SHORT_ROWS;
  const chosen = few ? candidates : rows.shortlist(candidates, wantedOf(rows, candidates.length, top.capacity));
  offerScored(rows, chosen, minScore, top);
}

/** The same for all rows from `from` on. */
export function offerNearestFrom(rows: VectorRows, from: number, minScore: number, top: TopList): void {
  const chosen = rows.shortlistFrom(from, wantedOf(rows, rows.count - from, top.capacity));
  offerScored(rows, chosen, minScore, top);
}

/** Length of the short list of so many rows. */
function wantedOf({ dim }: VectorRows, candidates: number, hits: number): number {
  if (candidates < FIRST_LOOK_FROM_ROWS) return candidates;
  const share = dim < LONG_DIM ? SHORT_ROWS_SHARE : SHORTLIST_SHARE;
  return Math.max(SHORTLIST_MIN, candidates * share, hits * SHORTLIST_PER_HIT);
}

function offerScored(rows: VectorRows, chosen: Uint32Array, minScore: number, top: TopList): void {
  const scores = new Float32Array(Math.min(BLOCK_ROWS, chosen.length));
  let bar = minScore;
  for (let from = 0; from < chosen.length; from += BLOCK_ROWS) {
    const block = chosen.subarray(from, from + BLOCK_ROWS);
    rows.score(block, scores);
    for (let i = 0; i < block.length; i++) {
      if (scores[i] < bar || !rows.isLive(block[i])) continue;
      top.offer(rows.labelOf(block[i]), scores[i]);
      bar = Math.max(minScore, top.bar);
    }
  }
}
