import { dayMs, hourMs, minuteMs } from '../domain/durations.ts';

export interface RetryDelayInput {
  tries: number;
  baseMs: number;
  maxMs: number;
  random: number;
  retryAfterMs: number | undefined;
}

/** Exponential delay with equal jitter, ms, at least Retry-After. Null if above `maxMs` (`resilience.*`): give up. */
export function retryDelayMs({ tries, baseMs, maxMs, random, retryAfterMs = 0 }: RetryDelayInput): number | null {
  if (retryAfterMs > maxMs) return null;
  return Math.max(retryAfterMs, equalJitterMs(tries, baseMs, maxMs, random));
}

/** Max Retry-After. A time years ahead is an error, and would block the job. */
const maxRetryAfterMs = dayMs;

/** An HTTP date begins with the name of the day, but Date.parse accepts much more. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** Retry-After (RFC 9110, 10.2.3: seconds or a date) in ms from `now`, at most a day; undefined if unreadable. */
export function readRetryAfterMs(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Math.min(maxRetryAfterMs, Math.ceil(Number(text) * 1000));
  const date = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(maxRetryAfterMs, Math.max(0, date - now));
}

/** Exponential backoff, ms: 0.5 to 1 × min(maxMs, baseMs × 2^(tries − 1)) by `random` in [0, 1). `tries` from 1. */
function equalJitterMs(tries: number, baseMs: number, maxMs: number, random: number): number {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(tries - 1, 30));
  return full * (0.5 + random / 2);
}

const maxBackoffMs = hourMs;

/** Delay of a job's retry, ms, at most an hour. Source: contract "jobs.backoff_base_s". */
export function backoffDelayMs(attempt: number, baseMs: number, random: number): number {
  return equalJitterMs(attempt, baseMs, maxBackoffMs, random);
}

const maxReachDelayMs = 6 * hourMs;

/** Delay for an unreachable host, ms: a minute, doubled up to six hours. */
export function reachDelayMs(tries: number, random: number): number {
  return equalJitterMs(tries, minuteMs, maxReachDelayMs, random);
}

/**
 * Limits a provider's retries to a share of its requests and a small reserve (Finagle's RetryBudget, with 20 %).
 * A provider that fails half of its calls never opens its breaker: each request would cost `retry_attempts` calls.
 */
export interface RetryBudget {
  /** Available retries at `at` (ms, monotonic). */
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

/** Call after a request that is not a retry. */
export function noteRequest(budget: RetryBudget, at: number): RetryBudget {
  const { balance } = grown(budget, at);
  return { balance: Math.min(maxSaved, balance + earnedPerRequest), at };
}

export function takeRetry(budget: RetryBudget, at: number): RetryBudget | null {
  const { balance } = grown(budget, at);
  return balance < 1 ? null : { balance: balance - 1, at };
}
