import { hourMs, minuteMs } from '../../domain/durations.ts';

/**
 * Exponential backoff with equal jitter: half of the delay is certain, the other half random, so that what failed together does not
 * come back together.
 * Shapes: tries ≥ 1 counts those made; random in [0, 1).
 * Units:  ms; in [0.5, 1] × min(maxMs, baseMs × 2^(tries − 1)).
 */
export function equalJitterMs(tries: number, baseMs: number, maxMs: number, random: number): number {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(tries - 1, 30));
  return full * (0.5 + random / 2);
}

const maxBackoffMs = hourMs;

/** When a job is tried again after `attempt` attempts, ms from then; an hour at most. Source: contract "jobs.backoff_base_s". */
export function backoffDelayMs(attempt: number, baseMs: number, random: number): number {
  return equalJitterMs(attempt, baseMs, maxBackoffMs, random);
}

const maxReachDelayMs = 6 * hourMs;

/** When a host that could not be reached is tried again after `tries` tries in a row, ms from then: a minute doubled up to six hours. */
export function reachDelayMs(tries: number, random: number): number {
  return equalJitterMs(tries, minuteMs, maxReachDelayMs, random);
}
