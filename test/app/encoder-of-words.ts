/** Embedders whose local model is made here: a vector of 384 cells that words are hashed to. */

import { builtInModel } from '../../src/domain/model.ts';
import type { Embedders } from '../../src/providers/embedders.ts';

const { dim, provider } = builtInModel;

/** `before`: called with the texts of each batch, and where it gives false with each of them: one that it gives false for has no vector. */
export function encoderOfWords(before: (texts: readonly string[]) => unknown = () => {}) {
  return (others: Embedders): Embedders => ({
    ...others,
    queryVector: async (model, text, options) =>
      model.provider === provider ? vectorOf(text) : others.queryVector(model, text, options),
    passages: async (texts) => {
      const areFine = (await before(texts)) !== false;
      const rows = new Float32Array(texts.length * dim);
      const failed = new Map<number, string>();
      for (const [at, text] of texts.entries()) {
        if (!areFine && (await before([text])) === false) failed.set(at, 'not a number');
        else rows.set(vectorOf(text), at * dim);
      }
      return { rows, failed, names: texts.map(() => []) };
    },
  });
}

function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(dim);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let cell = 7;
    for (const letter of word) cell = (cell * 31 + (letter.codePointAt(0) ?? 0)) % dim;
    vector[cell] += 1;
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((x) => x / length);
}
