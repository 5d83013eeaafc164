import { z } from 'zod';

/** An id is its kind's prefix and the record's number in eight Crockford base-32 digits: ids sort by age and need no second index. */
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
/** The day must exist: the parser turns 31 February into 3 March. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** Maximum lengths are in UTF-16 units and apply to requests only. Common servers accept no longer URLs (nginx 8 KB, Apache 8,190 bytes). */
export const maxUrlLength = 8192;
/** More than any browser keeps in its history, so that every stored page can be deleted. */
export const maxForgottenUrlLength = 65_536;
/** The limit of Firefox and Chromium. */
export const maxTitleLength = 4096;
export const maxSourceLength = 200;
export const maxReasonLength = 2000;
/** Max length of a domain as typed, with every letter escaped. */
export const maxDomainLength = 1024;
/** Max length of a path parameter; entity names are the longest. */
export const maxPathTextLength = 1024;
/** Max length of a generated id. Ids of models are longer. */
const maxIdLength = 100;

/** Only well-formed text survives UTF-8. */
export const isWellFormed = (text: string): boolean => text.isWellFormed();
export const loneSurrogates = { message: 'must be well-formed Unicode: it has a lone surrogate' };

export const storedText = (maxLength: number) => z.string().max(maxLength).refine(isWellFormed, loneSurrogates);
/** Limited only by the size of the request body. */
export const bodyText = z.string().refine(isWellFormed, loneSurrogates);

export const idText = z.string().max(maxIdLength);
/** The router refuses longer ones as unknown paths. */
export const pathText = z.string().max(maxPathTextLength);

const decimal = /^-?\d+$/;

const fromDecimal = (sent: unknown): unknown => (typeof sent === 'string' && decimal.test(sent) ? Number(sent) : sent);

/** The default applies if absent. Empty texts, `0x10`, `1e1`, `1.0` and repeated parameters are refused. */
export const queryInteger = ({ min, max, byDefault }: { min: number; max: number; byDefault: number }) =>
  z.preprocess(fromDecimal, z.int().min(min).max(max).default(byDefault));

export const optionalQueryInteger = ({ min, max }: { min: number; max: number }) =>
  z.preprocess(fromDecimal, z.int().min(min).max(max).optional());

/** A part of a list; everything by default. If one of the two is set, the answer has `total`. */
export const listPart = {
  offset: optionalQueryInteger({ min: 0, max: 2 ** 31 - 1 }),
  limit: optionalQueryInteger({ min: 1, max: 1000 }),
};
export interface ListPart {
  offset?: number | undefined;
  limit?: number | undefined;
}

export const isPart = ({ offset, limit }: ListPart) => offset !== undefined || limit !== undefined;

/** JavaScript `true`, Python `True`, command lines and forms `1`. */
const truthValues: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export const queryBoolean = ({ byDefault }: { byDefault: boolean }) =>
  z.preprocess(
    (sent) => (typeof sent === 'string' ? (truthValues.get(sent.toLowerCase()) ?? sent) : sent),
    z.boolean().default(byDefault),
  );
