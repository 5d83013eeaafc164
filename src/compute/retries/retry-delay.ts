/** How long to wait before a call is made again. */
import { dayMs } from '../../domain/durations.ts';
import { equalJitterMs } from './backoff.ts';

export interface RetryDelayInput {
  /** Tries made so far, at least 1. */
  tries: number;
  baseMs: number;
  maxMs: number;
  /** In [0, 1). */
  random: number;
  /** What the provider asked for, if it did. */
  retryAfterMs: number | undefined;
}

/**
 * Exponential delay with equal jitter, never shorter than the provider asked for; null where it asked for more than `maxMs`: then
 * this call gives up, and whoever can wait longer (a job) comes back later.
 * Units:  ms; without a wish as of `equalJitterMs`.
 * Source: contract "resilience.retry_base_delay_s", "resilience.retry_max_delay_s".
 */
export function retryDelayMs({ tries, baseMs, maxMs, random, retryAfterMs = 0 }: RetryDelayInput): number | null {
  if (retryAfterMs > maxMs) return null;
  return Math.max(retryAfterMs, equalJitterMs(tries, baseMs, maxMs, random));
}

/** The longest pause that is granted: a server that names a time years ahead is wrong, and nobody could call the job back before. */
const maxRetryAfterMs = dayMs;

/** A date as HTTP writes it begins with the day's name; anything else that Date.parse takes is not meant. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * The value of a Retry-After header, in ms from `now`, a day at most; undefined where there is none that can be read.
 * Shapes: seconds (a whole number; fractions are sent, too) or an HTTP date; now in ms since the epoch.
 * Source: RFC 9110, section 10.2.3.
 */
export function readRetryAfterMs(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Math.min(maxRetryAfterMs, Math.ceil(Number(text) * 1000));
  const date = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(maxRetryAfterMs, Math.max(0, date - now));
}
