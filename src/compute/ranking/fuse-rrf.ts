export interface FusedHit {
  label: number;
  score: number;
}

/**
 * Fuses lists of distinct labels, best first, by reciprocal rank (Cormack, Clarke & Buettcher 2009; contract "Search").
 * Units:  score = Σ weight / (rrfK + rank), rank from 1, weights above 0; comparable within one query only.
 */
export function fuseRrf(lists: readonly Uint32Array[], rrfK: number, weights: readonly number[] = []): FusedHit[] {
  const scores = new Map<number, number>();
  for (const [at, list] of lists.entries()) {
    const weight = weights[at] ?? 1;
    for (let rank = 0; rank < list.length; rank++) {
      scores.set(list[rank], (scores.get(list[rank]) ?? 0) + weight / (rrfK + rank + 1));
    }
  }
  return rankedHits(Array.from(scores, ([label, score]) => ({ label, score })));
}

export const rankedHits = (hits: FusedHit[]): FusedHit[] => hits.sort((a, b) => b.score - a.score || a.label - b.label);

/** Candidates without a score rank below this, so that all scores are in 0..1 without ties. */
const restShare = 0.01;

/** `scores` of `sent` are logits if one is outside 0..1; `rest` best first. Result 0..1, best first, ties by label. */
export function mergeReranked(sent: readonly FusedHit[], scores: Float64Array, rest: readonly FusedHit[]): FusedHit[] {
  const areLogits = scores.some((score) => score < 0 || score > 1);
  const shares = areLogits ? scores.map((score) => 1 / (1 + Math.exp(-score))) : scores;
  const first = sent.map(({ label }, at) => ({ label, score: restShare + (1 - restShare) * shares[at] }));
  const highest = rest[0]?.score || 1;
  const last = rest.map(({ label, score }) => ({ label, score: (restShare * 0.99 * score) / highest }));
  return rankedHits([...first, ...last]);
}
