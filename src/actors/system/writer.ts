/**
 * The single writer. Commits queued commands in batches, and answers each when it is durable and projections are
 * updated. If the store cannot be written (disk full), the batch is refused. If the disk does not answer within
 * `flushTimeoutMs`, waiting and new commands are refused until it does; the running batch may still be stored. If a
 * flush fails, the system stops (docs/decisions/stop-when-a-flush-fails.md). A refused command may have been stored;
 * callers may retry, as commands are idempotent.
 */

import { isTraced, presentContext, remember } from '../../compute/span.ts';
import { DomainError, FatalError, LeaseEndedError } from '../../domain/errors.ts';
import { type Commit, storeUnavailable } from '../../store/commit.ts';
import type { Command, Store } from '../../store/store.ts';
import { type CommitMoment, type LibraryParts, maxBatch, type ServiceHooks, type StartService } from './service.ts';

interface WriterDependencies extends Pick<LibraryParts, 'feed' | 'log'> {
  store: Pick<Store, 'transact' | 'compact' | 'close'>;
  /** Max duration of a flush before waiting commands are refused. */
  flushTimeoutMs: number;
}

interface Write {
  command: Command<unknown>;
  weight: number;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** Max waiting commands. Refusing more bounds the memory when the disk stalls. */
const maxWaiting = 4096;

/** How many of the first waiting commands share the next transaction. */
export function batchLength(queue: readonly { weight: number }[]): number {
  let sum = 0;
  const end = queue.findIndex(({ weight }, at) => {
    sum += weight;
    return at > 0 && sum > maxBatch;
  });
  return end < 0 ? queue.length : end;
}

export function writerService({
  store,
  feed,
  log,
  flushTimeoutMs,
}: WriterDependencies): StartService<'store.commit' | 'store.compact' | 'store.trouble'> {
  const start = async ({ crash }: ServiceHooks) => {
    const waiting = new Set<Write>();
    /** Resolves when the latest batch, and so every earlier one, is durable and published. */
    let toldUpTo: Promise<void> = Promise.resolve();
    const overdue = new Set<Write[]>();
    let trouble: string | null = null;
    /** Number of failed batches: an older batch in flight does not prove that the disk works again. */
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
      }, flushTimeoutMs).unref(); // if the flush has ended, no command is left to refuse
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
      // Flushes are concurrent: a later one, which includes the earlier, may end first.
      await before;
      if (failure !== null) return fail(batch, failure.error);
      publish('durable', commit);
      if (failures === failuresBefore) trouble = null;
      commit.results.forEach((result, index) => {
        if (result.ok) batch[index].resolve(result.reply);
        else batch[index].reject(result.error);
      });
    };

    const queue: Write[] = [];
    let isCommitting = false;
    /** Runs one transaction at a time. Meanwhile, commands gather in `queue`. */
    const commitQueued = async () => {
      if (isCommitting) return;
      isCommitting = true;
      while (queue.length > 0) {
        const batch = queue.splice(0, batchLength(queue));
        const wanted = batch.filter((write) => waiting.has(write));
        if (wanted.length > 0) await flush(wanted);
      }
      isCommitting = false;
    };

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
        queue.push(write);
        void commitQueued();
      });
    };

    return {
      handlers: {
        'store.commit': ({ command, weight }: { command: Command<unknown>; weight: number }) => commit(command, weight),
        'store.compact': () => store.compact(),
        'store.trouble': () => {
          const said = trouble;
          if (said !== null && waiting.size === 0 && overdue.size === 0) {
            commit(() => undefined, 0).catch(() => {}); // a failure is logged, and returned by the next call
          }
          return said;
        },
      },
      stop: async () => {
        await toldUpTo;
        queue.length = 0;
        await store.close();
      },
    };
  };
  return start;
}

/** The innermost cause, which comes from the operating system. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}

/** New jobs belong to the caller's trace. */
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
