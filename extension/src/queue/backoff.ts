/** How long to wait after a failure. Pure. */

const firstMs = 30_000;
const longestMs = 30 * 60_000;
/** What a service may ask for at most, and so the longest wait: a day. */
const longestAskedMs = 24 * 3600_000;

/**
 * Ms until the next try: doubled with each failure in a row, spread over the upper half so that several browsers do not come at
 * once, and never less than what the service asked for.
 * Units: `failures` from 1; `retryAfterMs` null where nothing was asked; `random` 0 to 1.
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
