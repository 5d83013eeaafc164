/**
 * The writer's chart: one batch at a time goes into a transaction while the next one gathers. It decides only when; what a
 * batch is and does is the host's `commitBatch`. Writes that come while the queue is full are refused by the host before they
 * get here.
 *
 * idle        nothing waits
 * committing  a batch is in its transaction; writes gather in `queue`
 */
import { assign, fromPromise, setup } from 'xstate';

/** Most commands in one transaction: bounds how long the write lock is held and how much one commit may lose. */
export const maxBatch = 256;

export interface WriterContext<Write> {
  /** What is in the transaction now. */
  batch: Write[];
  /** What waits for the next one. */
  queue: Write[];
}

export function createWriterMachine<Write>() {
  return setup({
    types: {
      context: {} as WriterContext<Write>,
      events: {} as { type: 'write'; write: Write },
    },
    actors: {
      /** Resolves when the batch is committed (not yet flushed); rejects never: failures belong to the writes. */
      commitBatch: fromPromise<void, Write[]>(() => Promise.reject(new Error('the host provides commitBatch'))),
    },
    actions: {
      enqueue: assign({ queue: ({ context, event }) => [...context.queue, event.write] }),
      formBatch: assign(({ context }) => ({
        batch: context.queue.slice(0, maxBatch),
        queue: context.queue.slice(maxBatch),
      })),
    },
    guards: { queueIsEmpty: ({ context }) => context.queue.length === 0 },
  }).createMachine({
    id: 'writer',
    context: { batch: [], queue: [] },
    initial: 'idle',
    states: {
      idle: { on: { write: { target: 'committing', actions: 'enqueue' } } },
      committing: {
        entry: 'formBatch',
        invoke: { src: 'commitBatch', input: ({ context }) => context.batch, onDone: 'next' },
        on: { write: { actions: 'enqueue' } },
      },
      next: { always: [{ guard: 'queueIsEmpty', target: 'idle' }, { target: 'committing' }] },
    },
  });
}
