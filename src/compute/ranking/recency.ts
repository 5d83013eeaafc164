import { dayMs } from '../../domain/durations.ts';
/** How a page's score fades with the time since it was last visited. Pure; called by the retriever. */

/**
 * What remains of a score: 1 for a page seen now, a half after each half-life.
 * Units:  lastSeenAt and now in ms since the epoch, halfLifeDays above 0 in days; a page seen in the future has not faded.
 * Source: contract "recency_half_life_days"; design "after, before, recency": by `last_seen_at`.
 */
export function recencyFactor(lastSeenAt: number, now: number, halfLifeDays: number): number {
  return 2 ** (-Math.max(0, now - lastSeenAt) / (halfLifeDays * dayMs));
}
