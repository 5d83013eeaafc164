/**
 * The writer's chart: one batch at a time goes into a transaction while the next one gathers. It decides only when; what a
 * batch is and does is the host's `commitBatch`. Writes that come while the queue is full are refused by the host before they
 * get here.
 *
 * idle        nothing waits
 * committing  a batch is in its transaction; writes gather in `queue`
 */
import { assign, fromPromise, setup } from 'xstate';

/**
 * Most records that the commands of one transaction are about, unless one command alone is about more. A transaction is one turn
 * of the event loop, in which nobody else is answered, and a page that comes in takes some 50 µs of it: so this bounds the turn, and
 * how much one commit may lose. At 256 a page took 10 to 20 % more processor time, and fewer were accepted (bench/results/2026-11-search-latency.md).
 */
export const maxBatch = 1024;

export interface WriterContext<Write> {
  /** What is in the transaction now. */
  batch: Write[];
  /** What waits for the next one. */
  queue: Write[];
}

/** `weightOf`: how many records a write is about. */
export function createWriterMachine<Write>(weightOf: (write: Write) => number = () => 1) {
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
      formBatch: assign(({ context: { queue } }) => {
        let count = 0;
        let weight = 0;
        while (count < queue.length) {
          weight += weightOf(queue[count]);
          if (count > 0 && weight > maxBatch) break;
          count++;
        }
        return { batch: queue.slice(0, count), queue: queue.slice(count) };
      }),
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
