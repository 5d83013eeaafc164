/** Jobs whose owner is gone: orphans of an earlier process at start, and expired leases while running. */
import type { Job } from '../domain/job.ts';
import type { Command } from '../store/store.ts';
import { moveJob } from './move-job.ts';

/** Give every running job of another incarnation back at once: one process holds the data folder, so its owner is dead. */
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
