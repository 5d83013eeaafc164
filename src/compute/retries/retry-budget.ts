/**
 * How many retries a provider's calls may make together: a share of its requests, and a few more for quiet times. A provider
 * that fails half of everything never opens its breaker; without a budget each request would cost `retry_attempts` calls
 * just then.
 * Units:  1 = one retry; time in ms, monotonic.
 * Source: Finagle's RetryBudget (20 % of requests and a reserve), sized for one household: its reserve of ten a second would
 *         never bind here.
 */
export interface RetryBudget {
  /** Retries that may be made now. */
  balance: number;
  /** When `balance` was right. */
  at: number;
}

/** Retries earned by one request. */
export const earnedPerRequest = 0.2;
/** Retries earned by a second, so that a provider that is rarely called can be called again. */
const earnedPerSecond = 1;
/** Retries that can be saved up. */
export const maxSaved = 10;

export function fullBudget(at: number): RetryBudget {
  return { balance: maxSaved, at };
}

function grown({ balance, at: before }: RetryBudget, at: number): RetryBudget {
  return { balance: Math.min(maxSaved, balance + (earnedPerSecond * (at - before)) / 1000), at };
}

/** The budget after another request, not a retry, has begun. */
export function noteRequest(budget: RetryBudget, at: number): RetryBudget {
  const { balance } = grown(budget, at);
  return { balance: Math.min(maxSaved, balance + earnedPerRequest), at };
}

/** The budget after a retry, or null where there is none left for it. */
export function takeRetry(budget: RetryBudget, at: number): RetryBudget | null {
  const { balance } = grown(budget, at);
  return balance < 1 ? null : { balance: balance - 1, at };
}
