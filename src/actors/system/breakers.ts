/** Circuit breakers: one actor per provider name, created on first use. */
import type { Logger } from 'pino';
import { type Actor, createActor } from 'xstate';
import { type BreakerPolicy, breakerMachine } from '../../machines/breaker.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { ProviderBreaker } from '../../providers/provider-settings.ts';
import { BreakerOpenError, ProviderError } from '../../providers/resilient-call.ts';

export interface BreakersDependencies {
  policy: BreakerPolicy;
  monotonic: () => number;
  log: Logger;
}

/** Max retry time while a probe runs. */
const probeWaitMs = 2000;

type RunningBreaker = Actor<typeof breakerMachine>;

export type Breakers = ReturnType<typeof createBreakers>;

export function createBreakers({ policy, monotonic, log }: BreakersDependencies) {
  const running = new Map<string, RunningBreaker>();

  const breakerOf = (name: string): RunningBreaker => {
    const known = running.get(name);
    if (known !== undefined) return known;
    const breaker = createActor(breakerMachine, { input: policy }).start();
    running.set(name, breaker);
    watch(name, breaker, log);
    return breaker;
  };

  return {
    of: (name: string): ProviderBreaker => ({
      state: () => running.get(name)?.getSnapshot().value ?? 'closed',
      waitMs() {
        const breaker = running.get(name)?.getSnapshot();
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
    /** Every breaker in use. An open one stays open until a call after its cooldown. */
    states: () => [...running].map(([name, breaker]) => ({ name, state: breaker.getSnapshot().value })),
  };

  function waitMs({ value, context }: ReturnType<RunningBreaker['getSnapshot']>, at: number): number {
    return value === 'open' ? context.openUntil - at : Math.min(probeWaitMs, policy.cooldownMs);
  }
}

/** What an error proves about the provider or network, if anything. An unreachable host proves a network. */
function verdictOn(error: unknown): 'succeeded' | 'failed' | 'cancelled' {
  if (error instanceof FetchError) {
    if (error.code === 'offline') return 'failed';
    return error.wasAnswered || error.mayBeOffline ? 'succeeded' : 'cancelled';
  }
  if (!(error instanceof ProviderError)) return 'cancelled';
  return error.againstProvider ? 'failed' : 'succeeded';
}

function watch(name: string, breaker: RunningBreaker, log: Logger): void {
  let before = breaker.getSnapshot().value;
  breaker.subscribe(({ value }) => {
    if (value !== before) log.warn({ provider: name, before, state: value }, 'a circuit breaker changed its state');
    before = value;
  });
}
