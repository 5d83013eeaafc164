/** Agreement of two rankings by several measures. Pure; called by compare and by replays. */
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

/**
 * Intersection size and Jaccard index of two lists' first k, ignoring order.
 * Units:  jaccard from 0 (nothing shared) to 1 (the same set; also for two empty lists).
 * Source: Jaccard 1912.
 */
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

/**
 * Kendall's tau-b of aligned values: concordant less discordant pairs, over the pairs not tied, on each side.
 * Units:  from −1 (reversed) to 1 (the same order); null for fewer than two items, or if all values of a side are equal.
 * Source: Kendall 1945, "The treatment of ties in ranking problems".
 */
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

/** Persistence: the first ten results weigh 86 % (design "measures"). */
const rboPersistence = 0.9;

/**
 * Rank-biased overlap, extrapolated beyond the shorter list: the expected share of common items where a reader stops who continues with
 * probability p.
 * Units:  from 0 (nothing shared) to 1 (the same order; also for two empty lists).
 * Source: Webber, Moffat & Zobel 2010, "A similarity measure for indefinite rankings", equation 32 (RBO_EXT).
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
