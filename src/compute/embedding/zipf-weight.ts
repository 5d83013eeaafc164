/**
 * Weights of words by their frequency rank alone, so that an embedding depends on no corpus: the vocabulary of the word
 * vectors is sorted by frequency, and word frequencies follow Zipf's law. Used when the file of them is made (mean,
 * covariance) and when text is embedded.
 */

/** Mandelbrot's shift of the rank in Zipf's law; 2.7 is his value for English. */
const RANK_SHIFT = 2.7;
const EULER_GAMMA = 0.5772;

/** `a` of word vectors. Measured (bench/results/2026-11-embedded-model-trials.md): 1e-5 to 1e-4 are alike, 1e-3 and more are worse. */
export const WORD_SIF_A = 3e-5;

/** Expected share in running text of the word of a rank (from 0), over a vocabulary of `count` words. */
export function zipfShares(count: number): (rank: number) => number {
  const harmonic = Math.log(count + 1) + EULER_GAMMA;
  return (rank) => 1 / ((rank + RANK_SHIFT) * harmonic);
}

/**
 * Smooth inverse frequency: about 1 for rare words, small for the commonest; `a` is the share at which a word counts half.
 * Source: Arora, Liang & Ma 2017.
 */
export function sifWeight(share: number, a: number): number {
  return a / (a + share);
}
