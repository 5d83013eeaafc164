/** Shared parts of the formats: dates in several units, and metadata under common keys (docs/command-line.md) without empty values. */
import { boundedPieces, collected } from '../compute/structures/pieces.ts';
import type { ImportColumn, ImportItem } from '../domain/import.ts';
import type { PageMetadata } from '../domain/metadata.ts';
import { maxTitleLength } from '../domain/values.ts';
import type { EntryMarks } from './entry-marks.ts';

/** Why a source cannot be read: one line for the user. */
export class ImportError extends Error {
  readonly code = 'import';
  /** Columns of the file, if naming them may help. */
  columns: readonly ImportColumn[] = [];
}

/** An entry may contain a saved page. */
export const maxEntryChars = 64 * 2 ** 20;

/** Errors: ImportError beyond `maxEntryChars`. */
export async function wholeText(pieces: AsyncIterable<string>, name: string): Promise<string> {
  const tooLong = () => new ImportError(`${name} has more than ${maxEntryChars} characters`);
  return (await collected(boundedPieces(pieces, maxEntryChars, tooLong))).join('');
}

/** Dates outside these years count as unset. */
const earliest = Date.UTC(1990, 0, 1);
const latest = Date.UTC(2200, 0, 1);

function sensible(ms: number): number | null {
  return Number.isFinite(ms) && ms >= earliest && ms < latest ? Math.trunc(ms) : null;
}

/** Seconds since the epoch. Larger numbers are milliseconds or microseconds, or microseconds since 1601. */
export function fromUnix(value: string | number | null | undefined): number | null {
  const number = typeof value === 'string' ? Number(value.trim() || Number.NaN) : (value ?? Number.NaN);
  if (!Number.isFinite(number) || number <= 0) return null;
  if (number < 1e11) return sensible(number * 1000);
  if (number >= 1e16) return fromWebkit(number);
  return sensible(number < 1e14 ? number : number / 1000);
}

/** Time zones that `Date.parse` does not know, in hours before UTC. */
const zones: Record<string, number> = { WEST: 1, BST: 1, CET: 1, CEST: 2, EET: 2, EEST: 3, MSK: 3, JST: 9, AEST: 10 };

/** A datetime (UTC if it has no zone), also written in words, or a number as of `fromUnix`. */
export function fromDateText(value: unknown): number | null {
  if (typeof value === 'number') return fromUnix(value);
  if (typeof value !== 'string') return null;
  const text = value.replace(/\s+/g, ' ').trim();
  const number = /^U?((?:\d{1,3}|\d{5,18})(?:\.\d+)?)$/.exec(text)?.[1];
  if (number !== undefined) return fromUnix(number);
  if (!/\d{4}/.test(text)) return null; // `Date.parse` accepts any number as a month
  if (/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text))
    return sensible(Date.parse(`${text.replace(' ', 'T')}Z`));
  const at = sensible(Date.parse(/[ap]m$/i.test(text) ? `${text} UTC` : text));
  const [, day, zone = ''] = /^(.*) ([A-Z]{3,4})$/.exec(text) ?? [];
  return at ?? (day === undefined ? null : sensible(Date.parse(`${day} UTC`) - (zones[zone] ?? 0) * 3_600_000));
}

/** Seconds since 2001, Apple's epoch. */
export function fromApple(seconds: number): number | null {
  return sensible((seconds + 978_307_200) * 1000);
}

/** Microseconds since 1601, Chromium's epoch. */
export function fromWebkit(microseconds: number): number | null {
  return sensible(microseconds / 1000 - 11_644_473_600_000);
}

/** The metadata keys of imports. Values that are not texts are left out. */
interface KnownFacts {
  tags?: string[];
  folder?: unknown;
  note?: unknown;
  /** A note on a highlight follows it on its own line. */
  highlights?: string[];
  description?: unknown;
  author?: unknown;
  published_at?: unknown;
  site_name?: unknown;
  lang?: unknown;
  /** The list that contained it: `unread`, `archived` and the like. */
  status?: unknown;
  /** False: it was, or may have been before. */
  starred?: boolean | null;
}

