/**
 * The watch machine: when a source is polled, and the result of its latest poll. Pure: an event carries the time and
 * every outside decision.
 *
 * pending  no poll has ended yet
 * ok       the latest attempt at a poll succeeded
 * error    the latest attempt failed; `last_error` has the reason
 *
 * The job ledger knows whether a poll runs: events that depend on it carry `job`, the new job's number, or null while
 * one runs. Events of an attempt carry its job and are refused under another one.
 */
import { hourMs } from '../domain/durations.ts';
import type { Validators, Watch } from '../domain/watch.ts';
import { type NextRow, nextRowBy, type Transitions } from './next-row.ts';

export type WatchChanges = Partial<Pick<Watch, 'enabled' | 'interval_hours' | 'title' | 'config'>>;

export type WatchEvent =
  | { type: 'due'; at: number; job: number | null }
  | { type: 'runNow'; at: number; job: number | null }
  | {
      type: 'polled';
      at: number;
      job: number;
      /** Items of the source; null if unchanged. */
      items: number | null;
      validators: Validators | null;
      feed_url: string | null;
    }
  | { type: 'pollFailed'; at: number; job: number; message: string }
  | { type: 'edit'; changes: WatchChanges }
  /** The wall clock was set back, or may have been while no process ran. */
  | { type: 'clockSet'; at: number };

type EventOf<Type extends WatchEvent['type']> = Extract<WatchEvent, { type: Type }>;

/** Characters, as in the job's row. */
const maxErrorLength = 1000;

/**
 * The first point of the schedule at least half an interval after `at`. Points are an interval apart, so lateness does
 * not add up, a long sleep causes one poll, and polls are at least half an interval apart.
 */
function nextPoint({ next_run_at, interval_hours }: Watch, at: number): number {
  const interval = interval_hours * hourMs;
  const points = Math.max(1, Math.ceil((at + interval / 2 - next_run_at) / interval));
  return next_run_at + points * interval;
}

type Move<Type extends WatchEvent['type']> = (watch: Watch, event: EventOf<Type>) => Watch | null;

const due: Move<'due'> = (watch, { at, job }) =>
  watch.enabled && watch.next_run_at <= at
    ? { ...watch, next_run_at: nextPoint(watch, at), poll_job: job ?? watch.poll_job }
    : null;

const runNow: Move<'runNow'> = (watch, { at, job }) => ({
  ...watch,
  next_run_at: at + watch.interval_hours * hourMs,
  poll_job: job ?? watch.poll_job,
});

const polled: Move<'polled'> = (watch, { at, job, items, validators, feed_url }) => {
  if (job !== watch.poll_job) return null;
  const last_item_count = items ?? watch.last_item_count;
  return { ...watch, status: 'ok', last_run_at: at, last_error: null, last_item_count, validators, feed_url };
};

const pollFailed: Move<'pollFailed'> = (watch, { at, job, message }) =>
  job === watch.poll_job
    ? { ...watch, status: 'error', last_run_at: at, last_error: message.slice(0, maxErrorLength) }
    : null;

const edit: Move<'edit'> = (watch, { changes }) => {
  const interval = changes.interval_hours ?? watch.interval_hours;
  const isNewPace = interval !== watch.interval_hours && watch.last_run_at !== null;
  return {
    ...watch,
    ...changes,
    // With another config an unchanged source may have new items.
    ...('config' in changes ? { validators: null } : {}),
    ...(isNewPace ? { next_run_at: (watch.last_run_at ?? 0) + interval * hourMs } : {}),
  };
};

const clockSet: Move<'clockSet'> = (watch, { at }) => {
  const next_run_at = at + watch.interval_hours * hourMs;
  return watch.next_run_at > next_run_at ? { ...watch, next_run_at } : null;
};

const inEveryState = { due, runNow, polled, pollFailed, edit, clockSet };
const transitions: Transitions<Watch['status'], Watch, WatchEvent> = {
  pending: inEveryState,
  ok: inEveryState,
  error: inEveryState,
};

export const nextWatch: NextRow<Watch, WatchEvent> = nextRowBy(transitions, 'status');
