/**
 * The one writer. Commands from everywhere queue here and go into the store batch by batch; each is answered when its commit is
 * on the disk, after the commit feed has told the projections. A store that cannot be written (disk full, say) refuses the
 * batch's commands; reads go on, and the next batch tries again. A command that was refused at the flush may have been stored:
 * whoever asked may ask again, as commands are made for that.
 */

import type { Logger } from 'pino';
import { createActor, fromPromise } from 'xstate';
import { DomainError } from '../domain/errors.ts';
import { createWriterMachine } from '../machines/writer.ts';
import { type Command, type Store, storeUnavailable } from '../store/store.ts';
import { isTraced, presentContext, remember } from '../tracing/span.ts';
import type { CommitFeed } from './commit-feed.ts';
import { type ServiceHooks, serviceLogic } from './service.ts';

export interface WriterDependencies {
  store: Pick<Store, 'transact' | 'compact' | 'close'>;
  feed: CommitFeed;
  log: Logger;
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

export function writerLogic({ store, feed, log }: WriterDependencies) {
  const start = async (_hooks: ServiceHooks) => {
    let waiting = 0;
    const flushes = new Set<Promise<void>>();

    const commitBatch = async (batch: Write[]) => {
      try {
        const commit = await store.transact(batch.map((write) => write.command));
        const tell = () => {
          for (const { opstamp, changes } of commit.steps) {
            for (const err of feed.publish({ opstamp, ...changes })) {
              log.error({ err }, 'a listener of the commit feed failed');
            }
          }
        };
        const answered = commit.flushed.then(
          () => {
            tell();
            commit.results.forEach((result, index) => {
              if (result.ok) batch[index].resolve(result.reply);
              else batch[index].reject(result.error);
            });
          },
          (error) => {
            // Readers see the rows, which only a power cut could undo now, so the projections have to as well.
            tell();
            refuse(batch, error);
          },
        );
        flushes.add(answered);
        void answered.finally(() => flushes.delete(answered));
      } catch (error) {
        refuse(batch, error);
      }
    };
    const refuse = (batch: Write[], error: unknown) => {
      log.error({ err: error, writes: batch.length }, 'the store could not be written');
      const refusal = storeUnavailable(error);
      for (const write of batch) write.reject(refusal);
    };

    const machine = createWriterMachine<Write>(({ weight }) => weight).provide({
      actors: { commitBatch: fromPromise<void, Write[]>(({ input }) => commitBatch(input)) },
    });
    const actor = createActor(machine).start();

    return {
      handlers: {
        'store.commit': ({ command, weight }: { command: Command<unknown>; weight: number }) => {
          if (waiting >= maxWaiting) {
            throw new DomainError('overloaded', 'too many writes are waiting', { retryAfterS: 1 });
          }
          waiting++;
          return new Promise<unknown>((resolve, reject) => {
            const write = { command: isTraced() ? remembering(command) : command, weight, resolve, reject };
            actor.send({ type: 'write', write });
          }).finally(() => waiting--);
        },
        'store.compact': () => store.compact(),
      },
      stop: async () => {
        await Promise.all(flushes);
        actor.stop();
        await store.close();
      },
    };
  };
  return serviceLogic<'store.commit' | 'store.compact'>('writer', start);
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
