/** Which rows are old enough to delete. A clock far ahead of the store's last event is trusted only after `doubtMs`. */
import { dayMs, hourMs } from '../../domain/durations.ts';
import type { ClockRecord } from '../../store/clock.ts';
import type { StoreReader } from '../../store/store.ts';
import type { LibraryParts } from './service.ts';

type RetentionDependencies = Pick<LibraryParts, 'reader' | 'commit' | 'log' | 'now' | 'monotonic'>;

/** Rows before this time, ms, may be deleted; null: none. */
export type OldBefore = () => Promise<number | null>;

/** Max lead of a trusted clock, ms: few machines are off by more. */
const maxAheadMs = 7 * dayMs;
/** Time until a doubted clock is trusted, ms of the service running. */
const doubtMs = dayMs;
/** How often a trusted time is stored, ms. */
const noteEveryMs = hourMs / 2;

/** The last known time in the store; undefined if the store is empty. */
function lastKnown({ clock, metrics, queryLog }: StoreReader): ClockRecord | undefined {
  const [run] = queryLog.numbers({ limit: 1 });
  const times = [metrics.lastTime(), run === undefined ? undefined : queryLog.get(run)?.ts];
  const events = times.filter((time): time is number => time !== undefined);
  return clock.get() ?? (events.length === 0 ? undefined : { trusted: Math.max(...events), doubted: 0 });
}

/** Days that a doubted clock is ahead, while that blocks deletions; otherwise null. */
export function daysAhead(reader: StoreReader, now: number): number | null {
  const known = lastKnown(reader);
  if (known === undefined || now - known.trusted <= maxAheadMs || known.doubted >= doubtMs) return null;
  return Math.round((now - known.trusted) / dayMs);
}

export const clockAheadText = (days: number): string =>
  `the clock is ${days} days ahead of the last event: nothing is deleted by age until the service has run for 24 hours`;

/** Call before this process writes to the store. Returns a function that finds the time limit for `keepDays`. */
export function openRetention({ reader, commit, log, now, monotonic }: RetentionDependencies) {
  let known = lastKnown(reader);
  let written = reader.clock.get();
  let lookedAt = monotonic();
  let isTold = false;

  return async (keepDays: number): Promise<number | null> => {
    const at = now();
    const ranMs = monotonic() - lookedAt;
    lookedAt += ranMs;
    const { trusted, doubted: ranBefore } = known ?? { trusted: at, doubted: 0 };
    const doubted = ranBefore + ranMs;
    const isDoubted = at - trusted > maxAheadMs && doubted < doubtMs;
    known = isDoubted ? { trusted, doubted } : { trusted: at, doubted: 0 };
    if (isDoubted !== isTold) {
      isTold = isDoubted;
      const days = Math.round((at - trusted) / dayMs);
      if (isDoubted) log.warn({ last_event: new Date(trusted).toISOString() }, clockAheadText(days));
      else log.info({}, 'the clock is trusted again: deleting old rows');
    }
    const isNoted = written?.doubted === known.doubted && Math.abs(known.trusted - written.trusted) < noteEveryMs;
    if (!isNoted) {
      const noted = known;
      await commit(({ clock }) => clock.put(noted));
      written = noted;
    }
    return isDoubted ? null : at - keepDays * dayMs;
  };
}
