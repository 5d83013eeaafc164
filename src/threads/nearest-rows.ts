/**
 * The exact side of a shard: score rows against the query that `VectorRows.setQuery` took, and keep the best. Of many long
 * rows only a short list is scored, by a first look at their sketches.
 */
import type { TopList } from './top-list.ts';
import { BLOCK_ROWS, type VectorRows } from './vector-rows.ts';

/** Fewer long rows than this are scored at once: half a millisecond at 1,024 dimensions. */
const FIRST_LOOK_FROM_ROWS = 8192;
/** The short list: a share of the rows, at least so many, and so many per hit; recall in docs/vector-spaces.md. */
const SHORTLIST_SHARE = 0.025;
const SHORTLIST_MIN = 1200;
const SHORTLIST_PER_HIT = 8;

/** Offer all live ones of `candidates` (each row once) that score at least `minScore`, or the nearest of those. */
export function offerNearest(rows: VectorRows, candidates: Uint32Array, minScore: number, top: TopList): void {
  const wanted = Math.max(SHORTLIST_MIN, candidates.length * SHORTLIST_SHARE, top.capacity * SHORTLIST_PER_HIT);
  const chosen = candidates.length < FIRST_LOOK_FROM_ROWS ? candidates : rows.shortlist(candidates, wanted);
  const scores = new Float32Array(Math.min(BLOCK_ROWS, chosen.length));
  for (let from = 0; from < chosen.length; from += BLOCK_ROWS) {
    const block = chosen.subarray(from, from + BLOCK_ROWS);
    rows.score(block, scores);
    for (let i = 0; i < block.length; i++) {
      if (scores[i] >= minScore && rows.isLive(block[i])) top.offer(rows.labelOf(block[i]), scores[i]);
    }
  }
}
