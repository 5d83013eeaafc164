/** Reciprocal rank fusion. Pure; called by the retriever and the benches. */

export interface FusedHit {
  label: number;
  score: number;
}

/**
 * Fuse ranked lists of chunk labels by reciprocal rank.
 * Shapes: each list best first, a label at most once in a list; result best first, ties by label, one entry per label. `weights`: of
 *         each list, above 0; 1 unless given.
 * Units:  score = sum over the lists of weight / (rrfK + rank), rank from 1; compare within one query only.
 * Errors: none; empty lists give an empty result.
 * Source: contract "Search"; Cormack, Clarke & Buettcher 2009.
 */
export function fuseRrf(lists: readonly Uint32Array[], rrfK: number, weights: readonly number[] = []): FusedHit[] {
  const scores = new Map<number, number>();
  for (const [at, list] of lists.entries()) {
    const weight = weights[at] ?? 1;
    for (let rank = 0; rank < list.length; rank++) {
      scores.set(list[rank], (scores.get(list[rank]) ?? 0) + weight / (rrfK + rank + 1));
    }
  }
  return Array.from(scores, ([label, score]) => ({ label, score })).sort(
    (a, b) => b.score - a.score || a.label - b.label,
  );
}
