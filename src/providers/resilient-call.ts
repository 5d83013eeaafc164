/**
 * Every call to an outside provider: a total deadline, retries (few, jittered, from one budget), the provider's breaker, and a time
 * limit per attempt that aborts its socket. The caller's signal ends everything at once.
 *
 * Each attempt asks the breaker, so an opening breaker ends all retries. The deadline needs no timer: it shortens the attempts, and no
 * pause begins that would exceed it.
 */
import { fullBudget, noteRequest, retryDelayMs, takeRetry } from '../compute/retries.ts';
import { traced } from '../compute/span.ts';
import { unlessAborted } from '../compute/unless-aborted.ts';
import { type Clock, Deadline } from './clock.ts';
import { ProviderError } from './provider-error.ts';

/** Lets a call through or throws BreakerOpenError; learns from its result. `run` must end. */
export interface CircuitBreaker {
  call<Result>(run: () => Promise<Result>): Promise<Result>;
}

export interface RetryPolicy {
  /** Attempts per call, at least 1. */
  attempts: number;
  baseDelayMs: number;
  maxDelayMs: number;
}

export interface CallParts {
  provider: string;
  breaker: CircuitBreaker;
  retry: RetryPolicy;
  timeoutMs: number;
  clock: Clock;
  random: () => number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** For all attempts and pauses; optional. */
  deadlineMs?: number | undefined;
  /** False: no further attempt, as the caller has used a part of the answer. */
  mayRetry?: () => boolean;
}

/** Make a call. `attempt` runs once per attempt, with its signal. */
export type ProviderCall = <Result>(
  attempt: (signal: AbortSignal) => Promise<Result>,
  options?: CallOptions,
) => Promise<Result>;

/**
 * Calls to one provider for one purpose, with one retry budget.
 * Errors: ProviderError of the last attempt, BreakerOpenError, the caller's abort reason; any other error of an attempt, without a
 * retry.
 */
export function resilientCall({ provider, breaker, retry, timeoutMs, clock, random }: CallParts): ProviderCall {
  let budget = fullBudget(clock.monotonic());

  /** Pause before the next attempt, taken from the budget; null for no retry. */
  const pauseBeforeRetry = (error: unknown, tries: number, endsAt: number): number | null => {
    if (!(error instanceof ProviderError) || !error.retryable || tries >= retry.attempts) return null;
    const { retryAfterMs } = error;
    const delay = { tries, baseMs: retry.baseDelayMs, maxMs: retry.maxDelayMs, random: random(), retryAfterMs };
    const pauseMs = retryDelayMs(delay);
    const now = clock.monotonic();
    if (pauseMs === null || now + pauseMs >= endsAt) return null;
    const left = takeRetry(budget, now);
    if (left === null) return null;
    budget = left;
    return pauseMs;
  };

  return async (attempt, { signal, deadlineMs = Number.POSITIVE_INFINITY, mayRetry = () => true } = {}) => {
    signal?.throwIfAborted();
    const began = clock.monotonic();
    const endsAt = began + deadlineMs;
    budget = noteRequest(budget, began);
    for (let tries = 1; ; tries++) {
      const limitMs = Math.min(timeoutMs, endsAt - clock.monotonic());
      if (limitMs <= 0) throw lateAnswer(provider, deadlineMs);
      try {
        return await traced(`provider ${provider}`, { try: tries }, () =>
          breaker.call(() => limited({ provider, clock }, attempt, limitMs, signal)),
        );
      } catch (error) {
        signal?.throwIfAborted();
        const pauseMs = mayRetry() ? pauseBeforeRetry(error, tries, endsAt) : null;
        if (pauseMs === null) throw error;
        await pause(pauseMs, signal);
      }
    }
  };

  async function pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
    let cancelTimer = () => {};
    const over = new Promise<void>((resolve) => {
      cancelTimer = clock.after(pauseMs, resolve);
    });
    await unlessAborted(over, signal).finally(() => cancelTimer());
  }
}

/**
 * Run an attempt, ended after `limitMs` or by the caller, even if it ignores its signal. Errors: ProviderError `timeout`, the caller's
 * abort reason.
 */
export function limited<Result>(
  { provider, clock }: Pick<CallParts, 'provider' | 'clock'>,
  attempt: (signal: AbortSignal) => Promise<Result>,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<Result> {
  return new Deadline(clock, limitMs, signal, lateAnswer(provider, limitMs)).run(attempt);
}

function lateAnswer(provider: string, limitMs: number): ProviderError {
  return new ProviderError(provider, 'timeout', `no answer within ${Math.round(limitMs)} ms`);
}
