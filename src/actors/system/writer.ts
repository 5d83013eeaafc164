/**
 * The one writer. Commands from everywhere queue here and go into the store batch by batch; each is answered when its commit is
 * on the disk, after the commit feed has told the projections. What may go wrong below it:
 *
 * - The store cannot be written (disk full, say): the batch is refused, nothing of it is stored, and the next one tries again.
 * - The disk does not answer: whoever waits is refused after `flushTimeoutMs`, and whoever comes as well, until it answers. What waited in
 *   the queue is not carried out; the batch that the disk has may be stored, and is told to the projections then.
 * - A flush failed: nobody knows any more what is on the disk, and the system stops (docs/decisions/stop-when-a-flush-fails.md).
 *
 * A command that was refused may have been stored: whoever asked may ask again, as commands are made for that.
 */
import type { Logger } from 'pino';
import { createActor, fromPromise } from 'xstate';
import { DomainError, FatalError, LeaseEndedError } from '../../domain/errors.ts';
import { createWriterMachine } from '../../machines/writer.ts';
import { type Commit, storeUnavailable } from '../../store/commit.ts';
import type { Command, Store } from '../../store/store.ts';
import { isTraced, presentContext, remember } from '../../tracing/span.ts';
import type { CommitFeed, CommitMoment } from './commit-feed.ts';
import type { ServiceHooks, StartService } from './service.ts';

export interface WriterDependencies {
  store: Pick<Store, 'transact' | 'compact' | 'close'>;
  feed: CommitFeed;
  log: Logger;
  /** How long a batch may be on its way to the disk before those who wait are refused. */
  flushTimeoutMs: number;
}

interface Write {
  command: Command<unknown>;
  /** Records that it is about. */
  weight: number;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** Commands that may wait; beyond it writes are refused, so that memory stays bounded when the disk stalls. */
const maxWaiting = 4096;

export function writerService({
  store,
  feed,
  log,
  flushTimeoutMs,
}: WriterDependencies): StartService<'store.commit' | 'store.compact' | 'store.trouble'> {
  const start = async ({ crash }: ServiceHooks) => {
    /** Those who wait for an answer. */
    const waiting = new Set<Write>();
    /** The latest batch's way to the disk and to the projections, and with it that of all before. */
    let toldUpTo: Promise<void> = Promise.resolve();
    /** Batches that the disk has had for too long. */
    const overdue = new Set<Write[]>();
    /** Why the last write was refused. */
    let trouble: string | null = null;
    /** Batches that failed: one that was begun before does not show that the disk works again. */
    let failures = 0;

    const refuse = (writes: Iterable<Write>, error: unknown) => {
      const refused = [...writes];
      if (!(error instanceof LeaseEndedError))
        log.error({ err: error, writes: refused.length }, 'the store could not be written');
      trouble = reasonOf(error);
      for (const write of refused) write.reject(storeUnavailable(error));
      if (error instanceof FatalError) crash(error);
    };

    const fail = (batch: Write[], error: unknown) => {
      failures++;
      refuse(batch, error);
    };

    const flush = async (batch: Write[]) => {
      const failuresBefore = failures;
      const late = setTimeout(() => {
        overdue.add(batch);
        refuse(waiting, new Error(`the disk has not answered for ${flushTimeoutMs} ms`));
      }, flushTimeoutMs).unref(); // whose end comes first has nobody left to refuse
      const settled = () => {
        clearTimeout(late);
        overdue.delete(batch);
      };
      try {
        const commit = await store.transact(batch.map(({ command }) => command));
        publish('visible', commit);
        toldUpTo = answerFlushed(commit, { batch, failuresBefore, before: toldUpTo }).finally(settled);
      } catch (error) {
        settled();
        fail(batch, error);
      }
    };

    const publish = (moment: CommitMoment, { steps }: Commit) => {
      for (const { opstamp, changes } of steps) {
        for (const err of feed.publish(moment, { opstamp, ...changes })) {
          log.error({ err }, 'a listener of the commit feed failed');
        }
      }
    };

    const answerFlushed = async (
      commit: Commit,
      { batch, failuresBefore, before }: { batch: Write[]; failuresBefore: number; before: Promise<void> },
    ) => {
      const failure = await commit.flushed.then(
        () => null,
        (error: unknown) => ({ error }),
      );
      // Each flush has a thread of its own, and a later one, which covers the earlier, may be heard of first.
      await before;
      if (failure !== null) return fail(batch, failure.error);
      publish('durable', commit);
      if (failures === failuresBefore) trouble = null;
      commit.results.forEach((result, index) => {
        if (result.ok) batch[index].resolve(result.reply);
        else batch[index].reject(result.error);
      });
    };

    const commitBatch = async (taken: Write[]) => {
      const batch = taken.filter((write) => waiting.has(write));
      if (batch.length > 0) await flush(batch);
    };

    const machine = createWriterMachine<Write>(({ weight }) => weight).provide({
      actors: { commitBatch: fromPromise<void, Write[]>(({ input }) => commitBatch(input)) },
    });
    const actor = createActor(machine).start();

    const commit = (command: Command<unknown>, weight: number): Promise<unknown> => {
      if (overdue.size > 0) throw storeUnavailable(new Error('the disk does not answer'));
      if (waiting.size >= maxWaiting) {
        throw new DomainError('overloaded', 'too many writes are waiting', { retryAfterS: 1 });
      }
      return new Promise<unknown>((resolve, reject) => {
        const answer =
          <Value>(settle: (value: Value) => void) =>
          (value: Value) => {
            waiting.delete(write);
            settle(value);
          };
        const traced = isTraced() ? remembering(command) : command;
        const write: Write = { command: traced, weight, resolve: answer(resolve), reject: answer(reject) };
        waiting.add(write);
        actor.send({ type: 'write', write });
      });
    };

    return {
      handlers: {
        'store.commit': ({ command, weight }: { command: Command<unknown>; weight: number }) => commit(command, weight),
        'store.compact': () => store.compact(),
        'store.trouble': () => {
          const said = trouble;
          if (said !== null && waiting.size === 0 && overdue.size === 0) {
            commit(() => undefined, 0).catch(() => {}); // its failure is logged, and is the next answer
          }
          return said;
        },
      },
      stop: async () => {
        await toldUpTo;
        actor.stop();
        await store.close();
      },
    };
  };
  return start;
}

/** The innermost reason, in which the operating system says what is wrong. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}

/** A command whose new jobs belong to the trace in which it was asked for. */
function remembering(command: Command<unknown>): Command<unknown> {
  const within = presentContext();
  return (transaction) => {
    const from = transaction.jobs.changed.length;
    const reply = command(transaction);
    const fresh = transaction.jobs.changed
      .slice(from)
      .filter(({ attempts, status }) => attempts === 0 && status === 'pending');
    within(() => {
      for (const { no } of fresh) remember(`job ${no}`);
    });
    return reply;
  };
}
