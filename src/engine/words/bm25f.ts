/**
 * Simple BM25F (Robertson, Zaragoza & Taylor 2004): fields' weighted frequencies are summed before saturation.
 *   score(d) = Σ over query terms t   idf(t) · (k1 + 1) · tf / (tf + k1 · (1 − b + b · length / mean length))
 *   idf(t)   = ln(1 + (N − df + 0.5) / (df + 0.5)), Lucene's, which is never negative
 * N, df and the mean length are of the live documents at query time. Frequencies and lengths are multiples of 1/UNITS,
 * so that sums are exact.
 */

/** Term-frequency saturation; the usual value. */
export const K1 = 1.2;
/** Share of length normalization; the usual value, too. */
export const B = 0.75;
/** Weight of an occurrence by field, a multiple of 1/UNITS. */
export const FIELD_WEIGHTS = { title: 2, section: 1.5, body: 1 } as const;
export type Field = keyof typeof FIELD_WEIGHTS;
/** Weight of a word in a page's facts, smaller than in a text, so that texts rank first. Facts add no length. */
export const FACT_WEIGHT = 0.5;
/** Length of a document without text: about a passage (docs/models.md), so that its title gets no advantage. */
export const LENGTH_WITHOUT_BODY = 200;
/** Stored frequencies and lengths count quarters of an occurrence. */
export const UNITS = 4;
/** Max stored frequency (16,383 occurrences). One more changes a score by less than 1e-8. */
export const MAX_FREQUENCY = 0xffff;

/** Counts of the live documents; lengths in 1/UNITS of a weighted token. */
export interface CorpusCounts {
  docs: number;
  totalLength: number;
}

/** The saturation's denominator is `tf + base + slope · length`, in 1/UNITS: scaling by a power of two is exact. */
export interface LengthNorm {
  base: number;
  slope: number;
}

export function lengthNorm({ docs, totalLength }: CorpusCounts): LengthNorm {
  return {
    base: UNITS * K1 * (1 - B),
    slope: totalLength === 0 ? 0 : (UNITS * K1 * B * docs) / totalLength,
  };
}

/** idf · (k1 + 1): the least upper bound of a term's contribution. `df` in 1..docs. */
export function termWeight(docs: number, df: number): number {
  return Math.log(1 + (docs - df + 0.5) / (df + 0.5)) * (K1 + 1);
}

/** A term's contribution; `base`, `slope`: of a LengthNorm. All scoring calls it, so scores agree to the bit. */
export function contribution(weight: number, frequency: number, length: number, base: number, slope: number): number {
  return (weight * frequency) / (frequency + base + slope * length);
}
