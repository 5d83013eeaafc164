/**
 * The breakers: one live actor per provider name, children of one actor that lives under the supervisor. They are here and not
 * among the providers because running a machine is what actors do; a provider only knows that a breaker lets a call through or
 * does not. The actors are made when a name is first used. While their parent is not running (at start, at stop, after a crash)
 * every call is refused as if the breaker were open, so that the jobs in question are given back uncounted.
 */
import type { Logger } from 'pino';
import { type ActorRefFrom, assign, sendParent, setup } from 'xstate';
import type { BreakerState } from '../../domain/breaker-state.ts';
import { type BreakerPolicy, breakerMachine } from '../../machines/breaker.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import { BreakerOpenError, ProviderError } from '../../providers/provider-error.ts';
import type { ProviderBreaker } from '../../providers/provider-settings.ts';

export interface BreakersDependencies {
  policy: BreakerPolicy;
  /** Monotonic, ms. */
  monotonic: () => number;
  log: Logger;
}

export interface BreakerReading {
  name: string;
  state: BreakerState;
}

/** When to come back while a probe is under way, at most: it ends soon, but nobody knows when. */
const probeWaitMs = 2000;
/** When to come back while the breakers are being started again: the supervisor's first backoff is 100 ms. */
const restartWaitMs = 1000;

type BreakerRef = ActorRefFrom<typeof breakerMachine>;

interface Context {
  breakers: ReadonlyMap<string, BreakerRef>;
}

type Event = { type: 'use'; name: string } | { type: 'stop' };

/** The running parent, as far as it is needed from outside. */
interface Parent {
  send(event: Event): void;
  getSnapshot(): { context: Context };
}

export interface Breakers {
  /** The supervisor's child `breakers`: says `ready.breakers`, and `stopped.breakers` after `stop`. */
  logic: ReturnType<typeof breakersLogic>;
  /** The breaker of a provider; may be asked for at any time. */
  of(name: string): ProviderBreaker;
  /** Every breaker that was used, by name. An open one says so until a call comes after its cooldown. */
  states(): BreakerReading[];
}

export function createBreakers(dependencies: BreakersDependencies): Breakers {
  const { policy, monotonic, log } = dependencies;
  let live: Parent | undefined;
  const logic = breakersLogic(policy, log, (parent) => {
    live = parent;
  });

  const breakerOf = (name: string): BreakerRef => {
    if (live === undefined) throw new BreakerOpenError(name, restartWaitMs);
    live.send({ type: 'use', name });
    const breaker = live.getSnapshot().context.breakers.get(name);
    if (breaker === undefined) throw new BreakerOpenError(name, restartWaitMs);
    return breaker;
  };

  return {
    logic,
    of: (name) => ({
      state: () => live?.getSnapshot().context.breakers.get(name)?.getSnapshot().value ?? 'closed',
      waitMs() {
        if (live === undefined) return restartWaitMs;
        const breaker = live.getSnapshot().context.breakers.get(name)?.getSnapshot();
        const at = monotonic();
        return breaker === undefined || breaker.can({ type: 'attempt', at }) ? 0 : waitMs(breaker, at);
      },
      async call(run) {
        const breaker = breakerOf(name);
        const at = monotonic();
        const before = breaker.getSnapshot();
        if (!before.can({ type: 'attempt', at })) throw new BreakerOpenError(name, waitMs(before, at));
        breaker.send({ type: 'attempt', at });
        const { generation } = breaker.getSnapshot().context;
        try {
          const result = await run();
          breaker.send({ type: 'succeeded', at: monotonic(), generation });
          return result;
        } catch (error) {
          breaker.send({ type: verdictOn(error), at: monotonic(), generation });
          throw error;
        }
      },
    }),
    states: () =>
      [...(live?.getSnapshot().context.breakers ?? [])].map(([name, breaker]) => ({
        name,
        state: breaker.getSnapshot().value,
      })),
  };

  function waitMs({ value, context }: ReturnType<BreakerRef['getSnapshot']>, at: number): number {
    return value === 'open' ? context.openUntil - at : Math.min(probeWaitMs, policy.cooldownMs);
  }
}

/**
 * What a call that threw says about the provider, or the network. An error that is not the provider's (its caller left, a bug) says
 * nothing. That a host cannot be reached is said where the network is there.
 */
function verdictOn(error: unknown): 'succeeded' | 'failed' | 'cancelled' {
  if (error instanceof FetchError) {
    if (error.code === 'offline') return 'failed';
    return error.wasAnswered || error.mayBeOffline ? 'succeeded' : 'cancelled';
  }
  if (!(error instanceof ProviderError)) return 'cancelled';
  return error.againstProvider ? 'failed' : 'succeeded';
}

/** Log each change of state. */
function watch(name: string, breaker: BreakerRef, log: Logger): void {
  let before = breaker.getSnapshot().value;
  breaker.subscribe(({ value }) => {
    if (value !== before) log.warn({ provider: name, before, state: value }, 'a breaker changed its state');
    before = value;
  });
}

function breakersLogic(policy: BreakerPolicy, log: Logger, attach: (parent: Parent | undefined) => void) {
  return setup({
    types: { context: {} as Context, events: {} as Event },
    actors: { breaker: breakerMachine },
    guards: { isNew: ({ context, event }) => event.type === 'use' && !context.breakers.has(event.name) },
  }).createMachine({
    id: 'breakers',
    context: { breakers: new Map() },
    initial: 'serving',
    states: {
      serving: {
        entry: [({ self }) => attach(self), sendParent({ type: 'ready.breakers' })],
        exit: [() => attach(undefined)],
        on: {
          use: {
            guard: 'isNew',
            actions: assign(({ context, event: { name }, spawn }) => {
              const breaker = spawn('breaker', { id: `breaker.${name}`, input: policy });
              watch(name, breaker, log);
              return { breakers: new Map(context.breakers).set(name, breaker) };
            }),
          },
          stop: { target: 'stopped', actions: sendParent({ type: 'stopped.breakers' }) },
        },
      },
      stopped: { type: 'final' },
    },
  });
}
