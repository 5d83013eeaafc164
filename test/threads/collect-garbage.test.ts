import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { collectGarbage, giveBackMemory } from '../../src/threads/collect-garbage.ts';

const MB = 1e6;

test('shared memory that nothing refers to any more is given back', async () => {
  const kept = new WeakRef(new SharedArrayBuffer(2 ** 20));
  await new Promise(setImmediate); // a weak reference holds until the end of its turn
  collectGarbage();
  assert.equal(kept.deref(), undefined);
});

test('the pages of old objects that are gone are given back', () => {
  const oldSpace = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.physical_space_size ?? Number.NaN;
  giveBackMemory();
  const before = oldSpace(); // also of other tests in this process
  let objects: object[] | undefined = Array.from({ length: 400_000 }, (_, i) => ({
    i,
    text: `${i} of many`,
    list: [i],
  }));
  collectGarbage(); // what lives is old now
  const taken = oldSpace() - before;
  assert.ok(taken > 40 * MB && objects.length > 0, `${taken}`);
  objects = undefined;
  giveBackMemory();
  assert.ok(oldSpace() - before < taken / 2, `${oldSpace() - before} of ${taken}`);
});
