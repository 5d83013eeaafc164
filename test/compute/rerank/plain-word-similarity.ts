import type { WordVectors } from '../../../src/compute/embedding/word-vectors.ts';
import { centreRow, inverseNorm, type WordSimilarity } from '../../../src/compute/rerank/word-similarity.ts';

/** By the definition, in a plain loop: what src/threads/word-cosines.ts has to give, number by number. */
export function plainWordSimilarity(vectors: WordVectors): WordSimilarity {
  const { dim, rows, scales } = vectors;
  const components = new Int16Array(dim);
  return {
    pairs(of, others, least, found) {
      of.forEach((row, place) => {
        if (row < 0) return;
        const { quantum, withMean } = centreRow(vectors, row, components);
        const norm = inverseNorm(vectors, row);
        others.forEach((other, otherPlace) => {
          if (other < 0) return;
          let sum = 0;
          for (let k = 0; k < dim; k++) sum += rows[other * dim + k] * components[k];
          const cosine = (quantum * scales[other] * sum - withMean) * norm * inverseNorm(vectors, other);
          if (cosine >= least) found(place, otherPlace, cosine);
        });
      });
    },
  };
}
