/** Times such as `2026-03`, `7d` and `last week`: their first moment in the user's zone. Weeks begin on Monday. */
import { memoized } from '../structures/memoized.ts';

export interface Clock {
  now: number;
  zone: string;
}

const weekdays = 'monday tuesday wednesday thursday friday saturday sunday'.split(' ');
const months = 'january february march april may june july august september october november december'.split(' ');
/** Names of two words, which need no quotation marks. */
export const twoWordTime = `(?:last|this)\\s+(?:week|month|year|${weekdays.join('|')}|${months.join('|')})`;

/** ms; null if unreadable. */
export function timeOf(text: string, { now, zone }: Clock): number | null {
  const value = text.trim().toLowerCase().replace(/\s+/g, ' ');
  const at = (year: number, month: number, day: number) => startOfDay(zone, year, month, day);
  const day = /^([1-9]\d{3})(?:-(\d\d?)(?:-(\d\d?))?)?$/.exec(value);
  if (day !== null) {
    const [year, month, date] = [Number(day[1]), Number(day[2] ?? 1) - 1, Number(day[3] ?? 1)];
    const real = new Date(Date.UTC(year, month, date));
    return real.getUTCMonth() === month && real.getUTCDate() === date ? at(year, month, date) : null;
  }
  const instant = /^[1-9]\d{3}-\d\d-\d\dt\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(z|[+-]\d\d:\d\d)?$/.exec(value);
  if (instant !== null) {
    const ms = Date.parse(`${value.toUpperCase()}${instant[1] === undefined ? 'Z' : ''}`);
    if (Number.isNaN(ms)) return null;
    return instant[1] === undefined ? instantOfWall(zone, ms) : ms;
  }
  const today = new Date(wallOf(zone, now));
  const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
  const sinceMonday = (today.getUTCDay() + 6) % 7;
  const ago = /^(\d{1,4}) ?(h|d|w|m|y|hours?|days?|weeks?|months?|years?)(?: ago)?$/.exec(value);
  if (ago !== null) {
    const count = Number(ago[1]);
    switch (ago[2][0]) {
      case 'h':
        return now - count * 3_600_000;
      case 'd':
        return at(year, month, date - count);
      case 'w':
        return at(year, month, date - 7 * count);
      case 'm':
        return at(year, month - count, Math.min(date, daysOf(year, month - count)));
      default:
        return at(year - count, month, Math.min(date, daysOf(year - count, month)));
    }
  }
  if (value === 'today') return at(year, month, date);
  if (value === 'yesterday') return at(year, month, date - 1);
  const [, which, name = '', ofYear] = /^(?:(last|this) )?(\p{L}+)(?: ([1-9]\d{3}))?$/u.exec(value) ?? [];
  const isLast = which === 'last';
  if (ofYear === undefined && which !== undefined) {
    if (name === 'week') return at(year, month, date - sinceMonday - (isLast ? 7 : 0));
    if (name === 'month') return at(year, month - (isLast ? 1 : 0), 1);
    if (name === 'year') return at(year - (isLast ? 1 : 0), 0, 1);
  }
  const weekday = placeOf(name, weekdays);
  if (weekday >= 0 && ofYear === undefined) {
    const days = (sinceMonday - weekday + 7) % 7;
    return at(year, month, date - (isLast && days === 0 ? 7 : days));
  }
  const named = placeOf(name, months);
  if (named < 0 || (which !== undefined && ofYear !== undefined)) return null;
  if (ofYear !== undefined) return at(Number(ofYear), named, 1);
  return at(named > month || (isLast && named === month) ? year - 1 : year, named, 1);
}

/** The day, week, month or year that a time names, ms; `before` is its end. Null if unreadable. */
export function periodOf(text: string, clock: Clock): { after: number; before: number } | null {
  const after = timeOf(text, clock);
  if (after === null) return null;
  const value = text.toLowerCase();
  const start = new Date(wallOf(clock.zone, after));
  const [year, month, date] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  const ends = (...[years, months, days]: number[]) => ({
    after,
    before: startOfDay(clock.zone, year + years, month + months, date + days),
  });
  if (/ago$|^\d+ ?[a-z]/.test(value)) return { after, before: clock.now };
  if (/week/.test(value)) return ends(0, 0, 7);
  if (/year|^\d{4}$/.test(value)) return ends(1, 0, 0);
  if (/month|^\d{4}-\d\d?$/.test(value) || months.some((name) => value.includes(name))) return ends(0, 1, 0);
  return ends(0, 0, 1);
}

/** Index of a name, which may be shortened to a prefix such as `mar`. */
const placeOf = (name: string, all: readonly string[]): number =>
  name.length < 3 ? -1 : all.findIndex((each) => each.startsWith(name));

/** The first moment of a day. `day` and `month` (from 0) may be out of range. */
export function startOfDay(zone: string, year: number, month: number, day: number): number {
  return instantOfWall(zone, Date.UTC(year, month, day));
}

const daysOf = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

/** The instant at which clocks show `wall` (ms of UTC): the first of two; if clocks skip it, the next one. */
function instantOfWall(zone: string, wall: number): number {
  const [before, after] = [-1, 1].map((days) => {
    const near = wall + days * 86_400_000;
    return wall - (wallOf(zone, near) - near);
  });
  const shown = [before, after].filter((at) => wallOf(zone, at) === wall);
  return shown.length > 0 ? Math.min(...shown) : Math.max(before, after);
}

const formatOf = memoized(16, (timeZone: string) => {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const;
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...numeric,
    minute: 'numeric',
    second: 'numeric',
  });
});

/** The time that clocks show, as ms of UTC. */
function wallOf(zone: string, at: number): number {
  const part = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const seconds = Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
  return seconds + (((at % 1000) + 1000) % 1000);
}
