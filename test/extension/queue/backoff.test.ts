import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs, retryAfterMs } from '../../../extension/src/queue/backoff.ts';

test('waits double up to half an hour, spread over their upper half', () => {
  assert.deepEqual(
    [1, 2, 3, 6, 7, 100].map((failures) => backoffMs(failures, null, 1)),
    [30_000, 60_000, 120_000, 960_000, 1_800_000, 1_800_000],
  );
  assert.equal(backoffMs(1, null, 0), 15_000);
  assert.equal(backoffMs(100, null, 0), 900_000);
});

test('what the service asks for is the least, up to a day', () => {
  assert.equal(backoffMs(1, 120_000, 1), 120_000);
  assert.equal(backoffMs(3, 1000, 1), 120_000);
  assert.equal(backoffMs(1, 10 ** 12, 1), 24 * 3600_000);
});

test('Retry-After is seconds or a date', () => {
  const now = Date.parse('2026-03-01T10:00:00Z');
  assert.equal(retryAfterMs('7', now), 7000);
  assert.equal(retryAfterMs('Sun, 01 Mar 2026 10:01:00 GMT', now), 60_000);
  assert.equal(retryAfterMs('Sun, 01 Mar 2026 09:00:00 GMT', now), 0);
  for (const none of [null, '', 'soon', '1e3']) assert.equal(retryAfterMs(none, now), null, String(none));
});
