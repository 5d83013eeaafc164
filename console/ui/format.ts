/** Dates, numbers and sizes in the browser's locale. */
const locale = undefined;
const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' });
const dayOfThisYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
const minute = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
const month = new Intl.DateTimeFormat(locale, { month: 'short' });
const monthOfYear = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' });
const number = new Intl.NumberFormat(locale);
const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });

type When = string | number | Date;

export const dateOf = (at: When): string => {
  const date = new Date(at);
  return (date.getFullYear() === new Date().getFullYear() ? dayOfThisYear : day).format(date);
};
export const dayAndMonthOf = (at: When): string => dayOfThisYear.format(new Date(at));
export const fullDateOf = (at: When): string => day.format(new Date(at));
export const timeOf = (at: When): string => minute.format(new Date(at));
export const clockOf = (at: When): string => clock.format(new Date(at));
export const monthOf = (at: When): string => month.format(new Date(at));
export const monthOfYearOf = (at: When): string => monthOfYear.format(new Date(at));
export const count = (n: number): string => number.format(n);
export const percent = (part: number): string => share.format(part);
export const decimal = (n: number, digits = 3): string =>
  new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(n);

/** "1 page", "2 pages". */
export const many = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`;

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const midnightOf = (at: When): number => new Date(at).setHours(0, 0, 0, 0);

/** Relative time up to a week, then the date. By the clock within a day, then by the calendar: `yesterday` is the previous day. */
export function ago(at: When, now = Date.now()): string {
  const ms = new Date(at).getTime() - now;
  if (Math.abs(ms) > 7 * dayMs) return dateOf(at);
  // Rounds days of 23 and 25 hours.
  if (Math.abs(ms) >= dayMs) return relative.format(Math.round((midnightOf(at) - midnightOf(now)) / dayMs), 'day');
  if (Math.abs(ms) >= hourMs) return relative.format(Math.trunc(ms / hourMs), 'hour');
  if (Math.abs(ms) >= minuteMs) return relative.format(Math.trunc(ms / minuteMs), 'minute');
  return relative.format(0, 'second');
}

const sizes = ['B', 'kB', 'MB', 'GB', 'TB'];

export function bytes(n: number): string {
  let [value, at] = [n, 0];
  while (value >= 1000 && at < sizes.length - 1) [value, at] = [value / 1000, at + 1];
  return `${number.format(value >= 100 || at === 0 ? Math.round(value) : Math.round(value * 10) / 10)} ${sizes[at]}`;
}

/** Minutes of a text. */
export const readingTime = (minutes: number): string => (minutes < 90 ? `${minutes} min` : duration(minutes * 60));

export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${number.format(Math.round(seconds / 360) / 10)} h`;
}
