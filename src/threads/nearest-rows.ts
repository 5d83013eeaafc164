/**
 * The exact side of a shard: score rows against the query that `VectorRows.setQuery` took, and keep the best.
 */
import type { TopList } from './top-list.ts';
import { BLOCK_ROWS, type VectorRows } from './vector-rows.ts';

/** Offer all live ones of `candidates` (each row once) that score at least `minScore`. */
export function offerNearest(rows: VectorRows, candidates: Uint32Array, minScore: number, top: TopList): void {
  const scores = new Float32Array(Math.min(BLOCK_ROWS, candidates.length));
  for (let from = 0; from < candidates.length; from += BLOCK_ROWS) {
    const block = candidates.subarray(from, from + BLOCK_ROWS);
    rows.score(block, scores);
    for (let i = 0; i < block.length; i++) {
      if (scores[i] >= minScore && rows.isLive(block[i])) top.offer(rows.labelOf(block[i]), scores[i]);
    }
  }
}
