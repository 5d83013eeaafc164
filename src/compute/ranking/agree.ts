import type { CompareAgreement } from '../../domain/compare.ts';

export type Agreement = Omit<CompareAgreement, 'model_a' | 'model_b'>;

export function agreementAtK<Item>(a: readonly Item[], b: readonly Item[], k: number): Agreement {
  const [first, second] = [a.slice(0, k), b.slice(0, k)];
  return {
    ...overlapAtK(first, second, k),
    rbo: rankBiasedOverlap(first, second),
    kendall_tau: rankCorrelation(first, second),
  };
}

/** Size of the intersection, and Jaccard index (0 to 1; 1 for two empty lists), of the first k items in any order. */
export function overlapAtK<Item>(
  a: readonly Item[],
  b: readonly Item[],
  k: number,
): { intersection_size: number; jaccard_at_k: number } {
  const first = new Set(a.slice(0, k));
  const second = new Set(b.slice(0, k));
  let shared = 0;
  for (const item of second) if (first.has(item)) shared++;
  const union = first.size + second.size - shared;
  return { intersection_size: shared, jaccard_at_k: union === 0 ? 1 : shared / union };
}

/** Kendall's tau-b (1945) of paired values, −1 to 1. Null for fewer than two pairs, or if one side is constant. */
export function kendallTauB(x: readonly number[], y: readonly number[]): number | null {
  let balance = 0;
  let untiedX = 0;
  let untiedY = 0;
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < i; j++) {
      const dx = Math.sign(x[i] - x[j]);
      const dy = Math.sign(y[i] - y[j]);
      balance += dx * dy;
      untiedX += dx * dx;
      untiedY += dy * dy;
    }
  }
  return untiedX === 0 || untiedY === 0 ? null : balance / Math.sqrt(untiedX * untiedY);
}

/** Tau-b of the ranks of shared items; null for fewer than two. */
export function rankCorrelation<Item>(a: readonly Item[], b: readonly Item[]): number | null {
  const rankInB = new Map(b.map((item, rank) => [item, rank]));
  const x: number[] = [];
  const y: number[] = [];
  a.forEach((item, rank) => {
    const other = rankInB.get(item);
    if (other === undefined) return;
    x.push(rank);
    y.push(other);
  });
  return kendallTauB(x, y);
}

/** Persistence p: the first ten results have 86 % of the weight (design "measures"). */
const rboPersistence = 0.9;

/**
 * Rank-biased overlap, 0 to 1 (also 1 for two empty lists): the expected share of common items for a reader who
 * continues with probability p. Source: Webber, Moffat & Zobel 2010, equation 32 (RBO_EXT).
 */
export function rankBiasedOverlap<Item>(a: readonly Item[], b: readonly Item[], p = rboPersistence): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (long.length === 0) return 1;
  if (short.length === 0) return 0;
  const s = short.length;
  const l = long.length;
  const seenShort = new Set<Item>();
  const seenLong = new Set<Item>();
  let overlap = 0;
  let overlapAtShort = 0;
  let sum = 0;
  let weight = 1;
  for (let depth = 1; depth <= l; depth++) {
    weight *= p;
    const fromLong = long[depth - 1];
    if (depth <= s) {
      const fromShort = short[depth - 1];
      seenShort.add(fromShort);
      if (fromShort === fromLong) overlap++;
      else {
        if (seenLong.has(fromShort)) overlap++;
        if (seenShort.has(fromLong)) overlap++;
      }
      seenLong.add(fromLong);
      overlapAtShort = overlap;
    } else if (seenShort.has(fromLong)) overlap++;
    sum += (overlap / depth) * weight;
    if (depth > s) sum += ((overlapAtShort * (depth - s)) / (s * depth)) * weight;
  }
  const extrapolated = (overlap - overlapAtShort) / l + overlapAtShort / s;
  return Math.min(1, ((1 - p) / p) * sum + extrapolated * weight);
}
