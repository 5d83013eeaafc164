/**
 * Exponential backoff with equal jitter: half of the delay is certain, the other half random, so that jobs that failed together
 * do not come back together.
 * Shapes: attempt ≥ 1 counts the attempts made; random in [0, 1).
 * Units:  ms; in [0.5, 1] × base × 2^(attempt − 1), at most an hour.
 * Source: contract "jobs.backoff_base_s".
 */
export function backoffDelayMs(attempt: number, baseMs: number, random: number): number {
  const full = Math.min(maxBackoffMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return full * (0.5 + random / 2);
}

const maxBackoffMs = 3_600_000;
