/** Public ids: a prefix of the kind and the record's sequence number in eight Crockford base-32 digits. They sort by age and need no second index. */
import { z } from 'zod';

const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const width = 8;
/** Record numbers are uint32 in the store's keys. */
const maxNumber = 0xffffffff;

const idPrefixes = {
  page: 'pg_',
  chunk: 'ck_',
  job: 'jb_',
  blacklist: 'bl_',
  watch: 'wt_',
  entity: 'en_',
  merge: 'em_',
  cluster: 'cl_',
  cluster_run: 'cr_',
} as const;
export type IdKind = keyof typeof idPrefixes;

export function idOf(kind: IdKind, no: number): string {
  let text = '';
  for (let rest = no, i = 0; i < width; i++) {
    text = digits[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return idPrefixes[kind] + text;
}

export function numberOf(kind: IdKind, id: string): number | null {
  const prefix = idPrefixes[kind];
  if (id.length !== prefix.length + width || !id.startsWith(prefix)) return null;
  let no = 0;
  for (const digit of id.slice(prefix.length)) {
    const value = digits.indexOf(digit);
    if (value < 0) return null;
    no = no * 32 + value;
  }
  return no <= maxNumber ? no : null;
}

/** ISO 8601: date, `T`, hours and minutes, optional seconds with at most thirty decimals, optional offset. */
const isoDatetime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,30})?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;
/** Instants whose UTC years have four digits, so that they can be returned. */
const firstInstant = Date.parse('0000-01-01T00:00:00Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** Ms of a datetime in any spelling above; NaN for an invalid day or time. */
export function instantOf(text: string): number {
  return Date.parse(
    text.toUpperCase().replace(/([+-]\d\d)(\d\d)?$/, (_, hours, minutes) => `${hours}:${minutes ?? '00'}`),
  );
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** A datetime of the contract: ISO 8601 with an offset. */
export const datetime = z
  .string()
  .superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ format: 'date-time' });

function problemOf(text: string): string | null {
  const spelling = isoDatetime.exec(text);
  if (spelling === null) return 'must be an ISO 8601 datetime such as 2026-01-31T12:00:00Z';
  if (spelling[1] === undefined) return 'must carry a UTC offset, such as Z or +01:00';
  const instant = instantOf(text);
  if (Number.isNaN(instant) || !isDay(text.slice(0, 10))) return 'must be a day and a time that exist';
  if (instant < firstInstant || instant > lastInstant) return 'must be an instant of the years 0000 to 9999 in UTC';
  return null;
}
/** The parser turns 31 February into 3 March. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
