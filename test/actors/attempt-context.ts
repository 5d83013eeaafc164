/** What an attempt's handler is given, over a store without a scheduler. */
import type { JobContext } from '../../src/actors/system/job-actor.ts';
import { type Attempt, checkpointJob } from '../../src/commands/move-job.ts';
import { JobError } from '../../src/domain/errors.ts';
import type { TemporaryStore } from '../store/temporary-store.ts';

/** `at`: wall clock of its checkpoints, ms. */
export function contextOf(store: Pick<TemporaryStore, 'commit'>, attempt: Attempt, at: number): JobContext {
  return {
    attempt,
    signal: new AbortController().signal,
    checkpoint: async (command) => {
      const kept = await store.commit(checkpointJob(attempt, at, 1000, command));
      if (kept === null) throw new JobError('another attempt has taken over');
      return kept.reply;
    },
    extendTime: async () => {},
  };
}
