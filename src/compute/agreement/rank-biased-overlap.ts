/** How alike two rankings are when the top matters most. Pure; called by compare and by replays. */

/** Persistence of the imagined reader: nine in ten look at one more result, so the first ten weigh 86 % (design "measures"). */
const rboPersistence = 0.9;

/**
 * Rank-biased overlap, extrapolated beyond the shorter list: the expected share of common items at the depth where a reader
 * stops who goes on from each rank with probability p.
 * Shapes: each list best first without repetition; they may differ in length.
 * Units:  from 0 (nothing shared) to 1 (the same order; two empty lists are the same).
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
