import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whiteningMatrix } from '../../scripts/word-vectors/whitening.ts';

test('the map makes the covariance the identity, and is symmetric', () => {
  const dim = 5;
  // A covariance by construction: B·Bᵀ with a dominant direction.
  const b = Float64Array.from({ length: dim * dim }, (_, i) => Math.sin(i * 1.7) + (i % dim === 0 ? 3 : 0));
  const product = (left: ArrayLike<number>, right: ArrayLike<number>, transposed: boolean) =>
    Float64Array.from({ length: dim * dim }, (_, at) => {
      let sum = 0;
      const [i, j] = [Math.floor(at / dim), at % dim];
      for (let k = 0; k < dim; k++) sum += left[i * dim + k] * (transposed ? right[j * dim + k] : right[k * dim + j]);
      return sum;
    });
  const covariance = product(b, b, true);
  for (let i = 0; i < dim; i++) covariance[i * dim + i] += 0.5;
  const map = whiteningMatrix(covariance, dim);
  const whitened = product(product(map, covariance, false), map, true);
  for (let i = 0; i < dim; i++) {
    for (let j = 0; j < dim; j++) {
      assert.ok(Math.abs(whitened[i * dim + j] - (i === j ? 1 : 0)) < 1e-4, `${i},${j}: ${whitened[i * dim + j]}`);
      assert.ok(Math.abs(map[i * dim + j] - map[j * dim + i]) < 1e-6);
    }
  }
});

test('without variance the map is the identity, and a direction without variance is not blown up', () => {
  assert.deepEqual([...whiteningMatrix(new Float64Array(4), 2)], [1, 0, 0, 1]);
  const map = whiteningMatrix(Float64Array.from([2, 0, 0, 0]), 2);
  assert.ok(Math.abs(map[3] - 10) < 1e-4);
});
