/**
 * What happens to snapshots of the metrics: they are written, thinned out when they are a day old, and deleted in the end. So what
 * is kept is bounded: with snapshots every 15 s some 8,000 rows of about 2 KB.
 */
import { dayMs, hourMs } from '../domain/durations.ts';
import type { MetricSeries } from '../domain/metrics.ts';
import type { MetricSnapshot } from '../store/metric-snapshots.ts';
import type { Command } from '../store/store.ts';

/** All snapshots are kept for so long, then the first of each hour, ms. */
export const keepAllMs = dayMs;
/** Rows looked at in one transaction. */
const sliceRows = 500;

/** Write a snapshot down, with the series that it is the first to have. */
export function keepSnapshot(
  snapshot: MetricSnapshot,
  added: readonly { no: number; series: MetricSeries }[],
): Command<void> {
  return ({ metrics }) => {
    for (const { no, series } of added) metrics.putSeries(no, series);
    metrics.put(snapshot);
  };
}

/** Delete what is too old in a slice that begins at `from`; gives where the next one begins, or null at the end. */
export function thinSnapshots(from: number, now: number, keepMs: number): Command<number | null> {
  return ({ metrics }) => {
    const times = metrics.times(from, now - Math.min(keepAllMs, keepMs), sliceRows);
    let hour = -1;
    for (const ts of times) {
      const own = Math.floor(ts / hourMs);
      if (ts < now - keepMs || own === hour) metrics.remove(ts);
      else hour = own;
    }
    const last = times.at(-1);
    if (last === undefined || times.length < sliceRows) return null;
    // The hour that the slice ended in is looked at again from its beginning.
    return Math.max(from + 1, Math.floor(last / hourMs) * hourMs);
  };
}
