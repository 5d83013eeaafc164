import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  earnedPerRequest,
  fullBudget,
  maxSaved,
  noteRequest,
  takeRetry,
} from '../../../src/compute/retries/retry-budget.ts';

test('a full budget gives what is saved, then nothing until more is earned', () => {
  let budget = fullBudget(0);
  for (let i = 0; i < maxSaved; i++) {
    const left = takeRetry(budget, 0);
    assert.ok(left !== null);
    budget = left;
  }
  assert.equal(takeRetry(budget, 999), null);
  assert.deepEqual(takeRetry(budget, 1000), { balance: 0, at: 1000 }, 'a second earns one');
  for (let i = 0; i < 5; i++) budget = noteRequest(budget, 0);
  assert.notEqual(takeRetry(budget, 0), null, 'five requests earn one');
});

test('over any time, retries stay below what was saved plus a fifth of the requests plus one a second', () => {
  const steps = fc.array(fc.record({ ms: fc.nat(2000), requests: fc.nat(5), retries: fc.nat(8) }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (walk) => {
      let [budget, now, requests, retries] = [fullBudget(0), 0, 0, 0];
      for (const step of walk) {
        now += step.ms;
        requests += step.requests;
        for (let i = 0; i < step.requests; i++) budget = noteRequest(budget, now);
        for (let i = 0; i < step.retries; i++) {
          const left = takeRetry(budget, now);
          if (left === null) continue;
          budget = left;
          retries++;
        }
        assert.ok(retries <= maxSaved + earnedPerRequest * requests + now / 1000 + 1e-9);
        assert.ok(budget.balance >= 0 && budget.balance <= maxSaved);
      }
    }),
    { seed: 2 },
  );
});
