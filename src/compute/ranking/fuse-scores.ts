/** Score fusion: BM25F and cosine, each relative to the query's best, with one weight (docs/models.md, "Fusion"). */
import { type FusedHit, rankedHits } from './fuse-rrf.ts';

/** Hits of one side, best first, with scores at the same indexes. */
export interface ScoredHits {
  labels: Uint32Array;
  scores: ArrayLike<number>;
}

export interface BothSides {
  sparse: ScoredHits;
  dense: ScoredHits;
  /** Cosines of the sparse hits, by index: NaN without a vector; null for a query without a vector. */
  cosines: ArrayLike<number> | null;
  /** Max share of the query's weight in one hit, 0 to 1. */
  covered: number;
}

/** Weight of the cosine (also in docs/models.md), chosen from .2 to .7 by `npm run bench -- ranking --weights`. */
export const DENSE_WEIGHT = 0.5;
/** If the best hit has a smaller share of the query, words weigh less: in another language they match by chance. */
const ENOUGH_COVERED = 0.5;

/**
 * (1 - weight) · min(1, 2 · covered) · bm25 / best bm25 + weight · (cosine - floor) / (best cosine - floor).
 * Shapes: result best first, ties by label, one entry per label.
 * Units:  0 to 1, comparable within one query only. `floor`: of unrelated texts, or null; lower cosines count as floor.
 * A passage without a vector gets the mean cosine of its neighbours in the order of words. The more such passages, the
 * less cosines weigh. Source: convex combination, Bruch, Gai & Ingber 2023.
 */
export function fuseScores(
  { sparse, dense, cosines, covered }: BothSides,
  floor: number | null,
  weight: number = DENSE_WEIGHT,
): FusedHit[] {
  const least = floor ?? 0;
  let nearest = dense.scores[0] ?? least;
  for (let at = 0; at < sparse.labels.length; at++)
    if (cosines !== null && cosines[at] > nearest) nearest = cosines[at];
  const nearness = (cosine: number) =>
    nearest > least || Number.isNaN(cosine) ? Math.max(0, (cosine - least) / (nearest - least)) : 0;
  const best = sparse.scores[0] || 1;
  const trust = Math.min(1, covered / ENOUGH_COVERED);
  const near = Float64Array.from(sparse.labels, (_, at) => nearness(cosines?.[at] ?? Number.NaN));
  const count = near.length;
  const filled = count === 0 ? 1 : near.filter((each) => !Number.isNaN(each)).length / count;
  // If words are not reliable, cosines keep their weight.
  const part = weight * (1 - trust * (1 - filled));
  const guesses = betweenNeighbours(near);
  const scores = new Map<number, number>();
  for (let at = 0; at < dense.labels.length; at++) scores.set(dense.labels[at], part * nearness(dense.scores[at]));
  for (let at = 0; at < count; at++) {
    const words = (trust * sparse.scores[at]) / best;
    scores.set(sparse.labels[at], (1 - part) * words + part * (filled === 0 ? words : guesses[at]));
  }
  return rankedHits(Array.from(scores, ([label, score]) => ({ label, score })));
}

/** Replaces each NaN by the mean of the nearest numbers before and after it, or by the only one. */
function betweenNeighbours(numbers: Float64Array): Float64Array {
  const before = numbers.slice();
  for (let at = 1; at < before.length; at++) if (Number.isNaN(before[at])) before[at] = before[at - 1];
  const after = numbers.slice();
  for (let at = after.length - 2; at >= 0; at--) if (Number.isNaN(after[at])) after[at] = after[at + 1];
  return before.map((each, at) =>
    Number.isNaN(each) ? after[at] : Number.isNaN(after[at]) ? each : (each + after[at]) / 2,
  );
}
