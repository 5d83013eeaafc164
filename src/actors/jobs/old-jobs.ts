/** Deletes jobs that were done long ago: at the start and once a day, some in each commit. */
import type { Logger } from 'pino';
import { removeOldJobs } from '../../commands/remove-old-jobs.ts';
import { dayMs } from '../../domain/durations.ts';
import { type Every, everyMs } from '../system/every.ts';
import type { CommitCommand } from '../system/system-messages.ts';

export interface OldJobsDependencies {
  commit: CommitCommand;
  /** How long done jobs are kept. */
  keepDays: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
  every?: Every;
}

/** Begin; gives how to stop, which resolves when nothing is being deleted any more. */
export function removeOldJobsDaily(dependencies: OldJobsDependencies): () => Promise<void> {
  const { commit, keepDays, log, now, every = everyMs } = dependencies;
  let stopping = false;
  const removeOld = async () => {
    const before = now() - keepDays * dayMs;
    try {
      for (let from: number | null = 0; from !== null && !stopping; await new Promise(setImmediate)) {
        from = await commit(removeOldJobs(from, before));
      }
    } catch (error) {
      log.warn({ err: error }, 'old jobs could not be deleted');
    }
  };
  let removing = removeOld();
  const stopLooking = every(dayMs, () => {
    removing = removing.then(removeOld);
  });
  return async () => {
    stopping = true;
    stopLooking();
    await removing;
  };
}
