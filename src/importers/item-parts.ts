/**
 * What the formats share: dates in their several units, and the metadata of an item under one set of keys, without what is empty.
 * docs/command-line.md has the keys.
 */
import type { ImportItem } from '../domain/import.ts';
import type { PageMetadata } from '../domain/metadata.ts';
import { maxTitleLength } from '../domain/texts.ts';

/** The years that a date of a source may lie in; anything else is a date that was never set. */
const earliest = Date.UTC(1990, 0, 1);
const latest = Date.UTC(2200, 0, 1);

function sensible(ms: number): number | null {
  return Number.isFinite(ms) && ms >= earliest && ms < latest ? Math.trunc(ms) : null;
}

/** Seconds since the epoch, or milli- or microseconds where the number is too large for seconds; null for none. */
export function fromUnix(value: string | number | null | undefined): number | null {
  const number = typeof value === 'string' ? Number(value.trim() || Number.NaN) : (value ?? Number.NaN);
  if (!Number.isFinite(number) || number <= 0) return null;
  if (number < 1e11) return sensible(number * 1000);
  return sensible(number < 1e14 ? number : number / 1000);
}

/** A text with date and time, as exports have it (without a zone it is UTC), or seconds since the epoch. */
export function fromDateText(value: unknown): number | null {
  if (typeof value === 'number') return fromUnix(value);
  if (typeof value !== 'string') return null;
  const hasNoZone = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(value);
  return sensible(Date.parse(hasNoZone ? `${value.replace(' ', 'T')}Z` : value));
}

/** Seconds since 2001, as Apple keeps time. */
export function fromApple(seconds: number): number | null {
  return sensible((seconds + 978_307_200) * 1000);
}

/** Microseconds since 1601, as Chromium keeps time. */
export function fromWebkit(microseconds: number): number | null {
  return sensible(microseconds / 1000 - 11_644_473_600_000);
}

/** The one set of keys in which imports say what they know of a page. */
interface KnownFacts {
  tags?: string[];
  folder?: string | null | undefined;
  /** In the reader's own words. */
  note?: string | null | undefined;
  /** Passages that the reader marked; a note on one follows it on a line of its own. */
  highlights?: string[];
  /** As the page describes itself, or its abstract. */
  description?: string | null;
  author?: string | null | undefined;
  published_at?: string | null;
  site_name?: string | null;
  lang?: string | null;
  /** Where it lay in the list: `unread`, `archived` and the like. */
  status?: string | null | undefined;
  starred?: true | null;
}

/** Metadata is bounded: of a book with thousands of highlights these many are kept, and the others are counted. */
const maxHighlights = 300;
const maxHighlightChars = 20_000;

/** Metadata of what is there; null where nothing is. */
export function metadataOf({ highlights = [], ...facts }: KnownFacts): PageMetadata | null {
  let chars = 0;
  const kept = highlights.filter((text, at) => {
    chars += text.length;
    return at < maxHighlights && chars <= maxHighlightChars;
  });
  const left = highlights.length - kept.length;
  return withoutEmpty({ ...facts, highlights: kept, highlights_left_out: left === 0 ? null : left });
}

function withoutEmpty(parts: Record<string, unknown>): PageMetadata | null {
  const kept = Object.entries(parts).flatMap(([key, value]) => {
    if (value === null || value === undefined || value === '') return [];
    if (Array.isArray(value) && value.length === 0) return [];
    return [[key, wellFormed(value)] as const];
  });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  return Array.isArray(value) ? value.map(wellFormed) : value;
}

/** An item with what most sources do not have left empty. */
export function itemOf(parts: Partial<ImportItem> & { url: string }): ImportItem {
  const { url, title, at, visits, metadata, body_html, body_text } = parts;
  return {
    url: url.trim().toWellFormed(),
    title: textOf(title)?.replace(/\s+/g, ' ').trim().slice(0, maxTitleLength).toWellFormed() ?? null,
    at: at ?? null,
    visits: visits ?? null,
    metadata: metadata ?? null,
    body_html: textOf(body_html),
    body_text: textOf(body_text),
  };
}

/** A text that holds something, or null. */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.toWellFormed();
  return text.trim() === '' ? null : text;
}

/** A passage and the note on it. */
export function highlightOf(text: unknown, note: unknown): string[] {
  const both = [textOf(text), textOf(note)].filter((part) => part !== null);
  return both.length === 0 ? [] : [both.map((part) => part.trim()).join('\n')];
}

/** Texts with an empty line between them. */
export function paragraphsOf(...values: unknown[]): string | null {
  return (
    values
      .map(textOf)
      .filter((text) => text !== null)
      .join('\n\n') || null
  );
}

/** A note in HTML as text. */
export const withoutTags = (html: unknown): string | null =>
  textOf(
    textOf(html)
      ?.replace(/<[^<>]*>/g, ' ')
      .trim(),
  );

/** Where a work's identifier leads; empty for none. */
export function doiAddress(doi: unknown): string {
  const name = textOf(doi)
    ?.trim()
    .replace(/^(?:https?:\/\/(?:dx\.)?doi\.org\/|doi:\s*)/i, '');
  return name === undefined ? '' : `https://doi.org/${name}`;
}

/** Non-empty texts of a list, or of texts with separators between them. */
export function listOf(value: unknown, separator = ','): string[] {
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(separator) : [];
  return parts.flatMap((part) => (typeof part === 'string' && part.trim() !== '' ? [part.trim().toWellFormed()] : []));
}
