/**
 * The job machine. Pure: events carry every outside decision. `nextJob` returns null for an event that is not accepted.
 *
 * pending  waits for run_at; without an owner
 * running  owned by `claim` until `lease_until`; the attempt is counted
 * failed   an attempt failed, or its host could not be reached; retries remain, run_at is ahead
 * done     finished, or cancelled (then last_error has the reason)
 * dead     attempts used up, a permanent error, or a host unreachable for days; only a retry leads out
 */
import { assign, setup } from 'xstate';
import type { Job } from '../domain/job.ts';
import { type NextRow, nextRowBy, theEvent } from './next-row.ts';

export type JobEvent =
  | { type: 'claim'; at: number; claim: number; incarnation: string; leaseMs: number }
  | { type: 'heartbeat'; at: number; claim: number; leaseMs: number }
  /** A checkpoint: the attempt stored something, so earlier attempts and crashes no longer count. */
  | { type: 'progress'; at: number; claim: number; leaseMs: number }
  | { type: 'complete'; at: number; claim: number }
  /** Other work has done the task of this waiting job. */
  | { type: 'served'; at: number }
  | { type: 'fail'; at: number; claim: number; message: string; permanent: boolean; delayMs: number }
  /** The job's target was unreachable: counted in `unreached`, not as an attempt; dead after `maxTries` in a row. */
  | { type: 'unreached'; at: number; claim: number; message: string; maxTries: number; delayMs: number }
  /** Released unfinished and uncounted: a drain, a provider's open breaker, no network (`message` has the reason). */
  | { type: 'release'; at: number; claim: number; runAt: number; message?: string | undefined }
  | { type: 'leaseExpired'; at: number }
  /** Found running under another incarnation when the process starts. `alone`: it ran alone, so it caused the crash. */
  | { type: 'orphaned'; at: number; alone: boolean }
  | { type: 'due'; at: number }
  | { type: 'retry'; at: number }
  /** Due at another time, because its subject was paused or resumed. */
  | { type: 'defer'; at: number; runAt: number }
  | { type: 'clockSet'; at: number }
  | { type: 'cancel'; at: number; reason: string }
  /** Its error must not stay readable, so `message` replaces it. */
  | { type: 'silence'; at: number; message: string };

type EventOf<Type extends JobEvent['type']> = Extract<JobEvent, { type: Type }>;

/** Max characters of `last_error`: a provider may answer with a whole page, and each attempt writes the row. */
const maxErrorLength = 1000;

const ownsClaim = ({ claim }: Job, by: { claim: number }) => claim === by.claim;

const owner = { type: 'owner', params: theEvent } as const;
const noteFailure = { type: 'noteFailure', params: theEvent } as const;
const noteUnreached = { type: 'noteUnreached', params: theEvent } as const;
const cancel = { target: 'done', actions: { type: 'cancel', params: theEvent } } as const;

