import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopShare } from '../../src/http/loop-share.ts';

const loopTurn = () => new Promise(setImmediate);

test('requests of one turn of the loop begin until their share is spent; the next begin one a turn, in order', async () => {
  let now = 0;
  const share = new LoopShare(() => now);
  const began: number[] = [];
  const ask = async (no: number, takesMs: number) => {
    const turn = share.turn();
    if (turn !== null) await turn;
    began.push(no);
    now += takesMs;
  };
  const asked = [ask(1, 4), ask(2, 4), ask(3, 4), ask(4, 20), ask(5, 20)];
  assert.deepEqual(began, [1, 2, 3]);
  await loopTurn();
  asked.push(ask(6, 20));
  assert.deepEqual(began, [1, 2, 3, 4]);
  await loopTurn();
  assert.deepEqual(began, [1, 2, 3, 4, 5]);
  await Promise.all(asked);
  assert.deepEqual(began, [1, 2, 3, 4, 5, 6]);
  await loopTurn();
  assert.equal(share.turn(), null, 'a new turn has its share');
});
