/**
 * The breaker machine: whether calls to one outside provider are let through. Pure: an event carries the monotonic time and
 * the generation that the call was admitted in. An `attempt` that is not accepted is a call refused. `docs/providers.md` says
 * what counts as a failure.
 *
 * closed     every call goes through; `failures` counts those in a row, in the order in which calls end
 * open       no call goes through before `openUntil`; the first attempt after it is the probe
 * half_open  the probe is under way; every other call is refused. A success closes, a failure opens for another cooldown, a
 *            cancelled probe says nothing: the breaker is open again with its cooldown over, and the next attempt is the probe
 *
 * Each change of state begins a generation. What a call of an older generation reports is ignored: of fifty calls that fail
 * together the fifth opens the breaker and the others neither lengthen the cooldown nor close or open it later.
 */
import { assign, setup } from 'xstate';

export interface BreakerPolicy {
  /** Failures in a row that open the breaker, at least 1. */
  failureThreshold: number;
  cooldownMs: number;
}

export interface BreakerContext {
  policy: BreakerPolicy;
  /** Failures since the last success, while closed. */
  failures: number;
  /** Raised with every change of state. */
  generation: number;
  /** Monotonic, ms: when the last cooldown ends or ended. */
  openUntil: number;
}

export type BreakerEvent =
  /** A call asks to go through; accepted, it reports once, under the generation that holds after this event. */
  | { type: 'attempt'; at: number }
  /** The provider answered, if only to say that the request was wrong. */
  | { type: 'succeeded'; at: number; generation: number }
  | { type: 'failed'; at: number; generation: number }
  /** The call ended without saying anything about the provider: its caller left. */
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
