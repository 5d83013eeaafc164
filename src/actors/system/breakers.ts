/** Circuit breakers: one per provider name, created on first use. */
import type { BreakerState } from '../../domain/breaker-state.ts';
import { type Breaker, type BreakerEvent, type BreakerPolicy, nextBreaker } from '../../machines/breaker.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import { BreakerOpenError, ProviderError } from '../../providers/provider-error.ts';
import type { ProviderBreaker } from '../../providers/provider-settings.ts';
import type { LibraryParts } from './service.ts';

interface BreakersDependencies extends Pick<LibraryParts, 'log' | 'monotonic'> {
  policy: BreakerPolicy;
}

interface BreakerReading {
  name: string;
  state: BreakerState;
}

/** Retry time while a probe runs, at most. */
const probeWaitMs = 2000;

export interface Breakers {
  of(name: string): ProviderBreaker;
  /** All breakers used, by name. An open one stays so until a call after its cooldown. */
  states(): BreakerReading[];
}

export function createBreakers({ policy, monotonic, log }: BreakersDependencies): Breakers {
  const running = new Map<string, Breaker>();
  const unused: Breaker = { state: 'closed', policy, failures: 0, generation: 0, openUntil: 0 };
  const breakerOf = (name: string): Breaker => running.get(name) ?? unused;

  function send(name: string, event: BreakerEvent): boolean {
    const before = breakerOf(name);
    const after = nextBreaker(before, event);
    if (after === null) return false;
    running.set(name, after);
    if (after.state !== before.state) {
      log.warn({ provider: name, before: before.state, state: after.state }, 'a breaker changed its state');
    }
    return true;
  }

  return {
    of: (name) => ({
      state: () => breakerOf(name).state,
      waitMs() {
        const at = monotonic();
        return nextBreaker(breakerOf(name), { type: 'attempt', at }) === null ? waitMs(breakerOf(name), at) : 0;
      },
      async call(run) {
        const at = monotonic();
        if (!send(name, { type: 'attempt', at })) throw new BreakerOpenError(name, waitMs(breakerOf(name), at));
        const { generation } = breakerOf(name);
        try {
          const result = await run();
          send(name, { type: 'succeeded', at: monotonic(), generation });
          return result;
        } catch (error) {
          send(name, { type: verdictOn(error), at: monotonic(), generation });
          throw error;
        }
      },
    }),
    states: () => [...running].map(([name, { state }]) => ({ name, state })),
  };

  function waitMs({ state, openUntil }: Breaker, at: number): number {
    return state === 'open' ? openUntil - at : Math.min(probeWaitMs, policy.cooldownMs);
  }
}

/**
 * What a call's error says about the provider or network; unrelated errors (caller left, bug) say nothing. An unreachable host proves a
 * network.
 */
function verdictOn(error: unknown): 'succeeded' | 'failed' | 'cancelled' {
  if (error instanceof FetchError) {
    if (error.code === 'offline') return 'failed';
    return error.wasAnswered || error.mayBeOffline ? 'succeeded' : 'cancelled';
  }
  if (!(error instanceof ProviderError)) return 'cancelled';
  return error.againstProvider ? 'failed' : 'succeeded';
}
