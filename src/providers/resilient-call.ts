/**
 * Calls to an outside provider: a deadline, few jittered retries from one budget, a breaker that each attempt asks, and
 * a time limit per attempt that closes its socket. No pause begins if it would end after the deadline.
 */
import { fullBudget, noteRequest, retryDelayMs, takeRetry } from '../compute/retries.ts';
import { traced } from '../compute/span.ts';
import { unlessAborted } from '../compute/unless-aborted.ts';
import { type Clock, Deadline } from './clock.ts';

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
  /** Returns false for no further attempt, because the caller has used a part of the answer. */
  mayRetry?: () => boolean;
}

/** `attempt` runs once per attempt, with its signal. */
export type ProviderCall = <Result>(
  attempt: (signal: AbortSignal) => Promise<Result>,
  options?: CallOptions,
) => Promise<Result>;

/** Errors: ProviderError of the last attempt, BreakerOpenError, the caller's abort reason; others without a retry. */
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

/** Ends even if the attempt ignores its signal. Errors: ProviderError `timeout`; the caller's abort reason. */
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

interface FaultRule {
  /** The same call may succeed soon. */
  retryable: boolean;
  /** No later attempt can succeed. */
  permanent: boolean;
  /** Whether its breaker counts it as a failure. Otherwise the provider has proved that it answers. */
  againstProvider: boolean;
  /** One text of the batch may be the cause, so the others may succeed without it. */
  mayBeOneText: boolean;
}

const no: FaultRule = { retryable: false, permanent: false, againstProvider: false, mayBeOneText: false };
const rules = {
  unconfigured: { ...no, permanent: true },
  /** Other 4xx: the provider rejects the request. */
  refused: { ...no, permanent: true, mayBeOneText: true },
  /** 401 and 403. */
  unauthorized: { ...no, permanent: true },
  /** 408, 425 and 429. */
  busy: { ...no, retryable: true, againstProvider: true },
  /** 5xx. */
  failing: { ...no, retryable: true, againstProvider: true },
  /** 3xx: a redirect is never followed with a key. */
  redirected: { ...no, permanent: true },
  /** No complete answer within one attempt's time. */
  timeout: { ...no, retryable: true, againstProvider: true },
  /** No connection, or the connection failed. */
  unreachable: { ...no, retryable: true, againstProvider: true },
  /** The answer is not JSON: a gateway's page, truncated, compressed. */
  not_json: { ...no, retryable: true, againstProvider: true },
  too_large: { ...no, againstProvider: true },
  /** JSON of the wrong shape: missing rows, invalid numbers. */
  bad_answer: { ...no, mayBeOneText: true },
};
export type ProviderFault = keyof typeof rules;

export interface ProviderErrorOptions {
  status?: number;
  /** Requested by the provider, from now. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Its message names provider, status and fault; never a body, text or secret. */
export class ProviderError extends Error {
  readonly code: ProviderFault;
  readonly provider: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly retryable: boolean;
  readonly permanent: boolean;
  readonly againstProvider: boolean;
  readonly mayBeOneText: boolean;

  constructor(provider: string, code: ProviderFault, detail: string, options: ProviderErrorOptions = {}) {
    super(`provider ${provider}: ${detail}`, options);
    this.name = 'ProviderError';
    this.code = code;
    this.provider = provider;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable = rules[code].retryable;
    this.permanent = rules[code].permanent;
    this.againstProvider = rules[code].againstProvider;
    this.mayBeOneText = rules[code].mayBeOneText;
  }
}

/** No call: the provider's breaker is open. Not an attempt; retry after `retryAfterMs`. The job stores a `reason`. */
export class BreakerOpenError extends Error {
  readonly code = 'breaker_open';
  readonly retryable = false;
  readonly provider: string;
  readonly retryAfterMs: number;
  readonly reason: string | undefined;

  constructor(provider: string, retryAfterMs: number, reason?: string) {
    super(reason ?? `provider ${provider} is paused: it failed too often`);
    this.name = 'BreakerOpenError';
    this.provider = provider;
    this.retryAfterMs = retryAfterMs;
    this.reason = reason;
  }
}
