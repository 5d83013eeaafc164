/**
 * When a page was visited: `first_seen_at`, `last_seen_at` and, with more than two times, `visits`: the differences in
 * ms from the last to the first time, to base 128, low digits first, a digit above 127 if another follows.
 *
 * `visits` has at most `maxBytes`, so another visit always costs the same. If it is full, one time per hour is kept,
 * enough for periods of whole hours; if still more than half full, one per day, two days and so on. The first and last
 * visit are always kept. `visit_period_ms` is the length of these periods.
 */
import { dayMs, hourMs } from '../../domain/durations.ts';
import type { Page } from '../../domain/page.ts';

export type VisitTimes = Pick<Page, 'first_seen_at' | 'last_seen_at' | 'visit_period_ms'> & {
  visits?: Uint8Array | undefined;
};

/** About 8,000 visits. Half of it has room for one visit per day over eleven years. */
export const maxBytes = 2 ** 15;

/** Walks from the last visit to the first. */
class Walk {
  readonly bytes: Uint8Array;
  time: number;
  /** Offset in `bytes` after the difference that led to `time`. */
  end = 0;

  constructor({ first_seen_at, last_seen_at, visits }: VisitTimes) {
    this.bytes =
      visits ?? Uint8Array.from(first_seen_at === last_seen_at ? [] : digitsOf(last_seen_at - first_seen_at));
    this.time = last_seen_at;
  }

  older(): boolean {
    if (this.end >= this.bytes.length) return false;
    for (let unit = 1; ; unit *= 128) {
      const digit = this.bytes[this.end++];
      this.time -= (digit & 127) * unit;
      // Not a valid end if the bytes end too early.
      if (!(digit > 127)) return true;
    }
  }
}

export function visitTimes(page: VisitTimes): number[] {
  const walk = new Walk(page);
  const times = [walk.time];
  while (walk.older()) times.push(walk.time);
  return times;
}

/** Whether a visit lies in [after, before), ms; null: no bound. Reads `visits` only if the ends leave it open. */
export function isVisitedWithin(page: VisitTimes, after: number | null, before: number | null): boolean {
  const { first_seen_at, last_seen_at, visits } = page;
  const [from, to] = [after ?? Number.NEGATIVE_INFINITY, before ?? Number.POSITIVE_INFINITY];
  if (last_seen_at < from || first_seen_at >= to) return false;
  if (last_seen_at < to || first_seen_at >= from) return true;
  if (visits === undefined) return false;
  const walk = new Walk(page);
  while (walk.time >= to && walk.older());
  return walk.time >= from && walk.time < to;
}

/** Whether the page may have a visit at this time. Among thinned visits: one in the same period. */
export function isKnownVisit(page: VisitTimes, at: number): boolean {
  const isBetween = at > page.first_seen_at && at < page.last_seen_at;
  const period = (isBetween && page.visit_period_ms) || 1;
  const from = Math.floor(at / period) * period;
  return isVisitedWithin(page, from, from + period);
}

/** The page with one more time, an integer. A known time changes nothing. */
export function withVisit<Visited extends VisitTimes>(page: Visited, at: number): Visited {
  const walk = new Walk(page);
  const { bytes } = walk;
  const isFirst = at < page.first_seen_at;
  let [newer, start] = isFirst ? [page.first_seen_at, bytes.length] : [at, 0];
  for (let isThere = !isFirst; isThere && walk.time > at; isThere = walk.older()) {
    [newer, start] = [walk.time, walk.end];
  }
  if (walk.time === at) return page;
  const end = isFirst ? start : walk.end;
  const added = [...(newer > at ? digitsOf(newer - at) : []), ...(isFirst ? [] : digitsOf(at - walk.time))];
  const visits = new Uint8Array(start + added.length + bytes.length - end);
  visits.set(bytes.subarray(0, start));
  visits.set(added, start);
  visits.set(bytes.subarray(end), start + added.length);
  const visited = {
    ...page,
    first_seen_at: Math.min(page.first_seen_at, at),
    last_seen_at: Math.max(page.last_seen_at, at),
  };
  return bytes.length === 0 ? visited : thinned({ ...visited, visits });
}

function thinned<Visited extends VisitTimes & { visits: Uint8Array }>(page: Visited): Visited {
  let { visits } = page;
  if (visits.length <= maxBytes) return page;
  let times = visitTimes(page);
  let step = 0;
  while (visits.length > maxBytes / 2) {
    step = step === 0 ? hourMs : step === hourMs ? dayMs : 2 * step;
    const stepOf = (at: number) => Math.floor(times[at] / step);
    times = times.filter((_, at) => at === 0 || at === times.length - 1 || stepOf(at) !== stepOf(at - 1));
    visits = Uint8Array.from(times.slice(1).flatMap((time, at) => digitsOf(times[at] - time)));
  }
  return { ...page, visits, ...longerPeriod(page, { visit_period_ms: step }) };
}

/** Of visits of both, where visits were left out of either. */
export function longerPeriod(...[a, b]: { visit_period_ms?: number | undefined }[]): Pick<Page, 'visit_period_ms'> {
  const period = Math.max(a.visit_period_ms ?? 0, b.visit_period_ms ?? 0);
  return period === 0 ? {} : { visit_period_ms: period };
}

export function areVisitsSound(page: VisitTimes): boolean {
  const times = visitTimes(page);
  return times.at(-1) === page.first_seen_at && times.every((time, at) => at === 0 || time < times[at - 1]);
}

function digitsOf(difference: number): number[] {
  const digits: number[] = [];
  let rest = difference;
  for (; rest > 127; rest = Math.floor(rest / 128)) digits.push((rest % 128) + 128);
  digits.push(rest);
  return digits;
}
