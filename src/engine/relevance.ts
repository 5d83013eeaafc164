/** Probability that a passage is relevant: a logistic function, fitted by bench `relevance` (docs/models.md). */

export interface Evidence {
  /** Share of the query's words in the passage, by weight, 0 to 1. */
  covered: number;
  /** 0 at the cosine of unrelated texts, 1 for equal texts. */
  nearness: number;
}

export interface RelevanceWeights {
  bias: number;
  covered: number;
  nearness: number;
}

/** A passage of this probability is likely relevant. */
export const likelyRelevant = 0.5;
/** Below this, a passage has hardly more than some of the words; the console calls it a weak match. */
export const fairRelevance = 0.2;

export const RELEVANCE: RelevanceWeights = { bias: -9.1, covered: 8.2, nearness: 13.7 };

export function relevance({ covered, nearness }: Evidence, weights: RelevanceWeights = RELEVANCE): number {
  return 1 / (1 + Math.exp(-(weights.bias + weights.covered * covered + weights.nearness * nearness)));
}

/** Replaces a missing vector: a passage with all query words is then a likely hit, and one with few words is not. */
const UNKNOWN_NEARNESS = 0.1;

/** A cosine's share of the range above the floor (null: unknown); 0 below it, and if the floor is 1. NaN: no vector. */
export function nearnessOf(cosine: number, floor: number | null): number {
  if (Number.isNaN(cosine)) return UNKNOWN_NEARNESS;
  const least = floor ?? 0;
  return cosine > least && least < 1 ? (cosine - least) / (1 - least) : 0;
}
