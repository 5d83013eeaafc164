import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Background, inParts, untilDone } from '../../../src/actors/system/background.ts';
import { deferred } from '../../deferred.ts';
import { keptLog } from '../quiet-log.ts';

/** A background whose clocks are ticked by hand. */
function started() {
  const { log, lines } = keptLog();
  const ticks: (() => void)[] = [];
  const stopped: number[] = [];
  const background = new Background(log, (ms, run) => {
    ticks.push(run);
    return () => void stopped.push(ms);
  });
  return { background, ticks, stopped, lines };
}

test('steps are done one after the other; one that fails is told and hinders no other', async () => {
  const { background, lines } = started();
  const done: unknown[] = [];
  const gate = deferred();
  background.soon('one failed', async () => {
    await gate.promise;
    done.push('one');
    throw new Error('of the test');
  });
  background.soon('two failed', async () => done.push('two'));
  await new Promise(setImmediate);
  assert.equal(done.length, 0);
  const stopped = background.stop();
  gate.resolve();
  await stopped;
  assert.deepEqual(done, ['one'], 'what has not begun at the stop is not begun');
  assert.deepEqual(lines, [], 'nor is told what a stop may have broken');

  const other = started();
  other.background.soon('it failed', () => Promise.reject(new Error('of the test')));
  other.background.soon('unused', async () => done.push('three'));
  await new Promise(setImmediate);
  await other.background.stop();
  assert.deepEqual(done, ['one', 'three']);
  assert.equal(other.lines.map(({ msg }) => msg).join(), 'it failed');
});

test('a clock has a step done once for each tick, and not twice where it waits', async () => {
  const { background, ticks, stopped } = started();
  let count = 0;
  background.every(60_000, 'unused', async () => void count++);
  const [tick] = ticks;
  for (let i = 0; i < 3; i++) tick();
  await new Promise(setImmediate);
  assert.equal(count, 1);
  tick();
  await new Promise(setImmediate);
  assert.equal(count, 2);
  await background.stop();
  assert.deepEqual(stopped, [60_000]);
  tick();
  await new Promise(setImmediate);
  assert.equal(count, 2);
});

test('slices go on until one gives null, or the stop', async () => {
  const { background } = started();
  const seen: number[] = [];
  await background.slices(0, async (from: number) => {
    seen.push(from);
    return from < 3 ? from + 1 : null;
  });
  assert.deepEqual(seen, [0, 1, 2, 3]);
  background.soon('unused', () =>
    background.slices(0, async (from: number) => {
      if (from === 2) void background.stop();
      seen.push(from);
      return from + 1;
    }),
  );
  while (!background.isStopping) await new Promise(setImmediate);
  await background.stop();
  assert.deepEqual(seen, [0, 1, 2, 3, 0, 1, 2]);
});

test('failing work is repeated until it succeeds or the service ends', async () => {
  const failures: unknown[] = [];
  const ending = new AbortController();
  const options = { ending: ending.signal, retryMs: 1, onFailure: (error: unknown) => failures.push(error) };
  let tries = 0;
  await untilDone(async () => {
    if (++tries < 3) throw new Error(`of try ${tries}`);
  }, options);
  assert.deepEqual([tries, failures.map(String)], [3, ['Error: of try 1', 'Error: of try 2']]);

  const endless = untilDone(() => Promise.reject(new Error('of the test')), {
    ...options,
    retryMs: 1e9,
    onFailure: () => ending.abort(),
  });
  await endless;
  await untilDone(() => assert.fail('nothing is begun after the end'), options);
});

test('a long list is read in parts, each after the last of the one before, until a signal', async () => {
  const read = (after: number) => [1, 2, 3, 4, 5].filter((no) => no > after).slice(0, 2);
  const parts: number[][] = [];
  for await (const part of inParts(read, Number)) parts.push(part);
  assert.deepEqual(parts, [[1, 2], [3, 4], [5]]);

  const stop = new AbortController();
  const aborted = async () => {
    for await (const _ of inParts(read, Number, { signal: stop.signal })) stop.abort(new Error('of the test'));
  };
  await assert.rejects(aborted, /of the test/);
});
