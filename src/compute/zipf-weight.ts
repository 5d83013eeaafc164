/**
 * Weights of words by their frequency rank alone, so that an embedding depends on no corpus: the vocabulary of the word
 * vectors is sorted by frequency, and word frequencies follow Zipf's law. Used when the vectors are compiled (their mean)
 * and when text is embedded.
 */

/** Mandelbrot's shift of the rank in Zipf's law; 2.7 is his value for English. */
const RANK_SHIFT = 2.7;
const EULER_GAMMA = 0.5772;

/** Expected share of the word of frequency rank `rank` (from 0) in running text over a vocabulary of `count` words. */
export function zipfShare(rank: number, count: number): number {
  return 1 / ((rank + RANK_SHIFT) * (Math.log(count) + EULER_GAMMA));
}

/**
 * Smooth inverse frequency, a / (a + share): about 1 for rare words, small for the commonest.
 * `a` is the share at which a word counts half. Source: Arora, Liang & Ma 2017.
 */
export function sifWeight(rank: number, count: number, a: number): number {
  return a / (a + zipfShare(rank, count));
}
