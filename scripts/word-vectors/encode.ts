/**
 * Makes the file of word vectors (src/compute/embedding/word-vectors.ts) from exact vectors: levels and scales of every word, and the
 * mean and the whitening of running text, which are computed before anything is rounded. The same input gives the same bytes.
 */
import { COARSE_LEVELS, createWordVectorFile } from '../../src/compute/embedding/word-vectors.ts';
import { sifWeight, WORD_SIF_A, zipfShares } from '../../src/compute/embedding/zipf-weight.ts';
import { whiteningMatrix } from './whitening.ts';

const MAX_LEVEL = 127;
/** Standard deviation of a normal distribution, in levels of COARSE_LEVELS. */
const COARSE_DEVIATION = 46.48;
/** Rounds of choosing levels, then the scale that is best for them; more change nothing that counts. */
const FIT_ROUNDS = 4;
/** Words that the covariance is estimated from; the rest is rare, and would take most of the time. */
const COVARIANCE_WORDS = 100_000;

export interface ExactWordVectors {
  /** Even. */
  dim: number;
  /** Distinct, by frequency rank. */
  words: readonly string[];
  /** words.length × dim. */
  vectors: Float64Array;
}

/**
 * The file of `source`, whose first `fine` words have 8 bits a component and all others 4.
 * Errors: an odd dim, a word longer than 255 bytes, and a component that is no finite number throw.
 */
export function encodeWordVectors(source: ExactWordVectors, fine: number): Uint8Array<ArrayBuffer> {
  const { dim, words, vectors } = source;
  if (dim % 2 !== 0) throw new RangeError(`${dim} dimensions: the number must be even`);
  const encoded = words.map((word) => new TextEncoder().encode(word));
  const wordBytes = encoded.reduce((sum, { length }) => sum + length, 0);
  const fineCount = Math.min(fine, words.length);
  const file = createWordVectorFile({ dim, count: words.length, fine: fineCount, wordBytes });
  const mean = meanVector(source);
  file.mean.set(mean);
  file.whitening.set(whiteningMatrix(covarianceOf(source, mean), dim));
  let wordAt = 0;
  for (let id = 0; id < words.length; id++) {
    const { length } = encoded[id];
    if (length > 255) throw new RangeError(`a word of ${length} bytes: ${words[id]}`);
    file.lengths[id] = length;
    file.words.set(encoded[id], wordAt);
    wordAt += length;
    const vector = vectors.subarray(id * dim, (id + 1) * dim);
    if (!vector.every(Number.isFinite)) throw new RangeError(`a component of ${words[id]} is not a finite number`);
    if (vector.every((component) => component === 0)) continue;
    file.scales[id] = id < fineCount ? fineScale(vector) : coarseScale(vector);
    const scale = file.scales[id];
    if (id < fineCount)
      file.fineRows.set(
        vector.map((component) => Math.round(component / scale)),
        id * dim,
      );
    else file.coarseRows.set(coarsePairs(vector, scale), ((id - fineCount) * dim) / 2);
  }
  return file.seal();
}

function fineScale(vector: Float64Array): number {
  return vector.reduce((peak, component) => Math.max(peak, Math.abs(component)), 0) / MAX_LEVEL;
}

/** The scale of least squared error, as near as some rounds from that of a normal distribution come. */
function coarseScale(vector: Float64Array): number {
  let scale = Math.sqrt(vector.reduce((sum, component) => sum + component ** 2, 0) / vector.length) / COARSE_DEVIATION;
  for (let round = 0; round < FIT_ROUNDS; round++) {
    let product = 0;
    let squares = 0;
    for (const component of vector) {
      const level = COARSE_LEVELS[nearestLevel(component / scale)];
      product += level * component;
      squares += level * level;
    }
    scale = product / squares;
  }
  return scale;
}

function coarsePairs(vector: Float64Array, scale: number): Uint8Array {
  const place = (k: number) => nearestLevel(vector[k] / scale);
  return Uint8Array.from({ length: vector.length / 2 }, (_, pair) => place(2 * pair) | (place(2 * pair + 1) << 4));
}

/** The place in COARSE_LEVELS. */
function nearestLevel(value: number): number {
  let place = 0;
  while (place < COARSE_LEVELS.length - 1 && 2 * value > COARSE_LEVELS[place] + COARSE_LEVELS[place + 1]) place++;
  return place;
}

function meanVector({ dim, words, vectors }: ExactWordVectors): Float64Array {
  const mean = new Float64Array(dim);
  const shareOf = zipfShares(words.length);
  let total = 0;
  for (let id = 0; id < words.length; id++) {
    const share = shareOf(id);
    total += share;
    for (let k = 0; k < dim; k++) mean[k] += share * vectors[id * dim + k];
  }
  return mean.map((sum) => (total === 0 ? 0 : sum / total));
}

/** Covariance of what one word of running text adds to a passage's sum: sifWeight × (vector − mean). */
function covarianceOf({ dim, words, vectors }: ExactWordVectors, mean: Float64Array): Float64Array {
  const covariance = new Float64Array(dim * dim);
  const centred = new Float64Array(dim);
  const shareOf = zipfShares(words.length);
  const count = Math.min(words.length, COVARIANCE_WORDS);
  for (let id = 0; id < count; id++) {
    const share = shareOf(id);
    const weight = share * sifWeight(share, WORD_SIF_A) ** 2;
    for (let k = 0; k < dim; k++) centred[k] = vectors[id * dim + k] - mean[k];
    for (let i = 0; i < dim; i++) {
      const left = weight * centred[i];
      for (let j = i; j < dim; j++) covariance[i * dim + j] += left * centred[j];
    }
  }
  for (let i = 0; i < dim; i++) for (let j = 0; j < i; j++) covariance[i * dim + j] = covariance[j * dim + i];
  return covariance;
}
