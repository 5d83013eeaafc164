/** Turns of hosts, under a clock that the test moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostRateLimiter } from '../../src/providers/host-rate-limiter.ts';
import { HandClock } from './hand-clock.ts';

const never = new AbortController().signal;
const any = Infinity;

test('turns come in the order of asking, one at a time, with a gap; hosts do not wait for each other', async () => {
  const clock = new HandClock();
  const turns = new HostRateLimiter(500, clock);
  const log: string[] = [];
  const visit = async (host: string, name: string) => {
    const endTurn = await turns.take(host, never, any);
    log.push(`${name} at ${clock.monotonic()}`);
    await clock.sleep(100);
    endTurn();
  };
  const all = [visit('a', 'a1'), visit('a', 'a2'), visit('b', 'b1'), visit('a', 'a3')];
  await clock.advance(5000);
  await Promise.all(all);
  assert.deepEqual(log, ['a1 at 1000', 'b1 at 1000', 'a2 at 1600', 'a3 at 2200']);
});

test('whoever gives up waiting leaves the queue', async () => {
  const clock = new HandClock();
  const turns = new HostRateLimiter(500, clock);
  const first = await turns.take('a', never, any);
  const stop = new AbortController();
  const second = turns.take('a', stop.signal, any);
  const third = turns.take('a', never, any);
  stop.abort(new Error('enough'));
  await assert.rejects(second, { message: 'enough' });
  first();
  await clock.advance(500);
  (await third)();
  assert.equal(clock.waiting, 0);
});

test('who would wait behind too many is sent away, each with a time of its own', async () => {
  const clock = new HandClock();
  const turns = new HostRateLimiter(500, clock);
  await turns.take('a', never, 1);
  for (let waiting = 0; waiting < 2; waiting++) void turns.take('a', never, 1);
  const comebacks: number[] = [];
  for (let more = 0; more < 3; more++) {
    await turns.take('a', never, 1).catch((error) => comebacks.push(error.retryAfterMs));
  }
  assert.deepEqual(comebacks, [1500, 2000, 2500]);
});

test('a host that wants to be left alone is, and those who wait are sent away', async () => {
  const clock = new HandClock();
  const turns = new HostRateLimiter(500, clock);
  const endTurn = await turns.take('a', never, any);
  const waiting = assert.rejects(turns.take('a', never, any), { code: 'host_waits', retryAfterMs: 60_000 });
  turns.postpone('a', 60_000);
  await waiting;
  endTurn();
  await clock.advance(30_000);
  await assert.rejects(turns.take('a', never, any), { code: 'host_waits', retryAfterMs: 30_000 });
  await clock.advance(30_000);
  (await turns.take('a', never, any))();
});

test('the table of hosts is bounded', async () => {
  const clock = new HandClock();
  const turns = new HostRateLimiter(500, clock);
  for (let host = 0; host < 5000; host++) (await turns.take(`host-${host}`, never, any))();
  assert.ok(turns.size <= 1000, String(turns.size));
  assert.equal(clock.waiting, 0);
});
