import { readLevels, type WordVectors } from '../../../src/compute/embedding/word-vectors.ts';
import {
  centreRow,
  inverseNorm,
  type WordRow,
  type WordSimilarity,
} from '../../../src/engine/rerank/word-similarity.ts';

/** By the definition, in a plain loop: what src/engine/rerank/word-cosines.ts has to give, number by number. */
export function plainWordSimilarity(vectors: WordVectors): WordSimilarity {
  const { dim, scales, mean } = vectors;
  const components = new Int16Array(dim);
  const rowOf = (id: number): WordRow => {
    const levels = new Int8Array(dim);
    readLevels(vectors, id, levels);
    return { levels, scale: scales[id] };
  };
  return {
    pairs(of, others, least, found) {
      of.forEach((row, place) => {
        if (row < 0) return;
        const one = rowOf(row);
        const { quantum, withMean } = centreRow(one, mean, components);
        const norm = inverseNorm(one, mean);
        others.forEach((other, otherPlace) => {
          if (other < 0) return;
          const { levels, scale } = rowOf(other);
          let sum = 0;
          for (let k = 0; k < dim; k++) sum += levels[k] * components[k];
          const cosine = (quantum * scale * sum - withMean) * norm * inverseNorm({ levels, scale }, mean);
          if (cosine >= least) found(place, otherPlace, cosine);
        });
      });
    },
  };
}
