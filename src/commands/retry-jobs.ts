/** Retry dead jobs: one, a list, or a selection. Contract "Jobs". */
import { numberOf } from '../domain/ids.ts';
import type { Job, JobKind } from '../domain/job.ts';
import type { Command, Transaction } from '../store/store.ts';
import { moveJob } from './move-job.ts';

export type RetryOutcome =
  | { outcome: 'retried'; job: Job }
  | { outcome: 'skipped'; job: Job }
  | { outcome: 'not_found'; job_id: string };

export function retryJob(job_id: string, at: number): Command<RetryOutcome> {
  return (transaction) => retryOne(transaction, job_id, at);
}

/** In the order given, each id once. */
export function retryJobs(job_ids: readonly string[], at: number): Command<RetryOutcome[]> {
  return (transaction) => [...new Set(job_ids)].map((job_id) => retryOne(transaction, job_id, at));
}

export interface DeadJobs {
  kind?: JobKind | undefined;
  /** The number of a job: only older ones. */
  before?: number | undefined;
  limit: number;
}

/** The newest dead jobs that are meant. */
export function retryDeadJobs(meant: DeadJobs, at: number): Command<RetryOutcome[]> {
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
