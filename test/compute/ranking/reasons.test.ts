import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearnessReason, nearResultReason } from '../../../src/compute/ranking/reasons.ts';

test('nearness has words', () => {
  assert.deepEqual([1, 0.75, 0.74, 0.5, 0.49].map(nearnessReason), [
    'very close in content',
    'very close in content',
    'close in content',
    'close in content',
    'related in content',
  ]);
});

test('the result that a suggestion is near to is named, a long name cut, and what both mention', () => {
  assert.equal(nearResultReason('A', []), 'close to “A”');
  assert.equal(nearResultReason('A', ['Watt', 'Boulton']), 'mentions Watt and Boulton, as “A” does');
  assert.equal(nearResultReason('x'.repeat(41), []), `close to “${'x'.repeat(40)}…”`);
});
