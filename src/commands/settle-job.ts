/**
 * Reports of a running attempt: done, failed, released, alive. An attempt that no longer owns its job (expired lease, forgotten page)
 * gets null and changes nothing.
 */
import type { Job } from '../domain/job.ts';
import type { JobEvent } from '../machines/job.ts';
import type { Command, StoreReader, Transaction } from '../store/store.ts';
import { moveJob } from './move-job.ts';

export interface Attempt {
  job_no: number;
  claim: number;
}

export function ownsJob({ jobs }: Pick<StoreReader, 'jobs'>, { job_no, claim }: Attempt): boolean {
  const job = jobs.get(job_no);
  return job?.status === 'running' && job.claim === claim;
}

/** Null, without changes, if the job does not accept the event. */
const moveByNumber =
  (no: number, event: JobEvent): Command<Job | null> =>
  (transaction) => {
    const job = transaction.jobs.get(no);
    return job === undefined ? null : moveJob(transaction, job, event);
  };

/** Complete the job; `also` runs in the same transaction, only if the attempt owns the job. */
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

/** An event's part that a report decides. */
type Report<Type extends JobEvent['type']> = Omit<Extract<JobEvent, { type: Type }>, 'type' | 'at' | 'claim'>;

export function failJob(attempt: Attempt, at: number, failure: Report<'fail'>): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'fail', at, claim: attempt.claim, ...failure });
}

/** The target was unreachable: the attempt does not count. */
export function noteUnreached(attempt: Attempt, at: number, unreached: Report<'unreached'>): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'unreached', at, claim: attempt.claim, ...unreached });
}

/** Release an unfinished attempt, uncounted, until `runAt`; `message` explains why, if useful. */
export function releaseJob(attempt: Attempt, at: number, runAt: number, message?: string): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'release', at, claim: attempt.claim, runAt, message });
}

/** Run a command in one transaction if the attempt owns its job; else null. */
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

/** Renew the lease; false: the attempt lost its job and must stop. */
export function heartbeatJob(attempt: Attempt, at: number, leaseMs: number): Command<boolean> {
  const beat = moveByNumber(attempt.job_no, { type: 'heartbeat', at, claim: attempt.claim, leaseMs });
  return (transaction) => beat(transaction) !== null;
}
