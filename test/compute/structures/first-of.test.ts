import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstOf } from '../../../src/compute/structures/first-of.ts';

test('the first of a list are those of the list sorted', () => {
  const items = fc.uniqueArray(fc.nat(1000), { maxLength: 60 });
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 70 }), (given, count) => {
      // Equal remainders are in the order of the numbers.
      const key = (item: number) => item % 7;
      const before = (a: number, b: number) => key(a) < key(b) || (key(a) === key(b) && a < b);
      const sorted = [...given].sort((a, b) => key(a) - key(b) || a - b);
      assert.deepEqual(firstOf(given, count, before), sorted.slice(0, count));
    }),
  );
});
