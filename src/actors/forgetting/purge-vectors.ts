/**
 * The handler of `purge_vectors` jobs: what is left of erased pages in the store goes, in slices. The query log is looked
 * through once for all pages that wait at that time, not once for each job.
 */
import { markDeleted, purgeSlice } from '../../commands/forget.ts';
import { purgeFromLog } from '../../commands/log-queries.ts';
import type { StoreReader } from '../../store/store.ts';
import { type JobHandler, takenOver } from '../jobs/job-actor.ts';
import type { CommitCommand } from '../system/system-messages.ts';

export interface PurgeDependencies {
  reader: StoreReader;
  commit: CommitCommand;
}

/** Pages of one transaction: some ms. */
const slicePages = 100;

export function purgeVectorsHandler({ reader, commit }: PurgeDependencies): JobHandler {
  /** Pages that the log does not know any more. */
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
