import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  earnedPerRequest,
  fullBudget,
  maxSaved,
  noteRequest,
  readRetryAfterMs,
  retryDelayMs,
  takeRetry,
} from '../../src/compute/retries.ts';

const now = Date.UTC(2026, 0, 1, 12);
const inputs = { baseMs: 250, maxMs: 2000, random: 0, retryAfterMs: undefined };

test('the delay doubles up to its maximum, half of it by chance', () => {
  const delays = (random: number) => [1, 2, 3, 4, 5, 99].map((tries) => retryDelayMs({ ...inputs, tries, random }));
  assert.deepEqual(delays(0), [125, 250, 500, 1000, 1000, 1000]);
  assert.deepEqual(delays(0.5), [187.5, 375, 750, 1500, 1500, 1500]);
});

test('a provider that asks for a pause gets it, unless it asks for more than the maximum', () => {
  assert.equal(retryDelayMs({ ...inputs, tries: 1, retryAfterMs: 1500 }), 1500);
  assert.equal(retryDelayMs({ ...inputs, tries: 4, retryAfterMs: 10 }), 1000);
  assert.equal(retryDelayMs({ ...inputs, tries: 1, retryAfterMs: 2000 }), 2000);
  assert.equal(retryDelayMs({ ...inputs, tries: 1, retryAfterMs: 2001 }), null);
});

test('whatever the input, a delay is between what was asked for and the maximum', () => {
  const input = fc.record({
    tries: fc.integer({ min: 1, max: 100 }),
    baseMs: fc.double({ min: 0.001, max: 1e7, noNaN: true }),
    maxMs: fc.double({ min: 0.001, max: 1e7, noNaN: true }),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    retryAfterMs: fc.option(fc.nat(1e8), { nil: undefined }),
  });
  fc.assert(
    fc.property(input, (each) => {
      const delay = retryDelayMs(each);
      if (delay === null) assert.ok((each.retryAfterMs ?? 0) > each.maxMs);
      else assert.ok(delay > 0 && delay >= (each.retryAfterMs ?? 0) && delay <= each.maxMs);
    }),
    { seed: 1 },
  );
});

test('Retry-After is read as seconds or as a date, and what is neither is left out', () => {
  const read = (header: string | null) => readRetryAfterMs(header, now);
  assert.equal(read('7'), 7000);
  assert.equal(read(' 0 '), 0);
  assert.equal(read('1.5'), 1500);
  assert.equal(read('Thu, 01 Jan 2026 12:00:30 GMT'), 30_000);
  assert.equal(read('Thursday, 01-Jan-26 12:00:30 GMT'), 30_000);
  assert.equal(read('Thu, 01 Jan 2026 11:00:00 GMT'), 0, 'a date that has passed');
  for (const far of ['999999999', 'Wed, 21 Oct 2099 07:28:00 GMT']) assert.equal(read(far), 86_400_000, far);
  for (const header of [null, '', 'soon', '-1', '1e3', '2026-01-01', 'Thu, soon', '9'.repeat(400)]) {
    assert.equal(read(header), undefined, `${header}`);
  }
});

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
