/**
 * How near in meaning two words are: the cosine of their vectors after the mean of running text is taken away (with it all
 * words are alike). Reads the shared int8 rows in place; keeps the centred norm of each row it has met. One per thread.
 */
import type { WordVectors } from '../word-vectors.ts';

export interface WordSimilarity {
  /** Write the cosines between one row and others into `out`; a row of -1 gives 0. */
  cosines(row: number, others: Int32Array, out: Float32Array): void;
}

/** Components of a scaled query row stay below this: with int8 rows and 1,000 dimensions no sum leaves 31 bits. */
const QUERY_PEAK = 8191;
/** Components read at once: taking them out of one 32-bit word is twice as fast as reading four bytes. */
const LANES = 4;

/** Errors: RangeError unless the rows are int8 and their length a multiple of four. */
export function createWordSimilarity(vectors: WordVectors): WordSimilarity {
  const { dim, rows, scales, mean } = vectors;
  if (!(rows instanceof Int8Array) || dim % LANES !== 0)
    throw new RangeError('rows must be int8, their length a multiple of 4');
  const quads = new Int32Array(rows.buffer, rows.byteOffset, rows.length / LANES);
  const quadsPerRow = dim / LANES;
  /** 1 / |vector − mean| by row; 0 until asked for, NaN never. */
  const inverseNorms = new Float32Array(vectors.count);
  const centred = new Float64Array(dim);
  const query = new Int32Array(dim);

  function inverseNorm(row: number): number {
    if (inverseNorms[row] === 0) {
      let sum = 0;
      for (let k = 0; k < dim; k++) sum += (scales[row] * rows[row * dim + k] - mean[k]) ** 2;
      inverseNorms[row] = sum > 0 ? 1 / Math.sqrt(sum) : 1;
    }
    return inverseNorms[row];
  }

  /** Of the query with the row that begins at `first`. The lowest byte is the first component (little-endian). */
  function dot(first: number): number {
    let even = 0;
    let odd = 0;
    for (let quad = 0, k = 0; quad < quadsPerRow; quad++, k += LANES) {
      const bytes = quads[first + quad];
      even = (even + Math.imul((bytes << 24) >> 24, query[k]) + Math.imul((bytes << 8) >> 24, query[k + 2])) | 0;
      odd = (odd + Math.imul((bytes << 16) >> 24, query[k + 1]) + Math.imul(bytes >> 24, query[k + 3])) | 0;
    }
    return even + odd;
  }

  return {
    cosines(row, others, out) {
      if (row < 0) {
        out.fill(0);
        return;
      }
      let peak = 0;
      for (let k = 0; k < dim; k++) {
        centred[k] = scales[row] * rows[row * dim + k] - mean[k];
        peak = Math.max(peak, Math.abs(centred[k]));
      }
      const quantum = peak > 0 ? peak / QUERY_PEAK : 1;
      let withMean = 0;
      for (let k = 0; k < dim; k++) {
        query[k] = Math.round(centred[k] / quantum);
        withMean += centred[k] * mean[k];
      }
      const norm = inverseNorm(row);
      for (let i = 0; i < others.length; i++) {
        const other = others[i];
        if (other < 0) {
          out[i] = 0;
          continue;
        }
        out[i] = (quantum * scales[other] * dot(other * quadsPerRow) - withMean) * norm * inverseNorm(other);
      }
    },
  };
}
