/**
 * The life of a library in its host.
 *
 *   closed ─ open ─▶ opening ─▶ serving ─ stop ─▶ closing ─▶ closed
 *                     ▲   │        │
 *                     │   │      breaks
 *                     │   ▼        ▼
 *                    failed ◀─ breaking ─▶ over
 *
 * opening   folder, store, index and services start, in the order of their dependence
 * serving   messages are answered
 * closing   a stop was requested: services finish in the reverse order
 * breaking  a service failed: all stop
 * failed    nothing runs; reopened after a wait that doubles with each failure in a row, up to `maxBackoffMs`
 * over      not reopened by this process, which would not help (the store is damaged or of an unknown format, too many
 *           files were left open, eight failed writes in a row, another process has the only library's folder), or
 *           the broken library did not close within `closeWithinMs`
 *
 * A stop while opening or breaking is remembered and follows at its end.
 */
import { assign, fromPromise, setup } from 'xstate';
import { FatalError, OperatorError } from '../domain/errors.ts';

export interface ReopenPolicy {
  backoffMs: number;
  maxBackoffMs: number;
  /** After this time in service, failures count from 0 again, ms. */
  steadyMs: number;
  closeWithinMs: number;
  waitsForFolder: boolean;
}

export interface Opened {
  /** Resolves with the reason when a service fails. */
  broken: Promise<unknown>;
  close(): Promise<void>;
}

interface Context {
  policy: ReopenPolicy;
  opened: Opened | null;
  failures: number;
  reason: unknown;
  isStopAsked: boolean;
}

type Event = { type: 'open' } | { type: 'stop' };

/** Max consecutive openings of an intact store that cannot be written; a new process may succeed. */
const maxUnwritable = 8;

function isFinal(error: unknown, { policy: { waitsForFolder }, failures }: Context): boolean {
  if (error instanceof FatalError) return error.isFinal;
  if (!(error instanceof OperatorError)) return false;
  if (error.code === 'store_unwritable') return failures >= maxUnwritable;
  return ['store_damaged', 'store_format'].includes(error.code) || (error.code === 'data_folder' && !waitsForFolder);
}

const broken = [
  { guard: 'isStopAsked', target: 'closed' },
  {
    guard: { type: 'isFinal', params: ({ context }: { context: Context }) => ({ error: context.reason }) },
    target: 'over',
  },
  { target: 'failed' },
] as const;

export const libraryMachine = setup({
  types: { context: {} as Context, events: {} as Event, input: {} as { policy: ReopenPolicy } },
  actors: {
    /** Replaced by `superviseLibrary`. */
    open: fromPromise<Opened>(() => Promise.reject(new Error('nothing opens this library'))),
    untilBroken: fromPromise<unknown, Opened | null>(async ({ input }) => input?.broken),
    close: fromPromise<void, Opened | null>(async ({ input }) => input?.close()),
  },
  guards: {
    isStopAsked: ({ context }) => context.isStopAsked,
    isFinal: ({ context }, { error }: { error: unknown }) => isFinal(error, context),
  },
  actions: {
    noteReason: assign({ reason: (_, { error }: { error: unknown }) => error }),
    noteFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    noteStop: assign({ isStopAsked: true }),
    forgetFailures: assign({ failures: 0, reason: undefined }),
  },
  delays: {
    backoff: ({ context: { policy, failures } }) =>
      Math.min(policy.maxBackoffMs, policy.backoffMs * 2 ** (failures - 1)),
    steady: ({ context }) => context.policy.steadyMs,
    closeWithin: ({ context }) => context.policy.closeWithinMs,
  },
}).createMachine({
  id: 'library',
  context: ({ input: { policy } }) => ({ policy, opened: null, failures: 0, reason: undefined, isStopAsked: false }),
  initial: 'closed',
  states: {
    closed: { on: { open: { target: 'opening', actions: assign({ isStopAsked: false }) } } },
    opening: {
      on: { stop: { actions: 'noteStop' } },
      invoke: {
        src: 'open',
        onDone: [
          { guard: 'isStopAsked', target: 'closing', actions: assign({ opened: ({ event }) => event.output }) },
          { target: 'serving', actions: assign({ opened: ({ event }) => event.output }) },
        ],
        onError: [
          { guard: 'isStopAsked', target: 'closed' },
          {
            guard: { type: 'isFinal', params: ({ event }) => event },
            target: 'over',
            actions: { type: 'noteReason', params: ({ event }) => event },
          },
          { target: 'failed', actions: { type: 'noteReason', params: ({ event }) => event } },
        ],
      },
    },
    serving: {
      invoke: {
        src: 'untilBroken',
        input: ({ context }) => context.opened,
        onDone: {
          target: 'breaking',
          actions: { type: 'noteReason', params: ({ event }) => ({ error: event.output }) },
        },
      },
      after: { steady: { actions: 'forgetFailures' } },
      on: { stop: 'closing' },
    },
    closing: {
      invoke: {
        src: 'close',
        input: ({ context }) => context.opened,
        onDone: 'closed',
        onError: { target: 'closed', actions: { type: 'noteReason', params: ({ event }) => event } },
      },
      exit: assign({ opened: null }),
    },
    breaking: {
      on: { stop: { actions: 'noteStop' } },
      invoke: {
        src: 'close',
        input: ({ context }) => context.opened,
        onDone: broken,
        onError: broken,
      },
      after: { closeWithin: 'over' },
      exit: assign({ opened: null }),
    },
    failed: { entry: 'noteFailure', after: { backoff: 'opening' }, on: { stop: 'closed' } },
    over: { type: 'final' },
  },
});
