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

export function createWordSimilarity(vectors: WordVectors): WordSimilarity {
  const { dim, rows, scales, mean } = vectors;
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
        let sum = 0;
        const end = (other + 1) * dim;
        for (let at = other * dim, k = 0; at < end; at++, k++) sum = (sum + rows[at] * query[k]) | 0;
        out[i] = (quantum * scales[other] * sum - withMean) * norm * inverseNorm(other);
      }
    },
  };
}
