import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from '../../src/providers/open-embedder.ts';

test('of the rows of a model that was trained for shorter ones the first numbers are taken, of unit length', () => {
  const packed = Buffer.from(Float32Array.of(0, 5, 7, 7).buffer).toString('base64');
  const rows = [[3, 4, 9, 9], packed, [1, 0]];
  assert.deepEqual(readRows(rows, 3, 2, 4), Float32Array.of(0.6, 0.8, 0, 1, 1, 0));
  assert.deepEqual(readRows([[3, 4, 9, 9]], 1, 2), { problem: 'row 0: length 4 instead of 2' });
  assert.deepEqual(readRows([[3, 4, 9]], 1, 2, 4), { problem: 'row 0: length 3 instead of 2' });
});
