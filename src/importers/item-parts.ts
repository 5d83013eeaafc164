/** Small rules that the formats share: dates in their several units, and metadata without what is empty. */
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

/** A text with date and time, as JSON exports have it, or seconds since the epoch. */
export function fromDateText(value: unknown): number | null {
  if (typeof value === 'number') return fromUnix(value);
  return typeof value === 'string' ? sensible(Date.parse(value)) : null;
}

/** Microseconds since 1601, as Chromium keeps time. */
export function fromWebkit(microseconds: number): number | null {
  return sensible(microseconds / 1000 - 11_644_473_600_000);
}

/** Metadata of what is there; null where nothing is. */
export function metadataOf(parts: Record<string, unknown>): PageMetadata | null {
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

/** Non-empty texts of a list, or of texts with separators between them. */
export function listOf(value: unknown, separator = ','): string[] {
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(separator) : [];
  return parts.flatMap((part) => (typeof part === 'string' && part.trim() !== '' ? [part.trim().toWellFormed()] : []));
}
