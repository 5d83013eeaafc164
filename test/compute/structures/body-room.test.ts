import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyRoom, type BodyShare } from '../../../src/compute/structures/body-room.ts';

const never = new AbortController().signal;

/** Take, and tell later whether it was granted. */
function taking(share: BodyShare, bytes: number, signal = never) {
  const state = { granted: false };
  const wait = share.take(bytes, signal);
  if (wait === null) state.granted = true;
  else wait.then(() => (state.granted = true)).catch(() => {});
  return state;
}

const settle = () => new Promise(setImmediate);

test('what there is goes to whoever asks; beyond that one body, the first, takes what it needs', async () => {
  const room = new BodyRoom(100);
  const [first, second, third] = [room.enter(), room.enter(), room.enter()];
  assert.equal(first.take(80, never), null);
  assert.equal(first.take(80, never), null); // first now: what it had is free for others
  assert.equal(first.take(10_000, never), null);
  assert.equal(second.take(90, never), null);
  const large = taking(second, 20);
  const small = taking(third, 10);
  assert.deepEqual([large.granted, small.granted], [false, true]);
  first.leave();
  await settle();
  assert.equal(large.granted, true);
  assert.equal(second.take(10_000, never), null); // it is first
  third.leave();
  const fourth = room.enter();
  assert.equal(fourth.take(100, never), null); // all was given back
});

test('whoever waits may leave, and the order is that of asking', async () => {
  const room = new BodyRoom(10);
  const first = room.enter();
  assert.equal(first.take(11, never), null);
  const holder = room.enter();
  assert.equal(holder.take(10, never), null);
  const stop = new AbortController();
  const left = room.enter().take(1, stop.signal);
  const [one, two] = [room.enter(), room.enter()];
  const [ofOne, ofTwo] = [taking(one, 8), taking(two, 8)];
  stop.abort(new Error('left'));
  await assert.rejects(left ?? Promise.resolve(), { message: 'left' });
  holder.leave();
  await settle();
  assert.deepEqual([ofOne.granted, ofTwo.granted], [true, false]);
  first.leave();
  await settle();
  assert.equal(ofTwo.granted, true);
});

test('however bodies come, grow and go, they hold no more than the room and one body, and all come to their end', async () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 30; round++) {
    const capacity = 100 + random(900);
    const greatest = 1000;
    const room = new BodyRoom(capacity);
    let held = 0;
    let most = 0;
    const read = async () => {
      const share = room.enter();
      const end = 1 + random(greatest);
      let size = 0;
      while (size < end) {
        const bytes = Math.min(1 + random(200), end - size);
        await share.take(bytes, never);
        size += bytes;
        held += bytes;
        most = Math.max(most, held);
        if (random(2) === 0) await settle();
      }
      held -= size;
      share.leave();
    };
    await Promise.all(Array.from({ length: 12 }, read));
    assert.equal(held, 0);
    assert.ok(most <= capacity + greatest, `${most} of ${capacity} and ${greatest}`);
  }
});
