import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BreakerOpenError, type CallParts, ProviderError, resilientCall } from '../../src/providers/resilient-call.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import { HandClock } from './hand-clock.ts';

const retry = { attempts: 3, baseDelayMs: 250, maxDelayMs: 2000 };

function setup(changes: Partial<CallParts> = {}, failureThreshold = 5) {
  const clock = new HandClock();
  const { breakers } = runBreakers({ failureThreshold, cooldownMs: 30_000 }, () => clock.monotonic());
  const parts = { provider: 'p', breaker: breakers.of('p'), retry, timeoutMs: 15_000, clock, random: () => 0.5 };
  return { clock, breakers, call: resilientCall({ ...parts, ...changes }) };
}

const down = (retryAfterMs?: number) => new ProviderError('p', 'busy', 'answered 429', { status: 429, retryAfterMs });

/** Follow a call; `calls` are the times at which it was tried. */
function tried(clock: HandClock, outcome: () => Promise<string>) {
  const calls: number[] = [];
  const attempt = async () => {
    calls.push(clock.monotonic());
    return outcome();
  };
  return { calls, attempt };
}

test('a call that fails is tried three times with pauses that grow, and its last error is the caller’s', async () => {
  const { clock, call } = setup();
  const { calls, attempt } = tried(clock, () => Promise.reject(down()));
  const failed = assert.rejects(call(attempt), { code: 'busy', status: 429 });
  await clock.advance(10_000);
  await failed;
  assert.deepEqual(calls, [1000, 1187.5, 1562.5]);
  assert.equal(clock.waiting, 0, 'no timer is left behind');
});

test('a call that succeeds at its second try is a success', async () => {
  const { clock, call, breakers } = setup();
  const { calls, attempt } = tried(clock, async () => {
    if (calls.length < 2) throw down();
    return 'yes';
  });
  const result = call(attempt);
  await clock.advance(1000);
  assert.equal(await result, 'yes');
  assert.deepEqual(breakers.states(), [{ name: 'p', state: 'closed' }]);
});

test('a pause that the provider asks for is kept, and one above the maximum ends the call', async () => {
  const { clock, call } = setup();
  const short = tried(clock, () => Promise.reject(down(1500)));
  const long = tried(clock, () => Promise.reject(down(60_000)));
  const failed = assert.rejects(call(short.attempt), { retryAfterMs: 1500 });
  await clock.advance(10_000);
  await failed;
  assert.deepEqual(short.calls, [1000, 2500, 4000]);
  await assert.rejects(call(long.attempt), { code: 'busy', retryAfterMs: 60_000 });
  assert.equal(long.calls.length, 1);
});

test('a refusal, a wrong answer and a bug are not tried again', async () => {
  const { clock, call } = setup();
  for (const error of [
    new ProviderError('p', 'refused', 'answered 400'),
    new ProviderError('p', 'unauthorized', 'answered 401'),
    new ProviderError('p', 'bad_answer', 'unusable vectors'),
    new ProviderError('p', 'too_large', 'too large'),
    new RangeError('a bug'),
  ]) {
    const { calls, attempt } = tried(clock, () => Promise.reject(error));
    await assert.rejects(call(attempt), error);
    assert.equal(calls.length, 1);
  }
});

test('a try that takes too long is ended, its signal fires, and a late answer changes nothing', async () => {
  const { clock, call, breakers } = setup({ retry: { ...retry, attempts: 1 } }, 1);
  let resolve = (_: string) => {};
  const promise = new Promise<string>((settle) => {
    resolve = settle;
  });
  const signals: AbortSignal[] = [];
  const failed = assert.rejects(
    call((signal) => {
      signals.push(signal);
      return promise;
    }),
    { code: 'timeout', message: 'provider p: no answer within 15000 ms' },
  );
  await clock.advance(14_999);
  assert.equal(signals[0].aborted, false);
  await clock.advance(1);
  await failed;
  assert.equal(signals[0].aborted, true);
  resolve('late');
  await clock.advance(1);
  assert.deepEqual(breakers.states(), [{ name: 'p', state: 'open' }]);
});

test('a deadline shortens the last try, and a pause that it would not outlast is not begun', async () => {
  const hanging = setup();
  const hang = tried(hanging.clock, () => new Promise(() => {}));
  const late = assert.rejects(hanging.call(hang.attempt, { deadlineMs: 20_000 }), { code: 'timeout' });
  await hanging.clock.advance(20_000);
  await late;
  assert.deepEqual(hang.calls, [1000, 16_187.5], 'the second try had 4.8 s');

  const { clock, call } = setup();
  const { calls, attempt } = tried(clock, () => Promise.reject(down()));
  await assert.rejects(call(attempt, { deadlineMs: 187 }), { code: 'busy' });
  assert.equal(calls.length, 1);
  await assert.rejects(call(attempt, { deadlineMs: 0 }), { code: 'timeout' });
  assert.equal(calls.length, 1, 'no time, no try');
});

