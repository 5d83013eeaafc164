/** Formats an answer for an assistant: a sentence of numbers and ids, then JSON lines with untrusted text. Pure. */
import { jsonLine } from '../compute/text/neutral-text.ts';
import type { PageDetails } from '../domain/page.ts';
import type { PageResult } from '../domain/search.ts';
import type { WatchResponse } from '../domain/watch.ts';

export interface Answer {
  said: string;
  /** One JSON object per line; without lines there is no envelope. */
  lines?: readonly object[];
}

/** Max bytes of an answer's lines, so that the whole answer has at most 8,000: about 2,000 tokens of English. */
export const answerBytes = 7000;

/** Max bytes of one text in a list, and of all free JSON members. */
export const bytesOf = {
  title: 200,
  url: 300,
  wholeUrl: 2100,
  link: 600,
  passage: 500,
  name: 100,
  reason: 200,
  error: 500,
  json: 2000,
};

export function withoutEmpty(members: Record<string, unknown>): Record<string, unknown> {
  const isSet = ([, value]: [string, unknown]) =>
    value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(isSet));
}

export const cut = (text: string | null | undefined, bytes: number): string | null =>
  text === null || text === undefined ? null : cutText(text, bytes);

/** The first lines that fit. The others are not computed. */
export function fitting(lines: Iterable<object>, bytes = answerBytes): object[] {
  const kept: object[] = [];
  let left = bytes;
  for (const line of lines) {
    left -= Buffer.byteLength(jsonLine(line)) + 1;
    if (left < 0) break;
    kept.push(line);
  }
  return kept;
}

export const bytesIn = (lines: readonly object[]): number =>
  lines.reduce((sum, line) => sum + Buffer.byteLength(jsonLine(line)) + 1, 0);

export function* linesOf<Item>(items: Iterable<Item>, line: (item: Item) => object): Generator<object> {
  for (const item of items) yield line(item);
}

export interface Part {
  offset: number;
  limit: number;
}

interface Listing<Item> extends Part {
  /** All items, or the requested part of `total`. */
  items: readonly Item[];
  total?: number | undefined;
  called: readonly [one: string, several: string];
  line: (item: Item) => object;
  heads?: readonly object[];
}

export function listing<Item>({ items, total, called, line, heads = [], offset, limit }: Listing<Item>): Answer {
  const all = total ?? items.length;
  const part = total === undefined ? items.slice(offset, offset + limit) : items;
  const count = `${all} ${called[all === 1 ? 0 : 1]}`;
  const shown = fitting(linesOf(part, line), answerBytes - bytesIn(heads));
  const lines = [...heads, ...shown];
  const end = offset + shown.length;
  if (all === 0) return { said: `No ${called[1]}.`, lines: heads };
  if (end <= offset) return { said: `${count}; none from offset ${offset} on.`, lines: heads };
  const rest = all - end;
  const more = rest === 0 ? '' : `, ${rest} more with offset ${end}`;
  return { said: offset === 0 && rest === 0 ? `${count}.` : `${count}: ${offset + 1} to ${end}${more}.`, lines };
}

export const pageLine = ({
  page_id,
  title,
  canonical_url,
}: Pick<PageResult, 'page_id' | 'title' | 'canonical_url'>) => ({
  page_id,
  title: cut(title, bytesOf.title),
  canonical_url: cut(canonical_url, bytesOf.url),
});

/** Page metadata without the reading time, which is only for users. */
export const detailsOf = ({ author, published_at, language, site_name, is }: PageDetails) => ({
  author: cut(author, bytesOf.name),
  published_at: published_at === null ? null : published_at.slice(0, 10),
  language,
  site_name: cut(site_name, bytesOf.name),
  is,
});

/** Whether to include a member of free JSON: texts are shortened, but names and nested values are not. */
function isShort([key, value]: [string, unknown]): boolean {
  return key.length <= bytesOf.name && (typeof value === 'string' || JSON.stringify(value).length <= bytesOf.json);
}

/** The members of free JSON that fit, under a name, and the number of the others. */
export function someOf(name: string, json: Readonly<Record<string, unknown>> | null): Record<string, unknown> {
  const entries = Object.entries(json ?? {});
  const member = ([key, value]: [string, unknown]) => ({
    [key]: typeof value === 'string' ? cutText(value, bytesOf.error) : value,
  });
  const kept = fitting(linesOf(entries.filter(isShort), member), bytesOf.json);
  const rest = entries.length - kept.length;
  return withoutEmpty({
    [name]: kept.length === 0 ? null : Object.assign({}, ...kept),
    [`${name}_left_out`]: rest === 0 ? null : rest,
  });
}

/** Max bytes of a UTF-16 code unit with JSON escapes and envelope; U+FFFD replaces hidden ones. */
function writtenBytes(unit: number): number {
  if (unit === 0x3c || unit === 0x3e) return 6;
  if (unit === 0x22 || unit === 0x5c || unit === 0x0a || unit === 0x09) return 2;
  if (unit < 0x20) return 3;
  if (unit < 0x7f) return 1;
  return unit >= 0xa0 && unit < 0x800 ? 2 : 3;
}

const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/** Max bytes given up to end between two words. */
const givenUp = 80;

/** End of a part of at most `bytes`: before a near white space, never within a character. UTF-16 code units. */
export function endWithin(text: string, start: number, bytes: number): number {
  let end = start;
  for (let left = bytes; end < text.length; end++) {
    left -= writtenBytes(text.charCodeAt(end));
    if (left < 0) break;
  }
  if (end === text.length) return end;
  const space = text.slice(Math.max(start, end - givenUp), end + 1).search(/\s\S*$/);
  if (space > 0) return Math.max(start, end - givenUp) + space;
  if (isLowSurrogate(text.charCodeAt(end))) end--;
  return Math.min(text.length, Math.max(end, start + 1));
}

export function cutText(text: string, bytes: number): string {
  const end = endWithin(text, 0, bytes - 3);
  return end < text.length ? `${text.slice(0, end)}…` : text;
}

export const watchListLine = (watch: WatchResponse) =>
  withoutEmpty({
    watch_id: watch.id,
    kind: watch.kind,
    url: cut(watch.url, bytesOf.url),
    title: cut(watch.title, bytesOf.title),
    enabled: watch.enabled,
    last_status: watch.last_status,
    last_error: cut(watch.last_error, bytesOf.reason),
  });

export const watchLine = (watch: WatchResponse) => ({
  ...watchListLine(watch),
  ...withoutEmpty({
    url: cut(watch.url, bytesOf.wholeUrl),
    interval_hours: watch.interval_hours,
    next_run_at: watch.next_run_at,
    last_run_at: watch.last_run_at,
    last_error: cut(watch.last_error, bytesOf.error),
    last_item_count: watch.last_item_count,
    created_at: watch.created_at,
    ...someOf('config', watch.config),
  }),
});
