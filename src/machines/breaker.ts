/**
 * The breaker machine: whether calls to an outside provider are allowed. Pure: an event carries the monotonic time and
 * the generation of the call's admission. A refused `attempt` is a refused call. `docs/providers.md` defines failures.
 *
 * closed     every call passes; `failures` counts consecutive ones, in the order in which calls end
 * open       no call passes before `openUntil`; the first attempt after it is the probe
 * half_open  the probe runs; other calls are refused. A success closes, a failure opens for another cooldown, a
 *            cancelled probe opens with its cooldown over, so the next attempt is the probe
 *
 * Each change of state begins a generation. Results of older generations are ignored: when fifty calls fail together,
 * the fifth opens the breaker and the others change nothing.
 */
import type { BreakerState } from '../domain/breaker-state.ts';
import { nextRowBy, type Transitions } from './next-row.ts';

export interface BreakerPolicy {
  /** Consecutive failures that open the breaker, at least 1. */
  failureThreshold: number;
  cooldownMs: number;
}

export interface Breaker {
  state: BreakerState;
  policy: BreakerPolicy;
  failures: number;
  /** Incremented with every change of state. */
  generation: number;
  /** Monotonic, ms: end of the last cooldown. */
  openUntil: number;
}

export type BreakerEvent =
  /** A call asks to pass; an accepted call reports once, under the generation after this event. */
  | { type: 'attempt'; at: number }
  /** The provider answered, even with a client error. */
  | { type: 'succeeded'; at: number; generation: number }
  | { type: 'failed'; at: number; generation: number }
  /** The caller aborted, so the call proves nothing. */
  | { type: 'cancelled'; at: number; generation: number };

type Ending = Extract<BreakerEvent, { generation: number }>;

const begin = (breaker: Breaker, changes: Partial<Breaker>): Breaker => ({
  ...breaker,
  failures: 0,
  generation: breaker.generation + 1,
  ...changes,
});

const open = (breaker: Breaker, at: number) =>
  begin(breaker, { state: 'open', openUntil: at + breaker.policy.cooldownMs });

const current = (next: (breaker: Breaker, at: number) => Breaker | null) => (breaker: Breaker, event: Ending) =>
  event.generation === breaker.generation ? next(breaker, event.at) : null;

const transitions: Transitions<BreakerState, Breaker, BreakerEvent> = {
  closed: {
    attempt: (breaker) => breaker,
    succeeded: current((breaker) => (breaker.failures > 0 ? { ...breaker, failures: 0 } : null)),
    failed: current((breaker, at) =>
      breaker.failures + 1 >= breaker.policy.failureThreshold
        ? open(breaker, at)
        : { ...breaker, failures: breaker.failures + 1 },
    ),
  },
  open: {
    attempt: (breaker, { at }) => (at >= breaker.openUntil ? begin(breaker, { state: 'half_open' }) : null),
  },
  half_open: {
    succeeded: current((breaker) => begin(breaker, { state: 'closed' })),
    failed: current(open),
    cancelled: current((breaker) => begin(breaker, { state: 'open' })),
  },
};

/** The breaker after an event, or null where its state does not accept the event or the event changes nothing. */
export const nextBreaker = nextRowBy<Breaker, BreakerEvent>(transitions, 'state');
