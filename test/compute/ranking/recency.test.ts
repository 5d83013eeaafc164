import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { recencyFactor } from '../../../src/compute/ranking/roll-up-pages.ts';

const day = 86_400_000;

test('a score halves with every half-life and is whole for a page seen now or later', () => {
  assert.equal(recencyFactor(100 * day, 100 * day, 30), 1);
  assert.equal(recencyFactor(70 * day, 100 * day, 30), 0.5);
  assert.equal(recencyFactor(40 * day, 100 * day, 30), 0.25);
  assert.equal(recencyFactor(101 * day, 100 * day, 30), 1);
  assert.equal(recencyFactor(99.5 * day, 100 * day, 0.25), 0.25);
});

test('the factor is within (0, 1] up to what a double can hold, and never rises with age', () => {
  const age = fc.integer({ min: 0, max: 20_000 * day });
  fc.assert(
    fc.property(age, age, fc.double({ min: 0.01, max: 1e6, noNaN: true }), (one, other, halfLife) => {
      const now = 30_000 * day;
      const [younger, older] = [Math.min(one, other), Math.max(one, other)].map((ms) =>
        recencyFactor(now - ms, now, halfLife),
      );
      assert.ok(older <= younger && younger <= 1 && older >= 0);
    }),
  );
});
