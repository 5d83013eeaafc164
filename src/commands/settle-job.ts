/**
 * What a running attempt may report: done, failed, given back, still alive. Each is compared with the row: an attempt that no
 * longer owns its job (its lease expired, its page was forgotten) gets null back and changes nothing.
 */
import type { Job } from '../domain/job.ts';
import type { JobEvent } from '../machines/job.ts';
import type { Command, Transaction } from '../store/store.ts';
import { moveJob } from './move-job.ts';

/** Names one attempt: the job and the claim under which it runs. */
export interface Attempt {
  job_no: number;
  claim: number;
}

/** Whether the attempt still runs its job: its lease has not expired, its page was not forgotten. */
export function ownsJob({ jobs }: Pick<Transaction, 'jobs'>, { job_no, claim }: Attempt): boolean {
  const job = jobs.get(job_no);
  return job?.status === 'running' && job.claim === claim;
}

/** Null, and nothing written, where the job does not accept the event. */
const moveByNumber =
  (no: number, event: JobEvent): Command<Job | null> =>
  (transaction) => {
    const job = transaction.jobs.get(no);
    return job === undefined ? null : moveJob(transaction, job, event);
  };

/** Finish the job; `also` runs in the same transaction, only when the attempt still owns the job. */
export function completeJob(
  attempt: Attempt,
  at: number,
  also?: (transaction: Transaction) => void,
): Command<Job | null> {
  return (transaction) => {
    const done = moveByNumber(attempt.job_no, { type: 'complete', at, claim: attempt.claim })(transaction);
    if (done !== null) also?.(transaction);
    return done;
  };
}

export interface Failure {
  message: string;
  permanent: boolean;
  delayMs: number;
}

export function failJob(attempt: Attempt, at: number, failure: Failure): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'fail', at, claim: attempt.claim, ...failure });
}

export interface Unreached {
  message: string;
  maxTries: number;
  delayMs: number;
}

/** The attempt did not reach what it needs: it counts as no attempt. */
export function noteUnreached(attempt: Attempt, at: number, unreached: Unreached): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'unreached', at, claim: attempt.claim, ...unreached });
}

/** Give an unfinished attempt back, uncounted, to run again at `runAt`; `message` says why where that is worth a word. */
export function releaseJob(attempt: Attempt, at: number, runAt: number, message?: string): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'release', at, claim: attempt.claim, runAt, message });
}

/** Run a command as a checkpoint of an attempt, in one transaction; null, and nothing changes, where it no longer owns its job. */
export function checkpointJob<Reply>(
  attempt: Attempt,
  at: number,
  leaseMs: number,
  command: Command<Reply>,
): Command<{ reply: Reply } | null> {
  return (transaction) => {
    const job = moveByNumber(attempt.job_no, { type: 'progress', at, claim: attempt.claim, leaseMs })(transaction);
    return job === null ? null : { reply: command(transaction) };
  };
}

/** Renew an attempt's lease; false: it is not its owner any more and must stop. */
export function heartbeatJob(attempt: Attempt, at: number, leaseMs: number): Command<boolean> {
  const beat = moveByNumber(attempt.job_no, { type: 'heartbeat', at, claim: attempt.claim, leaseMs });
  return (transaction) => beat(transaction) !== null;
}
