/**
 * How near in meaning two words are: the cosine of their vectors after the mean of running text is taken away (with it all
 * words are alike). Here are the parts of it that are made once a word, from its levels; src/engine/rerank/word-cosines.ts compares.
 */

export interface WordSimilarity {
  /**
   * Tell of every pair of a row and another row whose cosine is at least `least`, by their places in the lists; rows of -1 are
   * like nothing.
   */
  pairs(rows: Int32Array, others: Int32Array, least: number, found: FoundPair): void;
}

export type FoundPair = (row: number, other: number, cosine: number) => void;

/** A row with the mean taken away, in whole numbers: its components are `quantum` times `components`. */
export interface CentredRow {
  readonly quantum: number;
  /** Its product with the mean. */
  readonly withMean: number;
}

/** A word's vector as `readLevels` gives it: its components are `scale` times `levels`. */
export interface WordRow {
  readonly levels: Int8Array;
  readonly scale: number;
}

/** Largest component of a centred row: with int8 levels and 1,000 dimensions no sum leaves 31 bits. */
const PEAK = 8191;

/** Write a centred row's whole components into `out`. */
export function centreRow({ levels, scale }: WordRow, mean: Float32Array, out: Int16Array): CentredRow {
  const dim = mean.length;
  const component = (k: number) => scale * levels[k] - mean[k];
  let peak = 0;
  for (let k = 0; k < dim; k++) peak = Math.max(peak, Math.abs(component(k)));
  const quantum = peak > 0 ? peak / PEAK : 1;
  let withMean = 0;
  for (let k = 0; k < dim; k++) {
    out[k] = Math.round(component(k) / quantum);
    withMean += component(k) * mean[k];
  }
  return { quantum, withMean };
}

/** 1 / |vector − mean| of a row; 1 where that is nothing. */
export function inverseNorm({ levels, scale }: WordRow, mean: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < mean.length; k++) sum += (scale * levels[k] - mean[k]) ** 2;
  return sum > 0 ? Math.fround(1 / Math.sqrt(sum)) : 1;
}
