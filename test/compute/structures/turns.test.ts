import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from '../../../src/compute/structures/turns.ts';

test('pieces of work are done one after another, in the order in which they were asked for', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  let endFirst = () => {};
  const first = new Promise<void>((resolve) => {
    endFirst = resolve;
  });
  const results = [
    turns.run(async () => {
      seen.push('first begins');
      await first;
      seen.push('first ends');
      return 1;
    }),
    turns.run(async () => {
      seen.push('second');
      return 2;
    }),
  ];
  await new Promise(setImmediate);
  assert.deepEqual(seen, ['first begins']);
  endFirst();
  assert.deepEqual(await Promise.all(results), [1, 2]);
  assert.deepEqual(seen, ['first begins', 'first ends', 'second']);
});

test('a piece that fails is told to the one who asked, and the next has its turn', async () => {
  const turns = new Turns();
  const failed = turns.run(() => Promise.reject(new Error('no room')));
  const next = turns.run(async () => 'done');
  await assert.rejects(failed, /^Error: no room$/);
  assert.equal(await next, 'done');
});

test('they have ended when the last that was asked for has, well or not', async () => {
  const turns = new Turns();
  await turns.ended();
  let fail = (_: Error) => {};
  const work = new Promise<void>((_, reject) => {
    fail = reject;
  });
  const failed = turns.run(() => work);
  let ended = false;
  const all = turns.ended().then(() => {
    ended = true;
  });
  await new Promise(setImmediate);
  assert.equal(ended, false);
  fail(new Error('too late'));
  await all;
  await assert.rejects(failed, /too late/);
});
