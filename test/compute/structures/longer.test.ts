import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longer } from '../../../src/compute/structures/longer.ts';

test('a longer list has what the list had, then zeros, in memory of its own', () => {
  const bytes = Uint8Array.of(1, 2, 255);
  const grown = longer(bytes, 5);
  assert.deepEqual(grown, Uint8Array.of(1, 2, 255, 0, 0));
  grown[0] = 9;
  assert.equal(bytes[0], 1);
  assert.deepEqual(longer(Float64Array.of(0.5), 2), Float64Array.of(0.5, 0));
  assert.deepEqual(longer(Int32Array.of(-1), 1), Int32Array.of(-1));
});

test('a list on shared memory grows into memory that is not', () => {
  const shared = new Uint32Array(new SharedArrayBuffer(8));
  shared.set([3, 4]);
  const grown = longer(shared, 3);
  assert.deepEqual([...grown], [3, 4, 0]);
  assert.ok(grown.buffer instanceof ArrayBuffer);
});

test('a list does not become shorter', () => {
  assert.throws(() => longer(Uint16Array.of(1, 2), 1), RangeError);
});
