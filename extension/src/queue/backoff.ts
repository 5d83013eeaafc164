/** Retry delays. Pure. */

const firstMs = 30_000;
const longestMs = 30 * 60_000;
/** Max wait, even if the service asks for more: a day. */
const longestAskedMs = 24 * 3600_000;

/**
 * Ms until the next try: doubles with each failure, with jitter in the upper half, and at least the time that the
 * service
 * asks for. Units: `failures` from 1; `retryAfterMs` null if not given; `random` 0 to 1.
 */
export function backoffMs(failures: number, retryAfterMs: number | null, random: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(20, failures - 1));
  return Math.max(Math.round(full / 2 + (full / 2) * random), Math.min(longestAskedMs, retryAfterMs ?? 0));
}

/** `Retry-After` as ms: seconds or a date (RFC 9110, 10.2.3); null for anything else. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
