/**
 * The watch machine: when a source is polled and how its latest poll ended. Pure: an event carries the time and what was decided
 * outside; `nextWatch` gives the next row, or null where the watch does not accept the event.
 *
 * pending  no poll has ended yet
 * ok       the latest attempt at a poll succeeded
 * error    the latest attempt failed; `last_error` says why
 *
 * Whether a poll is in flight is the job ledger's knowledge: events that depend on it carry `job`, the number of the new job, or
 * null where one is in flight already. Events of an attempt carry its job and are refused under another one.
 */
import { assign, setup } from 'xstate';
import { hourMs } from '../domain/durations.ts';
import type { Validators, Watch } from '../domain/watch.ts';
import { type NextRow, nextRowBy, theEvent } from './next-row.ts';

/** What a person may change. */
export type WatchChanges = Partial<Pick<Watch, 'enabled' | 'interval_hours' | 'title' | 'config'>>;

export type WatchEvent =
  /** Time for a scheduled poll. */
  | { type: 'due'; at: number; job: number | null }
  /** Somebody wants a poll now. */
  | { type: 'runNow'; at: number; job: number | null }
  | {
      type: 'polled';
      /** When the poll ended. */
      at: number;
      job: number;
      /** Items that the source has; null where it said that nothing has changed. */
      items: number | null;
      validators: Validators | null;
      feed_url: string | null;
    }
  | { type: 'pollFailed'; at: number; job: number; message: string }
  | { type: 'edit'; changes: WatchChanges }
  /** The wall clock was set back, or may have been while no process ran. */
  | { type: 'clockSet'; at: number };

type EventOf<Type extends WatchEvent['type']> = Extract<WatchEvent, { type: Type }>;

/** Longest `last_error` kept, in characters, as in the job's row. */
const maxErrorLength = 1000;

/**
 * The first point of the schedule at least half an interval after `at`. Points are an interval apart, so lateness does not add up, a
 * long sleep is made up for by one poll, and no two polls come closer than half an interval.
 */
function nextPoint({ next_run_at, interval_hours }: Watch, at: number): number {
  const interval = interval_hours * hourMs;
  const points = Math.max(1, Math.ceil((at + interval / 2 - next_run_at) / interval));
  return next_run_at + points * interval;
}

export const watchMachine = setup({
  types: { context: {} as Watch, events: {} as WatchEvent, input: {} as Watch },
  guards: {
    isDue: ({ context }, { at }: EventOf<'due'>) => context.enabled && context.next_run_at <= at,
    latestJob: ({ context }, { job }: EventOf<'polled' | 'pollFailed'>) => job === context.poll_job,
    isTooFarAhead: ({ context }, { at }: EventOf<'clockSet'>) =>
      context.next_run_at > at + context.interval_hours * hourMs,
  },
  actions: {
    startPoll: assign(({ context }, { at, job }: EventOf<'due'>) => ({
      next_run_at: nextPoint(context, at),
      poll_job: job ?? context.poll_job,
    })),
    startPollNow: assign(({ context }, { at, job }: EventOf<'runNow'>) => ({
      next_run_at: at + context.interval_hours * hourMs,
      poll_job: job ?? context.poll_job,
    })),
    noteSuccess: assign(({ context }, { at, items, validators, feed_url }: EventOf<'polled'>) => ({
      last_run_at: at,
      last_error: null,
      last_item_count: items ?? context.last_item_count,
      validators,
      feed_url,
    })),
    noteFailure: assign((_, { at, message }: EventOf<'pollFailed'>) => ({
      last_run_at: at,
      last_error: message.slice(0, maxErrorLength),
    })),
    applyChanges: assign(({ context }, { changes }: EventOf<'edit'>) => {
      const interval = changes.interval_hours ?? context.interval_hours;
      const isNewPace = interval !== context.interval_hours && context.last_run_at !== null;
      return {
        ...changes,
        // Under another config a source that has not changed may have something to give.
        ...('config' in changes ? { validators: null } : {}),
        ...(isNewPace ? { next_run_at: (context.last_run_at ?? 0) + interval * hourMs } : {}),
      };
    }),
    drawIn: assign(({ context }, { at }: EventOf<'clockSet'>) => ({
      next_run_at: at + context.interval_hours * hourMs,
    })),
  },
}).createMachine({
  id: 'watch',
  context: ({ input }) => input,
  initial: 'pending',
  states: { pending: {}, ok: {}, error: {} },
  on: {
    due: { guard: { type: 'isDue', params: theEvent }, actions: { type: 'startPoll', params: theEvent } },
    runNow: { actions: { type: 'startPollNow', params: theEvent } },
    polled: {
      guard: { type: 'latestJob', params: theEvent },
      target: '.ok',
      actions: { type: 'noteSuccess', params: theEvent },
    },
    pollFailed: {
      guard: { type: 'latestJob', params: theEvent },
      target: '.error',
      actions: { type: 'noteFailure', params: theEvent },
    },
    edit: { actions: { type: 'applyChanges', params: theEvent } },
    clockSet: { guard: { type: 'isTooFarAhead', params: theEvent }, actions: { type: 'drawIn', params: theEvent } },
  },
});

/** The row after an event, or null where the watch does not accept it. */
export const nextWatch: NextRow<Watch, WatchEvent> = nextRowBy(watchMachine, 'status');
