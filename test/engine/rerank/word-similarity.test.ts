import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLevels } from '../../../src/compute/embedding/word-vectors.ts';
import { createWordCosines } from '../../../src/engine/rerank/word-cosines.ts';
import { fixtureVectors } from '../../compute/embedding/word-vectors-fixture.ts';
import { plainWordSimilarity } from './plain-word-similarity.ts';

const vectors = fixtureVectors();

/** The definition, in floating point. */
function cosine(a: number, b: number): number {
  const centred = (row: number) => {
    const levels = new Int8Array(vectors.dim);
    readLevels(vectors, row, levels);
    return Array.from(levels, (level, k) => vectors.scales[row] * level - vectors.mean[k]);
  };
  const [x, y] = [centred(a), centred(b)];
  const dot = (p: number[], q: number[]) => p.reduce((sum, value, k) => sum + value * q[k], 0);
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
}

const all = Int32Array.from({ length: vectors.count }, (_, row) => row);

for (const [form, similarity] of [
  ['the plain loop', plainWordSimilarity(vectors)],
  ['the kernel', createWordCosines(vectors)],
] as const) {
  const cosinesOf = (row: number, others: Int32Array): Map<number, number> => {
    const cosines = new Map<number, number>();
    similarity.pairs(Int32Array.of(-1, row), others, -2, (place, other, value) => {
      assert.equal(place, 1);
      cosines.set(other, value);
    });
    return cosines;
  };

  test(`${form}: cosines are those of the vectors without their mean`, () => {
    for (const row of [0, 7, 49]) {
      const cosines = cosinesOf(row, all);
      for (const other of all) {
        assert.ok(Math.abs((cosines.get(other) ?? 9) - cosine(row, other)) < 1e-3, `${row} and ${other}`);
      }
    }
  });

  test(`${form}: a word without a vector is like nothing, and only pairs that are near enough are told of`, () => {
    assert.deepEqual([...cosinesOf(-1, Int32Array.of(1, 2)).keys()], []);
    assert.deepEqual([...cosinesOf(1, Int32Array.of(-1, 1)).keys()], [1]);
    const near: number[] = [];
    similarity.pairs(Int32Array.of(7), all, 0.4, (_, other) => near.push(other));
    assert.deepEqual(
      near.sort((a, b) => a - b),
      [...all].filter((other) => cosine(7, other) >= 0.4),
    );
  });
}
