/** Claim due jobs. The attempt is counted before it runs, so that a job which ends the process cannot run for ever. */
import { type Job, type Lane, lanes } from '../domain/job.ts';
import { isBuiltIn } from '../domain/model.ts';
import type { Command, Transaction } from '../store/store.ts';
import { moveJob } from './move-job.ts';

export interface ClaimRequest {
  at: number;
  incarnation: string;
  leaseMs: number;
  /** Places free in each lane; none in `suspect` while one runs. */
  free: Record<Lane, number>;
  /** Jobs that run now; suspects wait for zero. */
  running: number;
}

export interface Claimed {
  jobs: Job[];
  /** When the next waiting job of a lane with free places is due, ms. */
  nextDueAt: number | null;
}

/** Jobs released after a crash run alone, one at a time, before all other lanes: so a crash has one job to blame. */
export function claimJobs({ at, incarnation, leaseMs, free, running }: ClaimRequest): Command<Claimed> {
  return (transaction) => {
    const suspectsLeft = free.suspect === 0 || transaction.jobs.nextDueAt('suspect') !== undefined;
    const open: readonly Lane[] = suspectsLeft ? ['suspect'] : lanes.filter((lane) => lane !== 'suspect');
    const jobs: Job[] = [];
    const dueTimes: number[] = [];
    for (const lane of open) {
      const places = lane === 'suspect' ? (running === 0 ? 1 : 0) : yields(transaction, lane, at) ? 0 : free[lane];
      const due = take(transaction.jobs.dueAt(lane, at), places);
      for (const job of due) {
        const waiting = job.status === 'failed' ? moveJob(transaction, job, { type: 'due', at }) : job;
        if (waiting === null) continue;
        const claim = transaction.counters.take('claim');
        const claimed = moveJob(transaction, waiting, { type: 'claim', at, claim, incarnation, leaseMs });
        if (claimed !== null) jobs.push(claimed);
      }
      const next = transaction.jobs.nextDueAt(lane);
      if (due.length < places && next !== undefined) dueTimes.push(next);
    }
    return { jobs, nextDueAt: dueTimes.length === 0 ? null : Math.min(...dueTimes) };
  };
}

/** Names come with the vectors of the built-in model: while it is filled, no page is read for them alone, and none while pages wait to be indexed. */
function yields({ jobs, models, backfills }: Transaction, lane: Lane, at: number): boolean {
  if (lane !== 'entities') return false;
  const builtIn = models.all().find(isBuiltIn);
  if (builtIn !== undefined && backfills.get(builtIn.space)?.status === 'running') return true;
  return (jobs.nextDueAt('index') ?? Number.POSITIVE_INFINITY) <= at;
}

/** The first `count`, read out before the rows they come from are changed. */
function take(jobs: Iterable<Job>, count: number): Job[] {
  const taken: Job[] = [];
  if (count <= 0) return taken;
  for (const job of jobs) {
    taken.push(job);
    if (taken.length === count) break;
  }
  return taken;
}

/** Return running jobs of other incarnations at once: only one process at a time has a library open. */
export function recoverOrphans(incarnation: string, at: number): Command<Job[]> {
  return (transaction) => {
    const orphans = [...transaction.jobs.withStatus('running')].filter((job) => job.incarnation !== incarnation);
    const alone = orphans.length === 1;
    return orphans
      .map((job) => moveJob(transaction, job, { type: 'orphaned', at, alone }))
      .filter((moved) => moved !== null);
  };
}

/** Take expired leases back. Examines all candidates, so that one that cannot move does not block the rest. */
export function expireLeases(at: number): Command<Job[]> {
  return (transaction) =>
    [...transaction.jobs.withStatus('running')]
      .filter((job) => job.lease_until <= at)
      .map((job) => moveJob(transaction, job, { type: 'leaseExpired', at }))
      .filter((moved) => moved !== null);
}

/** After the wall clock was set back: jobs wait from `at`. Returns how many moved; fewer than `limit`: none is left. */
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
