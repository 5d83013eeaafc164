import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addBit, addBitRange, bitsNotIn, createBitmap, hasBit } from '../../../src/compute/structures/bitmap.ts';

const someLabels = fc.uniqueArray(fc.integer({ min: 0, max: 300 }));

test('a label set holds what was added and differs as sets do', () => {
  fc.assert(
    fc.property(someLabels, someLabels, fc.integer({ min: 0, max: 301 }), (labels, others, end) => {
      const set = createBitmap(301);
      for (const label of labels) addBit(set, label);
      const other = createBitmap(end);
      const kept = others.filter((label) => label < end);
      for (const label of kept) addBit(other, label);
      for (let label = 0; label < 400; label++) assert.equal(hasBit(set, label), labels.includes(label));
      const expected = labels.filter((label) => !kept.includes(label)).sort((a, b) => a - b);
      assert.deepEqual([...bitsNotIn(set, other)], expected);
    }),
  );
});

test('a range is its labels', () => {
  const set = createBitmap(200);
  addBitRange(set, 31, 66);
  const bits = [...bitsNotIn(set, createBitmap(0))];
  assert.deepEqual(
    bits,
    Array.from({ length: 66 }, (_, i) => 31 + i),
  );
});
