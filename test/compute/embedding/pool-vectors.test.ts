import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanPageVector } from '../../../src/compute/embedding/pool-vectors.ts';

test('the vector of a page is the mean of its chunks, each of the same weight, of length one', () => {
  assert.deepEqual(meanPageVector(Float32Array.of(1, 0, 0, 1), 2), Float32Array.of(Math.SQRT1_2, Math.SQRT1_2));
  assert.deepEqual(meanPageVector(Float32Array.of(9, 0, 0, 1), 2), Float32Array.of(Math.SQRT1_2, Math.SQRT1_2));
  assert.deepEqual(meanPageVector(Float32Array.of(3, 4), 2), Float32Array.of(0.6, 0.8));
});

test('chunks without terms do not count; without any other there is no vector', () => {
  assert.deepEqual(meanPageVector(Float32Array.of(0, 0, 3, 4), 2), Float32Array.of(0.6, 0.8));
  assert.equal(meanPageVector(Float32Array.of(0, 0), 2), null);
  assert.equal(meanPageVector(Float32Array.of(1, 0, -1, 0), 2), null);
  assert.equal(meanPageVector(new Float32Array(0), 2), null);
});
