/**
 * Public ids: a prefix that names the kind and the record's sequence number in eight Crockford base-32 digits, so that ids
 * sort by age, need no second index, and an id of the wrong kind or spelling is simply unknown.
 */
import { z } from 'zod';

const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const width = 8;
/** Record numbers are uint32 in the store's keys. */
const maxNumber = 0xffffffff;

export const idPrefixes = { page: 'pg_', chunk: 'ck_', job: 'jb_', blacklist: 'bl_' } as const;
export type IdKind = keyof typeof idPrefixes;

/** The id of record number `no` (0 ≤ no < 2^32). */
export function idOf(kind: IdKind, no: number): string {
  let text = '';
  for (let rest = no, i = 0; i < width; i++) {
    text = digits[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return idPrefixes[kind] + text;
}

/** The record number in an id, or null where the text is no id of this kind. */
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

/** Instants whose years have four digits in UTC too, so that what was taken in can be given out again. */
const firstInstant = Date.parse('0000-01-01T00:00:00Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** A datetime of the contract: ISO 8601 with an offset; naive ones are refused. */
export const datetime = z.iso.datetime({ offset: true }).refine(
  (text) => {
    const instant = Date.parse(text);
    return instant >= firstInstant && instant <= lastInstant;
  },
  { message: 'must be an instant of the years 0000 to 9999 in UTC' },
);
export type Datetime = z.infer<typeof datetime>;
