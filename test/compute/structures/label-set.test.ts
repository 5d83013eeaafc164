import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addLabel,
  addLabelRange,
  createLabelSet,
  hasLabel,
  labelsNotIn,
} from '../../../src/compute/structures/label-set.ts';

const someLabels = fc.uniqueArray(fc.integer({ min: 0, max: 300 }));

test('a label set holds what was added and differs as sets do', () => {
  fc.assert(
    fc.property(someLabels, someLabels, fc.integer({ min: 0, max: 301 }), (labels, others, end) => {
      const set = createLabelSet(301);
      for (const label of labels) addLabel(set, label);
      const other = createLabelSet(end);
      const kept = others.filter((label) => label < end);
      for (const label of kept) addLabel(other, label);
      for (let label = 0; label < 400; label++) assert.equal(hasLabel(set, label), labels.includes(label));
      const expected = labels.filter((label) => !kept.includes(label)).sort((a, b) => a - b);
      assert.deepEqual([...labelsNotIn(set, other)], expected);
    }),
  );
});

test('a range is its labels', () => {
  const set = createLabelSet(200);
  addLabelRange(set, 31, 66);
  assert.deepEqual(
    [...labelsNotIn(set, createLabelSet(0))],
    Array.from({ length: 66 }, (_, i) => 31 + i),
  );
});
