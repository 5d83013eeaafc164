/** Changes watches. A due poll starts in the transaction that advances the schedule, so that a crash loses none. */
import { isInFlight } from '../domain/job.ts';
import type { Watch } from '../domain/watch.ts';
import type { WatchChanges } from '../machines/watch.ts';
import type { Command, Transaction } from '../store/store.ts';
import type { StoredWatch } from '../store/watches.ts';
import { createJob, type JobPolicy, moveJob, moveWatch } from './move-job.ts';

interface NewWatch extends Pick<Watch, 'url' | 'kind' | 'title' | 'enabled' | 'interval_hours' | 'config'> {
  identity: string;
  at: number;
}

/** A new watch, due at once, or the existing one with this URL. */
export function createWatch({ at, ...given }: NewWatch): Command<Watch> {
  return ({ watches, counters }) => {
    const known = watches.find(given.identity);
    if (known !== undefined) return known;
    const watch: StoredWatch = {
      ...given,
      no: counters.take('watch'),
      next_run_at: at,
      last_run_at: null,
      status: 'pending',
      last_error: null,
      last_item_count: null,
      created_at: at,
      poll_job: 0,
      validators: null,
      feed_url: null,
    };
    watches.put(watch, undefined);
    return watch;
  };
}

/** Null for an unknown watch. */
export function editWatch(no: number, changes: WatchChanges): Command<Watch | null> {
  return (transaction) => {
    const watch = transaction.watches.get(no);
    if (watch === undefined) return null;
    return moveWatch(transaction, watch, { type: 'edit', changes }) ?? watch;
  };
}

/** Cancels its poll and keeps its pages. False for an unknown watch. */
export function deleteWatch(no: number, at: number): Command<boolean> {
  return (transaction) => {
    const watch = transaction.watches.get(no);
    if (watch === undefined) return false;
    const job = transaction.jobs.get(watch.poll_job);
    if (job !== undefined && isInFlight(job)) {
      moveJob(transaction, job, { type: 'cancel', at, reason: 'cancelled: watch deleted' });
    }
    transaction.watches.remove(watch);
    return true;
  };
}

/** Returns the number of the new job, or of the one in flight; null for an unknown watch. */
export function runWatch(no: number, policy: JobPolicy): Command<number | null> {
  return (transaction) => {
    const watch = transaction.watches.get(no);
    if (watch === undefined) return null;
    return startPoll(transaction, watch, 'runNow', policy)?.poll_job ?? watch.poll_job;
  };
}

/** Start at most `limit` due polls; returns how many watches were examined. */
export function startDuePolls(limit: number, policy: JobPolicy): Command<number> {
  return (transaction) => {
    const due = transaction.watches.dueAt(policy.at, limit);
    for (const watch of due) startPoll(transaction, watch, 'due', policy);
    return due.length;
  };
}

/** After the clock was set: limits waits to one interval. Examines `limit` watches after `after`; null at the end. */
export function drawInSchedules(at: number, after: number, limit: number): Command<number | null> {
  return (transaction) => {
    const some = transaction.watches.list(after, limit);
    for (const watch of some) moveWatch(transaction, watch, { type: 'clockSet', at });
    return some.at(-1)?.no ?? null;
  };
}

/** At most one poll per watch is in flight. */
function startPoll(
  transaction: Transaction,
  watch: StoredWatch,
  type: 'due' | 'runNow',
  { at, max_attempts }: JobPolicy,
) {
  const isPolled = isInFlight(transaction.jobs.get(watch.poll_job));
  const job = isPolled ? null : createJob(transaction, { kind: 'poll_watch', page_no: null, max_attempts, at }).no;
  return moveWatch(transaction, watch, { type, at, job });
}
