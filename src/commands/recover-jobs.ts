/** Jobs that would stay where they are: orphans of an earlier process, expired leases, and waits for a time that the clock went back behind. */
import type { Job } from '../domain/job.ts';
import { lanes } from '../domain/lane.ts';
import type { Command } from '../store/store.ts';
import { moveJob } from './move-job.ts';

/** Give every running job of another incarnation back at once: a library is open once at a time, so its owner is gone. */
export function recoverOrphans(incarnation: string, at: number): Command<Job[]> {
  return (transaction) => {
    const orphans = [...transaction.jobs.withStatus('running')].filter((job) => job.incarnation !== incarnation);
    const alone = orphans.length === 1;
    return orphans
      .map((job) => moveJob(transaction, job, { type: 'orphaned', at, alone }))
      .filter((moved) => moved !== null);
  };
}

/** Take expired leases back; all candidates are looked at, so one that cannot move does not shield the rest. */
export function expireLeases(at: number): Command<Job[]> {
  return (transaction) =>
    [...transaction.jobs.withStatus('running')]
      .filter((job) => job.lease_until <= at)
      .map((job) => moveJob(transaction, job, { type: 'leaseExpired', at }))
      .filter((moved) => moved !== null);
}

/**
 * After the wall clock was set back: have jobs whose waits were reckoned by the clock as it was before wait from `at`, so that nothing
 * waits until the clock has caught up. Gives how many moved, `limit` at most; fewer: none is left.
 */
export function drawInWaits(at: number, limit: number): Command<number> {
  return (transaction) => {
    const found: Job[] = [];
    for (const lane of lanes) {
      for (const job of transaction.jobs.dueAfter(lane, at)) {
        if (found.length === limit) break;
        if (job.updated_at > at) found.push(job);
      }
    }
    for (const job of found) moveJob(transaction, job, { type: 'clockSet', at });
    return found.length;
  };
}
