import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Semaphore, SemaphoreFullError } from '../../src/threads/semaphore.ts';

/** Who got a place, in order, each giving it back at once. */
function queue(semaphore: Semaphore, owners: readonly string[], signal?: AbortSignal) {
  const served: string[] = [];
  const all = owners.map(async (owner, at) => {
    await semaphore.acquire(signal, owner);
    served.push(`${owner}${at}`);
    semaphore.release();
  });
  return { served, done: Promise.allSettled(all) };
}

test('owners that wait take turns, each first come, first served', async () => {
  const semaphore = new Semaphore(1, 10);
  await semaphore.acquire(undefined, 'first');
  const { served, done } = queue(semaphore, ['a', 'a', 'a', 'b', 'a', 'b', 'c']);
  assert.equal(semaphore.waiting, 7);
  semaphore.release();
  await done;
  assert.deepEqual(served, ['a0', 'b3', 'c6', 'a1', 'b5', 'a2', 'a4']);
  assert.equal(semaphore.waiting, 0);
  await semaphore.acquire(undefined, 'a');
});

test('the bound is each owner’s own, and who gives up makes room', async () => {
  const semaphore = new Semaphore(1, 2);
  await semaphore.acquire(undefined, 'a');
  const giveUp = new AbortController();
  const left = queue(semaphore, ['a'], giveUp.signal);
  const stays = queue(semaphore, ['a', 'b', 'b']);
  await assert.rejects(semaphore.acquire(undefined, 'a'), SemaphoreFullError);
  await assert.rejects(semaphore.acquire(undefined, 'b'), SemaphoreFullError);
  giveUp.abort(new Error('gone'));
  const [{ status }] = await left.done;
  assert.equal(status, 'rejected');
  const late = queue(semaphore, ['a']);
  semaphore.release();
  await Promise.all([stays.done, late.done]);
  assert.deepEqual([...stays.served, ...late.served].sort(), ['a0', 'a0', 'b1', 'b2']);
});

test('when it is closed all who wait and all who come are refused with the reason', async () => {
  const semaphore = new Semaphore(1, 2);
  await semaphore.acquire(undefined, 'a');
  const { served, done } = queue(semaphore, ['a', 'b']);
  semaphore.close(new Error('closed'));
  const seen = (await done).map((each) => each.status === 'rejected' && each.reason.message);
  assert.deepEqual(seen, ['closed', 'closed']);
  await assert.rejects(semaphore.acquire(undefined, 'c'), /closed/);
  assert.deepEqual(served, []);
});
