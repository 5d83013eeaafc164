import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWordSimilarity } from '../../../src/compute/rerank/word-similarity.ts';
import { fixtureVectors } from '../word-vectors-fixture.ts';

const vectors = fixtureVectors();

/** The definition, in floating point. */
function cosine(a: number, b: number): number {
  const centred = (row: number) =>
    Array.from(
      { length: vectors.dim },
      (_, k) => vectors.scales[row] * vectors.rows[row * vectors.dim + k] - vectors.mean[k],
    );
  const [x, y] = [centred(a), centred(b)];
  const dot = (p: number[], q: number[]) => p.reduce((sum, value, k) => sum + value * q[k], 0);
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
}

test('cosines are those of the vectors without their mean', () => {
  const similarity = createWordSimilarity(vectors);
  const others = Int32Array.from({ length: vectors.count }, (_, row) => row);
  const out = new Float32Array(vectors.count);
  for (const row of [0, 7, 49]) {
    similarity.cosines(row, others, out);
    assert.ok(Math.abs(out[row] - 1) < 1e-3);
    for (const other of others) assert.ok(Math.abs(out[other] - cosine(row, other)) < 1e-3, `${row} and ${other}`);
  }
});

test('a word without a vector is like nothing', () => {
  const similarity = createWordSimilarity(vectors);
  const out = new Float32Array([9, 9]);
  similarity.cosines(-1, Int32Array.of(1, 2), out);
  assert.deepEqual([...out], [0, 0]);
  similarity.cosines(1, Int32Array.of(-1, 1), out);
  assert.equal(out[0], 0);
});