test('a caller that leaves ends a try or a pause at once, and the breaker learns nothing from it', async () => {
  const { clock, call, breakers } = setup({}, 1);
  const leaving = new AbortController();
  const trying = assert.rejects(
    call(() => new Promise(() => {}), { signal: leaving.signal }),
    { message: 'gone' },
  );
  await clock.advance(10);
  leaving.abort(new Error('gone'));
  await trying;
  assert.deepEqual(breakers.states(), [{ name: 'p', state: 'closed' }]);
  assert.equal(clock.waiting, 0);
  await assert.rejects(
    call(async () => 'x', { signal: leaving.signal }),
    { message: 'gone' },
  );

  const waiting = setup();
  const pausing = new AbortController();
  const { calls, attempt } = tried(waiting.clock, () => Promise.reject(down()));
  const paused = assert.rejects(waiting.call(attempt, { signal: pausing.signal }), { message: 'gone' });
  await waiting.clock.advance(100);
  pausing.abort(new Error('gone'));
  await paused;
  assert.equal(calls.length, 1);
  assert.equal(waiting.clock.waiting, 0);
});

test('an open breaker ends the retries of every call under way', async () => {
  const { clock, call } = setup();
  const calls: number[] = [];
  const outcomes = Array.from({ length: 5 }, () =>
    call(async () => {
      calls.push(clock.monotonic());
      throw down();
    }).catch((error: unknown) => error),
  );
  await clock.advance(5000);
  for (const outcome of await Promise.all(outcomes)) assert.ok(outcome instanceof BreakerOpenError);
  assert.equal(calls.length, 5);
});

test('when three of four calls fail, retries stay within a fifth of the requests, one a second and what was saved', async () => {
  const { clock, call, breakers } = setup();
  let calls = 0;
  const outcomes: Promise<unknown>[] = [];
  for (let request = 0; request < 1000; request++) {
    const outcome = call(async () => {
      if (++calls % 4 !== 0) throw down();
    });
    outcomes.push(outcome.catch((error) => assert.equal(error.code, 'busy')));
    await clock.advance(20);
  }
  await clock.advance(5000);
  await Promise.all(outcomes);
  const seconds = (clock.monotonic() - 1000) / 1000;
  assert.ok(calls - 1000 <= 0.2 * 1000 + seconds + 10, `${calls} calls in ${seconds} s`);
  assert.ok(calls - 1000 > 0.2 * 1000, `${calls} calls: the budget is used`);
  assert.deepEqual(breakers.states(), [{ name: 'p', state: 'closed' }]);
});

/** Check C31: the provider is down for a minute and a half; 500 searches come, 200 index jobs come back until they are done. */
test('a provider that is down gets at most 1.2 calls a request until the breaker opens, then only probes', async (t) => {
  const { clock, call, breakers } = setup();
  const state = () => breakers.states()[0]?.state ?? 'closed';
  let up = false;
  const before = { requests: 0, calls: 0 };
  const callsWhileOpen: number[] = [];
  let callsAfterwards = 0;
  const request = () => {
    if (state() === 'closed' && !up) before.requests++;
    return call(async () => {
      if (up) callsAfterwards++;
      else if (state() === 'half_open') callsWhileOpen.push(clock.monotonic());
      else before.calls++;
      await clock.sleep(20);
      if (!up) throw new ProviderError('p', 'unreachable', 'cannot be reached (ECONNREFUSED)');
    });
  };

  let degraded = 0;
  const search = () => request().catch(() => degraded++);
  let done = 0;
  let attemptsCounted = 0;
  const job = async (no: number) => {
    await clock.sleep((no % 16) * 5);
    for (;;) {
      try {
        await request();
        done++;
        return;
      } catch (error) {
        if (!(error instanceof BreakerOpenError)) attemptsCounted++;
        await clock.sleep(error instanceof BreakerOpenError ? error.retryAfterMs : 2000);
      }
    }
  };

  const jobs = Array.from({ length: 200 }, (_, no) => job(no));
  for (let second = 0; second < 90; second++) {
    for (let i = 0; i < 10 && degraded + i < 500; i++) void search();
    await clock.advance(1000);
  }
  assert.equal(degraded, 500);
  t.diagnostic(
    `${before.calls} calls for ${before.requests} requests until open, ${callsWhileOpen.length} probes in 90 s`,
  );
  assert.ok(before.calls <= 1.2 * before.requests, `${before.calls} calls for ${before.requests} requests`);
  assert.ok(before.calls < 100, `${before.calls} calls before the breaker opened`);
  const probes = callsWhileOpen.length;
  assert.ok(probes === 2 || probes === 3, `${probes} probes in 90 s`);
  for (let i = 1; i < probes; i++) assert.ok(callsWhileOpen[i] - callsWhileOpen[i - 1] >= 30_000);
  assert.ok(attemptsCounted <= before.calls + probes, 'jobs that the breaker refused lost no attempt');

  up = true;
  await clock.advance(60_000);
  await Promise.all(jobs);
  assert.equal(done, 200);
  assert.equal(callsAfterwards, 200, 'each job made one call');
});
