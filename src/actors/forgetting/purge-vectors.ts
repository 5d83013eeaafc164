/** The handler of `purge_vectors` jobs: deletes what remains of erased pages, in slices. One pass over the query log serves all waiting pages. */
import { markDeleted, purgeSlice } from '../../commands/forget.ts';
import { purgeFromLog } from '../../commands/log-queries.ts';
import type { StoreReader } from '../../store/store.ts';
import { type JobHandler, takenOver } from '../jobs/job-actor.ts';
import type { CommitCommand } from '../system/system-messages.ts';

export interface PurgeDependencies {
  reader: StoreReader;
  commit: CommitCommand;
}

/** Per transaction: some ms. */
const slicePages = 100;

export function purgeVectorsHandler({ reader, commit }: PurgeDependencies): JobHandler {
  /** Pages already removed from the log. */
  let unlogged: ReadonlySet<number> = new Set();

  return async (job, { attempt, signal }) => {
    const pageNos = reader.tombstones.pageNumbers('pending', { job_no: job.no });
    for (let at = 0; at < pageNos.length; at += slicePages) {
      signal.throwIfAborted();
      const owned = await commit(purgeSlice(attempt, pageNos.slice(at, at + slicePages)));
      if (!owned) throw takenOver();
    }
    if (pageNos.some((no) => !unlogged.has(no))) {
      const waiting = new Set(reader.tombstones.pageNumbers('pending'));
      for (let after: number | null = 0; after !== null; ) {
        signal.throwIfAborted();
        after = await commit(purgeFromLog(waiting, after));
      }
      unlogged = waiting;
    }
    return (transaction) => markDeleted(transaction, job.no);
  };
}
