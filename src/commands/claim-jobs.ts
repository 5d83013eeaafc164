/** Claims due jobs. The attempt is counted before it runs, so a job that crashes the process does not run forever. */
import { type Job, type Lane, lanes } from '../domain/job.ts';
import { isBuiltIn } from '../domain/model.ts';
import type { Command, Transaction } from '../store/store.ts';
import { moveJob } from './move-job.ts';

export interface ClaimRequest {
  at: number;
  incarnation: string;
  leaseMs: number;
  /** Free places by lane. A suspect has no free place while another one runs. */
  free: Record<Lane, number>;
  /** Number of running jobs. A suspect waits until it is zero. */
  running: number;
}

export interface Claimed {
  jobs: Job[];
  /** When the next waiting job of a lane with free places is due, ms. */
  nextDueAt: number | null;
}

/** Jobs released after a crash run alone, before all others: a second crash then identifies the job. */
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

/** While the built-in model is filled, or pages wait, no page is read for names alone: they come with its vectors. */
function yields({ jobs, models, backfills }: Transaction, lane: Lane, at: number): boolean {
  if (lane !== 'entities') return false;
  const builtIn = models.all().find(isBuiltIn);
  if (builtIn !== undefined && backfills.get(builtIn.space)?.status === 'running') return true;
  return (jobs.nextDueAt('index') ?? Number.POSITIVE_INFINITY) <= at;
}

/** The first `count` jobs, copied before their rows change. */
function take(jobs: Iterable<Job>, count: number): Job[] {
  const taken: Job[] = [];
  if (count <= 0) return taken;
  for (const job of jobs) {
    taken.push(job);
    if (taken.length === count) break;
  }
  return taken;
}

/** Release running jobs of other incarnations at once, because only one process at a time has a library open. */
export function recoverOrphans(incarnation: string, at: number): Command<Job[]> {
  return (transaction) => {
    const orphans = [...transaction.jobs.withStatus('running')].filter((job) => job.incarnation !== incarnation);
    const alone = orphans.length === 1;
    return orphans
      .map((job) => moveJob(transaction, job, { type: 'orphaned', at, alone }))
      .filter((moved) => moved !== null);
  };
}

/** Release jobs with expired leases. Examines all candidates, so that one that cannot move does not block the rest. */
export function expireLeases(at: number): Command<Job[]> {
  return (transaction) =>
    [...transaction.jobs.withStatus('running')]
      .filter((job) => job.lease_until <= at)
      .map((job) => moveJob(transaction, job, { type: 'leaseExpired', at }))
      .filter((moved) => moved !== null);
}

/** After the clock was set back: jobs wait from `at`. Returns how many moved; fewer than `limit` if none is left. */
export function shortenWaits(at: number, limit: number): Command<number> {
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
