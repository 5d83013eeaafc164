import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActor, fromPromise } from 'xstate';
import { createWriterMachine, maxBatch } from '../../src/machines/writer.ts';

/** A running writer whose batches are committed one at a time, when the test says so. */
function startWriter(weightOf?: (write: number) => number) {
  const batches: number[][] = [];
  let commit: (() => void) | undefined;
  const machine = createWriterMachine<number>(weightOf).provide({
    actors: {
      commitBatch: fromPromise<void, number[]>(({ input }) => {
        batches.push(input);
        return new Promise((resolve) => {
          commit = resolve;
        });
      }),
    },
  });
  const actor = createActor(machine).start();
  return {
    batches,
    write: (...writes: number[]) => {
      for (const write of writes) actor.send({ type: 'write', write });
    },
    committed: async () => {
      commit?.();
      await new Promise(setImmediate);
    },
    state: () => {
      const { value, context } = actor.getSnapshot();
      return [value, context.queue];
    },
  };
}

test('a write that finds nothing in the way is committed at once; those that come meanwhile are the next batch', async () => {
  const writer = startWriter();
  assert.deepEqual(writer.state(), ['idle', []]);
  writer.write(1);
  writer.write(2, 3);
  assert.deepEqual(writer.batches, [[1]]);
  assert.deepEqual(writer.state(), ['committing', [2, 3]]);
  await writer.committed();
  assert.deepEqual(writer.batches, [[1], [2, 3]]);
  writer.write(4);
  await writer.committed();
  await writer.committed();
  assert.deepEqual(writer.batches, [[1], [2, 3], [4]]);
  assert.deepEqual(writer.state(), ['idle', []]);
});

test('a batch is bounded, and no write is lost, doubled or put out of order', async () => {
  const writer = startWriter();
  const writes = Array.from({ length: 2 * maxBatch + 3 }, (_, index) => index);
  writer.write(...writes);
  while (writer.state()[0] !== 'idle') await writer.committed();
  assert.deepEqual(
    writer.batches.map(({ length }) => length),
    [1, maxBatch, maxBatch, 2],
  );
  assert.deepEqual(writer.batches.flat(), writes);
});

test('commands of many records share no transaction with others that would make it long; a longer one goes alone', async () => {
  const writer = startWriter((write) => write);
  const writes = [1, maxBatch - 2, 1, 1, 1, maxBatch * 2, 1, maxBatch];
  writer.write(...writes);
  while (writer.state()[0] !== 'idle') await writer.committed();
  assert.deepEqual(writer.batches, [[1], [maxBatch - 2, 1, 1], [1], [maxBatch * 2], [1], [maxBatch]]);
});
