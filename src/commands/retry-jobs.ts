import type { Job } from '../domain/job.ts';
import { numberOf } from '../domain/values.ts';
import type { JobListing } from '../store/jobs.ts';
import type { Command, Transaction } from '../store/store.ts';
import { moveJob } from './move-job.ts';

export type RetryOutcome =
  | { outcome: 'retried'; job: Job }
  | { outcome: 'skipped'; job: Job }
  | { outcome: 'not_found'; job_id: string };

/** Retries in the given order, each id once. */
export function retryJobs(job_ids: readonly string[], at: number): Command<RetryOutcome[]> {
  return (transaction) => [...new Set(job_ids)].map((job_id) => retryOne(transaction, job_id, at));
}

/** Retries the newest matching dead jobs. */
export function retryDeadJobs(meant: Omit<JobListing, 'status'>, at: number): Command<RetryOutcome[]> {
  return (transaction) => transaction.jobs.list({ status: 'dead', ...meant }).map((job) => retry(transaction, job, at));
}

function retryOne(transaction: Transaction, job_id: string, at: number): RetryOutcome {
  const no = numberOf('job', job_id);
  const job = no === null ? undefined : transaction.jobs.get(no);
  return job === undefined ? { outcome: 'not_found', job_id } : retry(transaction, job, at);
}

function retry(transaction: Transaction, job: Job, at: number): RetryOutcome {
  const retried = moveJob(transaction, job, { type: 'retry', at });
  return retried === null ? { outcome: 'skipped', job } : { outcome: 'retried', job: retried };
}

/** Jobs per transaction: some ms. */
const sliceJobs = 200;

/**
 * Delete a slice of jobs completed before `before`, ms, and their replays. Keeps jobs whose state a page, watch,
 * backfill, clustering run or comparison of names needs. Returns the start of the next slice; null at the end.
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
    // Numbers ascend with creation time, so all later jobs are newer.
    return last === undefined || slice.length < sliceJobs || last.created_at >= before ? null : last.no + 1;
  };
}

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
