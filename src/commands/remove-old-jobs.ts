/** How long done jobs are kept: the setting `jobs.keep_days`, and as long as something is known by them. */
import type { Job } from '../domain/job.ts';
import type { Command, Transaction } from '../store/store.ts';

/** Jobs looked at in one transaction: some ms. */
const sliceJobs = 200;

/**
 * Delete jobs that were done before `before`, ms, from a slice that begins with job `from`; a replay goes with its report. Those stay whose
 * page, watch, backfill, clustering run or last comparison of names has its state from them. Gives where the next slice begins; null when there is none.
 */
export function removeOldJobs(from: number, before: number): Command<number | null> {
  return (transaction) => {
    const { jobs, clusters, replays } = transaction;
    const slice = jobs.withStatusFrom('done', from, sliceJobs);
    const runJobs = slice.some(({ kind }) => kind === 'cluster')
      ? new Set(clusters.runs(Number.MAX_SAFE_INTEGER).map(({ job_no }) => job_no))
      : new Set<number>();
    for (const job of slice) {
      if (job.updated_at >= before || runJobs.has(job.no) || givesState(transaction, job)) continue;
      if (job.kind === 'eval_replay') replays.remove(job.no);
      jobs.remove(job);
    }
    const last = slice.at(-1);
    // Jobs are numbered as they are made, so what follows one that was made since is no older.
    return last === undefined || slice.length < sliceJobs || last.created_at >= before ? null : last.no + 1;
  };
}

/** Whether a page, a watch or a backfill follows this job, or the last comparison of names was this one. */
function givesState({ pages, watches, backfills, entities }: Transaction, { no, page_no }: Job): boolean {
  const page = page_no === null ? undefined : pages.get(page_no);
  return (
    page?.index_job === no ||
    page?.entity_job === no ||
    watches.ofJob(no) !== undefined ||
    backfills.ofJob(no) !== undefined ||
    entities.state('matching_job') === no
  );
}
