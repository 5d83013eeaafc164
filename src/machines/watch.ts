/**
 * The watch machine: when a source is polled, and the result of its latest poll.
 *
 * pending  no poll has ended yet
 * ok       the latest attempt at a poll succeeded
 * error    the latest attempt failed; `last_error` has the reason
 *
 * `job` is the new job's number, or null while a poll runs. Events of an attempt are refused under another job.
 */
import { assign, setup } from 'xstate';
import { hourMs } from '../domain/durations.ts';
import type { Validators, Watch } from '../domain/watch.ts';
import { type NextRow, nextRowBy, theEvent } from './next-row.ts';

export type WatchChanges = Partial<Pick<Watch, 'enabled' | 'interval_hours' | 'title' | 'config'>>;

export type WatchEvent =
  | { type: 'due'; at: number; job: number | null }
  | { type: 'runNow'; at: number; job: number | null }
  | {
      type: 'polled';
      at: number;
      job: number;
      /** Number of items of the source; null if unchanged. */
      items: number | null;
      validators: Validators | null;
      feed_url: string | null;
    }
  | { type: 'pollFailed'; at: number; job: number; message: string }
  | { type: 'edit'; changes: WatchChanges }
  /** The wall clock was set back, or may have been while no process ran. */
  | { type: 'clockSet'; at: number };

type EventOf<Type extends WatchEvent['type']> = Extract<WatchEvent, { type: Type }>;

/** Max characters, as in the job's row. */
const maxErrorLength = 1000;

/** The first scheduled time at least half an interval after `at`. The schedule is fixed, so delays do not add up. */
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
        // With another config, an unchanged source may give new items.
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

export const nextWatch: NextRow<Watch, WatchEvent> = nextRowBy(watchMachine, 'status');
