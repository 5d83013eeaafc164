/**
 * How near in meaning two words are: the cosine of their vectors after the mean of running text is taken away (with it all
 * words are alike). Here are the parts of it that are made once a word, from int8 vectors; src/threads/word-cosines.ts compares.
 */
import type { WordVectors } from '../embedding/word-vectors.ts';

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

/** Largest component of a centred row: with int8 rows and 1,000 dimensions no sum leaves 31 bits. */
const PEAK = 8191;

/** Write a centred row's whole components into `out`. */
export function centreRow({ dim, rows, scales, mean }: WordVectors, row: number, out: Int16Array): CentredRow {
  const component = (k: number) => scales[row] * rows[row * dim + k] - mean[k];
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
export function inverseNorm({ dim, rows, scales, mean }: WordVectors, row: number): number {
  let sum = 0;
  for (let k = 0; k < dim; k++) sum += (scales[row] * rows[row * dim + k] - mean[k]) ** 2;
  return sum > 0 ? Math.fround(1 / Math.sqrt(sum)) : 1;
}
