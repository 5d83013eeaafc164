/** Feed dates: RFC 822 and ISO 8601 with common errors. Without a zone UTC is assumed. */
import feeds from '../../../models/feeds.json' with { type: 'json' };

const iso = /^(\d{4}-\d\d?(?:-\d\d?)?)(?:[T ](\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/i;
const rfc =
  /^(?:[a-z]{2,9},?\s+)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*[\s-]+(\d{4}|\d\d)(?:\s+(\d\d?:\d\d(?::\d\d)?)\s*([a-z]{1,5}|[+-]\d{4}|[+-]\d\d:\d\d)?)?/i;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Offsets of named zones, in hours. Other names count as UTC. */
const zones: Readonly<Record<string, number>> = feeds.time_zones;
const longest = 64;

/** UTC, ISO 8601; null if invalid. */
export function feedDate(text: string): string | null {
  const given = text.trim();
  if (given === '' || given.length > longest) return null;
  const ms = fromIso(given) ?? fromRfc(given);
  return ms === null || Number.isNaN(ms) || Math.abs(ms) > 8e15 ? null : instant(ms);
}

function instant(ms: number): string | null {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date.toISOString() : null;
}

function fromIso(text: string): number | null {
  const match = iso.exec(text);
  if (match === null) return null;
  const [year, month, day = '1'] = match[1].split('-');
  return utc(Number(year), Number(month), Number(day), match[2], match[3] ?? 'Z');
}

function fromRfc(text: string): number | null {
  const match = rfc.exec(text);
  if (match === null) return null;
  const [, day, monthName, yearText, time, zone = 'GMT'] = match;
  const month = months.indexOf(monthName.toLowerCase()) + 1;
  if (month === 0) return null;
  const short = Number(yearText);
  const year = yearText.length === 4 ? short : short + (short < 70 ? 2000 : 1900);
  return utc(year, month, Number(day), time, zone);
}

function utc(year: number, month: number, day: number, time = '00:00', zone = 'Z'): number | null {
  const [hours, minutes, seconds = 0] = time.split(':').map(Number);
  if (month < 1 || month > 12 || day < 1 || day > 31 || hours > 24 || minutes > 59 || seconds > 60) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() + hours * 3_600_000 + minutes * 60_000 + seconds * 1000 - offsetMs(zone);
}

function offsetMs(zone: string): number {
  const numeric = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (numeric === null) return (zones[zone.toLowerCase()] ?? 0) * 3_600_000;
  return (numeric[1] === '-' ? -1 : 1) * (Number(numeric[2]) * 60 + Number(numeric[3])) * 60_000;
}
