/**
 * What an assistant is told of a route's answer: a sentence in the service's own words, with numbers and ids only, and lines of
 * JSON that may hold text of others and go into the envelope. Names are those of the API. Every text and every list is cut, so that an
 * answer has `answerBytes` at most whatever is stored; what is left out is said, with the offset to go on from. Pure.
 */
import type { PageDetails } from '../domain/page.ts';
import type { PageResult } from '../domain/search.ts';
import { cutText } from './cut-text.ts';
import { jsonLine } from './neutral-text.ts';

export interface Answer {
  said: string;
  /** Each is written as one line of JSON; without any there is no envelope. */
  lines?: readonly object[];
}

/** Bytes of an answer's lines: some 12,000 tokens of English, and below what clients cut off. */
export const answerBytes = 48_000;

/** Bytes of one text, where an answer may have many; and of the members of free JSON together. */
export const bytesOf = {
  title: 200,
  url: 300,
  wholeUrl: 2100,
  link: 600,
  passage: 700,
  name: 100,
  reason: 200,
  error: 500,
  json: 2000,
};

/** Members without those that say nothing. */
export function told(members: Record<string, unknown>): Record<string, unknown> {
  const says = ([, value]: [string, unknown]) =>
    value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(says));
}

export const cut = (text: string | null | undefined, bytes: number): string | null =>
  text === null || text === undefined ? null : cutText(text, bytes);

/** The first lines that fit into so many bytes; the others are not made. */
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

/** A line for each item, made when it is asked for. */
export function* linesOf<Item>(items: Iterable<Item>, line: (item: Item) => object): Generator<object> {
  for (const item of items) yield line(item);
}

/** The part of a list that is wanted. */
export interface Part {
  offset: number;
  limit: number;
}

interface Listing<Item> extends Part {
  /** All there are, or the part that is wanted of `total`. */
  items: readonly Item[];
  total?: number | undefined;
  /** What one is, and what several are. */
  called: readonly [one: string, several: string];
  line: (item: Item) => object;
  /** Before the items. */
  head?: object;
}

/** Room for what stands before a list. */
const headBytes = 4000;

/** A part of a list, with how many there are and where to go on. */
export function listing<Item>({ items, total, called, line, head, offset, limit }: Listing<Item>): Answer {
  const all = total ?? items.length;
  const part = total === undefined ? items.slice(offset, offset + limit) : items;
  const heads = head === undefined ? [] : [head];
  const count = `${all} ${called[all === 1 ? 0 : 1]}`;
  const shown = fitting(linesOf(part, line), answerBytes - headBytes);
  const lines = [...heads, ...shown];
  const end = offset + shown.length;
  if (all === 0) return { said: `No ${called[1]}.`, lines: heads };
  if (end <= offset) return { said: `${count}; none from offset ${offset} on.`, lines: heads };
  const rest = all - end;
  const more = rest === 0 ? '' : `, ${rest} more with offset ${end}`;
  return { said: offset === 0 && rest === 0 ? `${count}.` : `${count}: ${offset + 1} to ${end}${more}.`, lines };
}

/** A page in a list. */
export const pageLine = ({
  page_id,
  title,
  canonical_url,
}: Pick<PageResult, 'page_id' | 'title' | 'canonical_url'>) => ({
  page_id,
  title: cut(title, bytesOf.title),
  canonical_url: cut(canonical_url, bytesOf.url),
});

/** What is known of a page beside its text; how long it takes to read is for people. */
export const detailsOf = ({ author, published_at, language, site_name }: PageDetails) => ({
  author: cut(author, bytesOf.name),
  published_at: published_at === null ? null : published_at.slice(0, 10),
  language,
  site_name: cut(site_name, bytesOf.name),
});

/** Whether a member of free JSON is worth writing to see if it fits: its text is cut, its name is not, nor what is within it. */
function isShort([key, value]: [string, unknown]): boolean {
  return key.length <= bytesOf.name && (typeof value === 'string' || JSON.stringify(value).length <= bytesOf.json);
}

/** The members of free JSON that fit under their name, and how many do not. */
export function someOf(name: string, json: Readonly<Record<string, unknown>> | null): Record<string, unknown> {
  const entries = Object.entries(json ?? {});
  const member = ([key, value]: [string, unknown]) => ({
    [key]: typeof value === 'string' ? cutText(value, bytesOf.error) : value,
  });
  const kept = fitting(linesOf(entries.filter(isShort), member), bytesOf.json);
  const rest = entries.length - kept.length;
  return told({
    [name]: kept.length === 0 ? null : Object.assign({}, ...kept),
    [`${name}_left_out`]: rest === 0 ? null : rest,
  });
}
