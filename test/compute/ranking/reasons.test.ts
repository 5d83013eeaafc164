import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearnessReason, nearResultsReason } from '../../../src/compute/ranking/reasons.ts';

test('nearness has words', () => {
  assert.deepEqual([1, 0.75, 0.74, 0.5, 0.49].map(nearnessReason), [
    'very close in content',
    'very close in content',
    'close in content',
    'close in content',
    'related in content',
  ]);
});

test('the results that a suggestion is near to are named, long names cut', () => {
  assert.equal(nearResultsReason(['A']), 'near in content to “A”');
  assert.equal(nearResultsReason(['A', 'B']), 'near in content to “A” and “B”');
  assert.equal(nearResultsReason(['A', 'B', 'C']), 'near in content to “A”, “B” and “C”');
  assert.equal(nearResultsReason(['x'.repeat(81)]), `near in content to “${'x'.repeat(80)}…”`);
});
