/**
 * The formula of the sparse side, and nothing else: BM25F in the simple form of Robertson, Zaragoza & Taylor (2004), where
 * the term frequencies of the fields are weighted and summed before saturation, and so are the lengths.
 *
 *   score(d) = Σ over query terms t   idf(t) · (k1 + 1) · tf / (tf + k1 · (1 − b + b · length / mean length))
 *   idf(t)   = ln(1 + (N − df + 0.5) / (df + 0.5))
 *
 * N, df and the mean length are those of the live documents at the time of the query, so a deleted document changes no
 * score. The idf is the one of Lucene and of wink-bm25-text-search (its k = 1): never negative.
 * Frequencies and lengths are whole numbers of 1/UNITS, which makes every sum of them exact.
 */

/** Term-frequency saturation; the usual value, and the one of the measured references. */
export const K1 = 1.2;
/** Share of length normalisation; as K1. */
export const B = 0.75;
/** What one occurrence in a field counts. Each is a multiple of 1/UNITS. */
export const FIELD_WEIGHTS = { title: 2, section: 1.5, body: 1 } as const;
export type Field = keyof typeof FIELD_WEIGHTS;
/**
 * What one occurrence among the facts of a page counts: who wrote it, where it is from, how it was tagged. Less than a word of the
 * text, so that a page is found by them and those that speak of the word stand before it; they are no part of the length.
 */
export const FACT_WEIGHT = 0.5;
/**
 * The length of a document without a text, in weighted occurrences, about that of a passage (docs/ranking.md): that a text is not known
 * makes its title no better, and many such documents do not make all others long ones.
 */
export const LENGTH_WITHOUT_BODY = 200;
/** Stored frequencies and lengths count quarters of an occurrence. */
export const UNITS = 4;
/** Frequencies saturate here (16,383 occurrences), where one more would change a score by less than 1e-8. */
export const MAX_FREQUENCY = 0xffff;

/** Numbers of the live documents of a corpus; lengths in 1/UNITS of a weighted token. */
export interface CorpusCounts {
  docs: number;
  totalLength: number;
}

/**
 * The saturation's denominator is `tf + base + slope · length`, all in 1/UNITS. (Scaling numerator and denominator by a
 * power of two changes no bit of the result.)
 */
export interface LengthNorm {
  base: number;
  slope: number;
}

/** The length norm of a corpus; a corpus whose documents are all empty has slope 0. */
export function lengthNorm({ docs, totalLength }: CorpusCounts): LengthNorm {
  return {
    base: UNITS * K1 * (1 - B),
    slope: totalLength === 0 ? 0 : (UNITS * K1 * B * docs) / totalLength,
  };
}

/** idf · (k1 + 1): the least upper bound of what a term can add to a score. `df` in 1..docs. */
export function termWeight(docs: number, df: number): number {
  return Math.log(1 + (docs - df + 0.5) / (df + 0.5)) * (K1 + 1);
}

/**
 * What a term of this weight adds to the score of a document; `base` and `slope` are a LengthNorm's. Everything that scores
 * calls this, so scores agree to the bit.
 */
export function contribution(weight: number, frequency: number, length: number, base: number, slope: number): number {
  return (weight * frequency) / (frequency + base + slope * length);
}
