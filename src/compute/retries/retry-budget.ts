/**
 * Limits a provider's retries to a share of its requests, with a small reserve for quiet times. A provider that fails half of its calls
 * never opens its breaker; without a budget each request would then cost `retry_attempts` calls.
 * Units:  1 = one retry; time in ms, monotonic.
 * Source: Finagle's RetryBudget (20 % of requests and a reserve), with a smaller reserve for one household.
 */
export interface RetryBudget {
  /** Available retries at `at`. */
  balance: number;
  at: number;
}

export const earnedPerRequest = 0.2;
/** Retries earned per second, for rarely called providers. */
const earnedPerSecond = 1;
export const maxSaved = 10;

export function fullBudget(at: number): RetryBudget {
  return { balance: maxSaved, at };
}

function grown({ balance, at: before }: RetryBudget, at: number): RetryBudget {
  return { balance: Math.min(maxSaved, balance + (earnedPerSecond * (at - before)) / 1000), at };
}

/** After a request that is not a retry. */
export function noteRequest(budget: RetryBudget, at: number): RetryBudget {
  const { balance } = grown(budget, at);
  return { balance: Math.min(maxSaved, balance + earnedPerRequest), at };
}

/** Null if none is left. */
export function takeRetry(budget: RetryBudget, at: number): RetryBudget | null {
  const { balance } = grown(budget, at);
  return balance < 1 ? null : { balance: balance - 1, at };
}
