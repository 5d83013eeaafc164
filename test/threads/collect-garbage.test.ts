import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectGarbage } from '../../src/threads/collect-garbage.ts';

test('shared memory that nothing refers to any more is given back', async () => {
  const kept = new WeakRef(new SharedArrayBuffer(2 ** 20));
  await new Promise(setImmediate); // a weak reference holds until the end of its turn
  collectGarbage();
  assert.equal(kept.deref(), undefined);
});