/** Metadata is limited: these highlights are stored, the others only counted. */
const maxHighlights = 300;
const maxHighlightChars = 20_000;
/** Max characters of a folder's path. */
export const maxFolderChars = 1000;

function metadataOf({ highlights = [], tags = [], starred, ...texts }: KnownFacts): PageMetadata | null {
  let chars = 0;
  const kept = highlights.filter((text, at) => {
    chars += text.length;
    return at < maxHighlights && chars <= maxHighlightChars;
  });
  const left = highlights.length - kept.length;
  const facts = [
    ...Object.entries({ tags, highlights: kept }).filter(([, list]) => list.length > 0),
    ...Object.entries(texts).map(([key, value]) => [key, textOf(value)]),
    ...Object.entries({ starred, highlights_left_out: left === 0 ? null : left }),
  ].filter(([, value]) => value != null);
  return facts.length === 0 ? null : Object.fromEntries(facts.map(([key, value]) => [key, wellFormed(value)]));
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  return Array.isArray(value) ? value.map(wellFormed) : value;
}

interface Given extends Partial<Pick<ImportItem, 'at' | 'visits' | 'fault'>>, KnownFacts {
  url: unknown;
  title?: unknown;
  body_html?: unknown;
  body_text?: unknown;
}

export function itemOf({ url, title, at, visits, body_html, body_text, fault, ...facts }: Given): ImportItem {
  return {
    url: typeof url === 'string' ? url.trim().toWellFormed() : '',
    title: textOf(title)?.replace(/\s+/g, ' ').trim().slice(0, maxTitleLength).toWellFormed() ?? null,
    at: at ?? null,
    visits: visits ?? null,
    metadata: metadataOf(facts),
    body_html: textOf(body_html),
    body_text: textOf(body_text),
    fault: fault ?? null,
  };
}

/** Replaces an unreadable part of a file among the items. */
export const lostItem = (line: number, reason: string): ImportItem =>
  itemOf({ url: '', fault: `line ${line}: ${reason}` });

export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.toWellFormed();
  return text.trim() === '' ? null : text;
}

/** Text of a scalar. An object of a file may have any `toString`. */
export const scalarText = (value: unknown): string => (typeof value === 'object' ? '' : String(value));

export const highlightOf = (text: unknown, note: unknown): string[] => listOf([listOf([text, note]).join('\n')]);

export const paragraphsOf = (...values: unknown[]): string | null =>
  values.flatMap((value) => textOf(value) ?? []).join('\n\n') || null;

export const withoutTags = (html: unknown): string | null =>
  listOf([textOf(html)?.replace(/<[^<>]*>/g, ' ')])[0] ?? null;

export function doiAddress(doi: unknown): string {
  const name = textOf(doi)
    ?.trim()
    .replace(/^(?:https?:\/\/(?:dx\.)?doi\.org\/|doi:\s*)/i, '');
  return name === undefined ? '' : `https://doi.org/${name}`;
}

export function listOf(value: unknown, separator = ','): string[] {
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(separator) : [];
  return parts.flatMap((part) => (typeof part === 'string' && part.trim() !== '' ? [part.trim().toWellFormed()] : []));
}

export interface TextFile {
  name: string;
  text(): AsyncIterable<string>;
  marks: Pick<EntryMarks, 'reached'>;
}

const maxLineChars = 2 ** 20;

interface Line {
  text: string;
  /** Offset in the file, in characters; `end` is after the line feed. */
  start: number;
  end: number;
  /** From 1. */
  no: number;
}

/** Errors: ImportError for a too long line. `name` is for messages. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  name: string,
  maxChars: number = maxLineChars,
): AsyncGenerator<Line> {
  let rest: string[] = [];
  let chars = 0;
  let start = 0;
  let no = 0;
  for await (const piece of pieces) {
    const [first = '', ...lines] = piece.split('\n');
    rest.push(first);
    chars += first.length;
    if (chars > maxChars) throw new ImportError(`${name} has a line of more than ${maxChars} characters`);
    for (const next of lines) {
      const text = rest.join('');
      const end = start + text.length + 1;
      yield { text, start, end, no: ++no };
      start = end;
      rest = [next];
      chars = next.length;
    }
  }
  const text = rest.join('');
  yield { text, start, end: start + text.length, no: no + 1 };
}