export const jobMachine = setup({
  types: { context: {} as Job, events: {} as JobEvent, input: {} as Job },
  guards: {
    owner: ({ context }, by: { claim: number }) => ownsClaim(context, by),
    saysSomething: ({ context }) => context.last_error !== null,
    ownerGivesUp: ({ context }, fail: EventOf<'fail'>) =>
      ownsClaim(context, fail) && (fail.permanent || context.attempts >= context.max_attempts),
    ownerGivesUpReaching: ({ context }, unreached: EventOf<'unreached'>) =>
      ownsClaim(context, unreached) && unreachedOf(context) + 1 >= unreached.maxTries,
    isDue: ({ context, event }) => context.run_at <= event.at,
    /** Its waiting time was computed before the clock was set back. */
    isFromLater: ({ context, event }) => context.updated_at > event.at,
    leaseIsOver: ({ context, event }) => context.lease_until <= event.at,
    leaseIsOverForGood: ({ context, event }) =>
      context.lease_until <= event.at && context.attempts >= context.max_attempts,
    killedTheProcessForGood: ({ context }, { alone }: EventOf<'orphaned'>) =>
      alone && context.attempts >= context.max_attempts,
  },
  actions: {
    claim: assign(({ context }, { at, claim, incarnation, leaseMs }: EventOf<'claim'>) => ({
      attempts: context.attempts + 1,
      claim,
      incarnation,
      lease_until: at + leaseMs,
      updated_at: at,
    })),
    renewLease: assign((_, { at, leaseMs }: EventOf<'heartbeat'>) => ({ lease_until: at + leaseMs })),
    noteProgress: assign((_, { at, leaseMs }: EventOf<'progress'>) => ({
      lease_until: at + leaseMs,
      attempts: 1,
      suspect: false,
      updated_at: at,
    })),
    finish: assign(({ event }) => ({ ...released(event.at), last_error: null, unreached: 0 })),
    noteFailure: assign((_, { at, message, delayMs }: EventOf<'fail'>) => ({
      ...released(at),
      run_at: at + delayMs,
      last_error: message.slice(0, maxErrorLength),
      unreached: 0,
    })),
    noteUnreached: assign(({ context }, { at, message, delayMs }: EventOf<'unreached'>) => ({
      ...released(at),
      run_at: at + delayMs,
      last_error: message.slice(0, maxErrorLength),
      attempts: context.attempts - 1,
      unreached: unreachedOf(context) + 1,
    })),
    giveBack: assign(({ context }, { at, runAt, message }: EventOf<'release'>) => ({
      ...released(at),
      run_at: runAt,
      attempts: context.attempts - 1,
      last_error: message?.slice(0, maxErrorLength) ?? context.last_error,
    })),
    noteExpiry: assign(({ event }) => ({
      ...released(event.at),
      run_at: event.at,
      last_error: 'the attempt exceeded its lease',
    })),
    orphan: assign(({ context }, { at, alone }: EventOf<'orphaned'>) => ({
      ...released(at),
      suspect: true,
      run_at: at,
      attempts: alone ? context.attempts : context.attempts - 1,
      last_error: alone ? 'the process ended while this job ran alone' : context.last_error,
    })),
    noteCrash: assign(({ event }) => ({
      ...released(event.at),
      last_error: 'the process ended each time this job ran alone',
    })),
    defer: assign((_, { at, runAt }: EventOf<'defer'>) => ({ run_at: runAt, updated_at: at })),
    touch: assign(({ event }) => ({ updated_at: event.at })),
    /** Keep the intended waiting time, counted from now. */
    drawIn: assign(({ context, event }) => ({
      run_at: event.at + Math.max(0, context.run_at - context.updated_at),
      updated_at: event.at,
    })),
    startAfresh: assign(({ event }) => ({
      attempts: 0,
      unreached: 0,
      last_error: null,
      run_at: event.at,
      updated_at: event.at,
    })),
    cancel: assign((_, { at, reason }: EventOf<'cancel'>) => ({ ...released(at), last_error: reason })),
    silence: assign((_, { message }: EventOf<'silence'>) => ({ last_error: message })),
  },
}).createMachine({
  id: 'job',
  context: ({ input }) => input,
  initial: 'pending',
  states: {
    pending: {
      on: {
        claim: { guard: 'isDue', target: 'running', actions: { type: 'claim', params: theEvent } },
        clockSet: { guard: 'isFromLater', actions: 'drawIn' },
        defer: { actions: { type: 'defer', params: theEvent } },
        served: { target: 'done', actions: 'finish' },
        cancel,
      },
    },
    running: {
      on: {
        heartbeat: { guard: owner, actions: { type: 'renewLease', params: theEvent } },
        progress: { guard: owner, actions: { type: 'noteProgress', params: theEvent } },
        complete: { guard: owner, target: 'done', actions: 'finish' },
        fail: [
          { guard: { type: 'ownerGivesUp', params: theEvent }, target: 'dead', actions: noteFailure },
          { guard: owner, target: 'failed', actions: noteFailure },
        ],
        unreached: [
          { guard: { type: 'ownerGivesUpReaching', params: theEvent }, target: 'dead', actions: noteUnreached },
          { guard: owner, target: 'failed', actions: noteUnreached },
        ],
        release: { guard: owner, target: 'pending', actions: { type: 'giveBack', params: theEvent } },
        leaseExpired: [
          { guard: 'leaseIsOverForGood', target: 'dead', actions: 'noteExpiry' },
          { guard: 'leaseIsOver', target: 'pending', actions: 'noteExpiry' },
        ],
        orphaned: [
          { guard: { type: 'killedTheProcessForGood', params: theEvent }, target: 'dead', actions: 'noteCrash' },
          { target: 'pending', actions: { type: 'orphan', params: theEvent } },
        ],
        cancel,
      },
    },
    failed: {
      on: {
        due: { guard: 'isDue', target: 'pending', actions: 'touch' },
        served: { target: 'done', actions: 'finish' },
        clockSet: { guard: 'isFromLater', actions: 'drawIn' },
        cancel,
      },
    },
    done: { on: { silence: { guard: 'saysSomething', actions: { type: 'silence', params: theEvent } } } },
    dead: {
      on: {
        retry: { target: 'pending', actions: 'startAfresh' },
        cancel,
      },
    },
  },
});

export const nextJob: NextRow<Job, JobEvent> = nextRowBy(jobMachine, 'status');

/** Absent in rows of earlier versions. */
function unreachedOf({ unreached = 0 }: Job): number {
  return unreached;
}

function released(at: number) {
  return { lease_until: 0, suspect: false, updated_at: at };
}
