/** Puts the scores of a reranker, given for the first candidates only, before the rest. Pure; called by the ranking. */
import type { FusedHit } from './fuse-rrf.ts';

/** The candidates that were not scored share the scores below this, so that all scores of a query are in 0..1 and no tie falls between. */
const restShare = 0.01;

/**
 * One order of all candidates.
 * Shapes: `sent` and `scores` aligned; `rest` best first; the result has all of both, best first, ties by label.
 * Units:  scores of any scale; where one is outside 0..1 they are taken for logits. Result in 0..1.
 */
export function mergeReranked(sent: readonly FusedHit[], scores: Float64Array, rest: readonly FusedHit[]): FusedHit[] {
  const areLogits = scores.some((score) => score < 0 || score > 1);
  const shares = areLogits ? scores.map((score) => 1 / (1 + Math.exp(-score))) : scores;
  const first = sent.map(({ label }, at) => ({ label, score: restShare + (1 - restShare) * shares[at] }));
  const highest = rest[0]?.score || 1;
  const last = rest.map(({ label, score }) => ({ label, score: (restShare * 0.99 * score) / highest }));
  return [...first, ...last].sort((a, b) => b.score - a.score || a.label - b.label);
}
