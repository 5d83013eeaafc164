import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRotation } from '../../../src/compute/embedding/vector-rotation.ts';

function vector(dim: number, seed: number): Float32Array {
  return Float32Array.from({ length: dim }, (_, i) => Math.sin(i * 12.9898 + seed * 78.233) * ((i % 7) + 1));
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

test('lengths and angles stay as they are, in any dimension', () => {
  for (const dim of [512, 513, 768, 1000, 1024, 1536]) {
    const { rotate } = openRotation(dim);
    const [a, b] = [vector(dim, 1), vector(dim, 2)];
    const [rotatedA, rotatedB] = [new Float32Array(dim), new Float32Array(dim)];
    rotate(a, 0, rotatedA);
    rotate(b, 0, rotatedB);
    const norm = dot(a, a);
    assert.ok(Math.abs(dot(rotatedA, rotatedA) / norm - 1) < 1e-5, `length in ${dim}`);
    assert.ok(Math.abs((dot(rotatedA, rotatedB) - dot(a, b)) / norm) < 1e-5, `angle in ${dim}`);
  }
});

test('a single component is spread over all dimensions', () => {
  for (const dim of [512, 768, 1024]) {
    const rotated = new Float32Array(dim);
    const source = new Float32Array(dim + 3);
    source[3 + 5] = 1;
    openRotation(dim).rotate(source, 3, rotated);
    assert.ok(rotated.every((value) => Math.abs(value) < 5 / Math.sqrt(dim)));
    assert.ok(rotated.filter((value) => Math.abs(value) > 0.2 / Math.sqrt(dim)).length > dim / 2);
  }
});

test('the rotation of a dimension is always the same: rows on disk depend on it', () => {
  const rotated = new Float32Array(1024);
  openRotation(1024).rotate(vector(1024, 1), 0, rotated);
  const printed = [...rotated.subarray(0, 4)].map((value) => value.toFixed(4));
  assert.deepEqual(printed, ['3.2112', '-1.9163', '-0.4505', '-0.8118']);
});
