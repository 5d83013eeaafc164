/** What happens to a replay: asked for together with its job, planned, taken forward slice by slice by the attempt that owns it. */
import type { Replay, ReplayedQuery } from '../domain/evaluation.ts';
import type { Job } from '../domain/job.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createJob, type JobPolicy } from './move-job.ts';
import { type Attempt, ownsJob } from './settle-job.ts';

export function startReplay(replay: Omit<Replay, 'plan' | 'report'>, { at, max_attempts }: JobPolicy): Command<Job> {
  return (transaction) => {
    const job = createJob(transaction, { kind: 'eval_replay', page_no: null, max_attempts, at });
    transaction.replays.put(job.no, { ...replay, plan: null, report: null });
    return job;
  };
}

/** Note which queries are to be replayed; false where the attempt no longer owns the job. */
export function planReplay(attempt: Attempt, plan: number[][]): Command<boolean> {
  return (transaction) => {
    const replay = owned(transaction, attempt);
    if (replay === undefined) return false;
    transaction.replays.put(attempt.job_no, { ...replay, plan });
    return true;
  };
}

/** Keep what a slice of the plan came to; false where the attempt no longer owns the job. */
export function saveReplayed(
  attempt: Attempt,
  from: number,
  results: readonly (ReplayedQuery | null)[],
): Command<boolean> {
  return (transaction) => {
    if (owned(transaction, attempt) === undefined) return false;
    transaction.replays.putResults(attempt.job_no, from, results);
    return true;
  };
}

function owned(transaction: Transaction, attempt: Attempt): Replay | undefined {
  return ownsJob(transaction, attempt) ? transaction.replays.get(attempt.job_no) : undefined;
}
