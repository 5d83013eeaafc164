/**
 * The breaker machine: whether calls to an outside provider are allowed. Pure: an event carries the monotonic time and
 * the generation of the call's admission. A refused `attempt` is a refused call. `docs/providers.md` defines failures.
 *
 * closed     every call passes; `failures` counts consecutive ones, in the order in which calls end
 * open       no call passes before `openUntil`; the first attempt after it is the probe
 * half_open  the probe runs; other calls are refused. A success closes, a failure opens for another cooldown, a
 *            cancelled probe opens without a cooldown, so the next attempt is the probe
 *
 * Each change of state begins a generation. Results of older generations are ignored: when fifty calls fail together,
 * the fifth opens the breaker and the others change nothing.
 */
import { assign, setup } from 'xstate';

export interface BreakerPolicy {
  /** Consecutive failures that open the breaker, at least 1. */
  failureThreshold: number;
  cooldownMs: number;
}

export interface BreakerContext {
  policy: BreakerPolicy;
  failures: number;
  generation: number;
  /** Monotonic, ms: end of the last cooldown. */
  openUntil: number;
}

export type BreakerEvent =
  /** A call asks for admission. An admitted call reports once, with the generation after this event. */
  | { type: 'attempt'; at: number }
  /** The provider answered, even with a client error. */
  | { type: 'succeeded'; at: number; generation: number }
  | { type: 'failed'; at: number; generation: number }
  /** The caller aborted, so the call proves nothing. */
  | { type: 'cancelled'; at: number; generation: number };

const isCurrent = ({ context, event }: { context: BreakerContext; event: BreakerEvent }) =>
  'generation' in event && event.generation === context.generation;

export const breakerMachine = setup({
  types: { context: {} as BreakerContext, events: {} as BreakerEvent, input: {} as BreakerPolicy },
  guards: {
    current: isCurrent,
    isLastStraw: (args) => isCurrent(args) && args.context.failures + 1 >= args.context.policy.failureThreshold,
    endsARow: (args) => isCurrent(args) && args.context.failures > 0,
    cooldownIsOver: ({ context, event }) => event.at >= context.openUntil,
  },
  actions: {
    beginGeneration: assign({ failures: 0, generation: ({ context }) => context.generation + 1 }),
    startCooldown: assign({ openUntil: ({ context, event }) => event.at + context.policy.cooldownMs }),
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    forgetFailures: assign({ failures: 0 }),
  },
}).createMachine({
  id: 'breaker',
  context: ({ input }) => ({ policy: input, failures: 0, generation: 0, openUntil: 0 }),
  initial: 'closed',
  states: {
    closed: {
      on: {
        attempt: { target: 'closed' },
        succeeded: { guard: 'endsARow', actions: 'forgetFailures' },
        failed: [
          { guard: 'isLastStraw', target: 'open', actions: ['beginGeneration', 'startCooldown'] },
          { guard: 'current', actions: 'countFailure' },
        ],
      },
    },
    open: {
      on: { attempt: { guard: 'cooldownIsOver', target: 'half_open', actions: 'beginGeneration' } },
    },
    half_open: {
      on: {
        succeeded: { guard: 'current', target: 'closed', actions: 'beginGeneration' },
        failed: { guard: 'current', target: 'open', actions: ['beginGeneration', 'startCooldown'] },
        cancelled: { guard: 'current', target: 'open', actions: 'beginGeneration' },
      },
    },
  },
});
