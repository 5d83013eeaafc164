/** Imports: one item of a source, and how far an import is. Times are ms since the epoch; in answers datetimes. */
import { z } from 'zod';
import { datetime } from './ids.ts';
import type { PageMetadata } from './metadata.ts';
import { storedText } from './texts.ts';

/** Where a source can come from, as `--format` names it. */
export const importFormats = [
  'bookmarks',
  'chromium',
  'chromium-bookmarks',
  'firefox',
  'firefox-bookmarks',
  'safari',
  'pocket',
  'instapaper',
  'wallabag',
  'raindrop',
  'readwise',
  'readability',
  'omnivore',
  'karakeep',
  'linkding',
  'linkwarden',
  'pinboard',
  'hypothesis',
  'zotero',
  'urls',
] as const;
export type ImportFormat = (typeof importFormats)[number];

/** One visit, bookmark or saved link. Items of the same source come in the same order each time that it is read. */
export interface ImportItem {
  url: string;
  title: string | null;
  /** When it was visited or saved; null where the source does not say. */
  at: number | null;
  /** Visits of the URL that the browser counts; null where the source is no history. */
  visits: number | null;
  /** Tags, folder, notes; null for none. */
  metadata: PageMetadata | null;
  /** The page as it was saved, where the source has it. */
  body_html: string | null;
  body_text: string | null;
}

/** What became of the items that were read so far. */
export interface ImportCounts {
  accepted: number;
  /** Of the accepted ones, those that came without text. */
  to_fetch: number;
  revisit: number;
  blacklisted: number;
  failed: number;
  /** Left out on purpose: by reason. */
  skipped: Record<string, number>;
}

export interface ImportOptions {
  since: number | null;
  min_visits: number;
}

export interface ImportCheckpoint {
  /** Of the source's content and its format. */
  id: string;
  format: ImportFormat;
  options: ImportOptions;
  /** Items of the source that are dealt with; the next one has this place. */
  next: number;
  counts: ImportCounts;
  /** Date of the newest item that went in. */
  newest: number | null;
  finished: boolean;
  started_at: number;
  updated_at: number;
}

export interface FailedItem {
  /** Of the item in its source, from 0. */
  place: number;
  url: string;
  reason: string;
}

export function noCounts(): ImportCounts {
  return { accepted: 0, to_fetch: 0, revisit: 0, blacklisted: 0, failed: 0, skipped: {} };
}

/** A file that is sent to be imported: what it is called, and what it is. */
export const importQuery = z.object({
  name: storedText(255).min(1),
  format: z.enum(['auto', ...importFormats]).default('auto'),
});
export type ImportQuery = z.infer<typeof importQuery>;

const importStatuses = ['running', 'done', 'failed', 'stopped'] as const;

export const importResponse = z.strictObject({
  id: z.string(),
  name: z.string(),
  format: z.enum(importFormats),
  status: z.enum(importStatuses),
  bytes: z.int(),
  items: z.int().describe('read so far'),
  created: z.int(),
  revisits: z.int(),
  skipped: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
  error: z.string().nullable(),
  started_at: datetime,
  ended_at: datetime.nullable(),
});
export type ImportResponse = z.infer<typeof importResponse>;
export const importListResponse = z.strictObject({ imports: z.array(importResponse) });
export type ImportListResponse = z.infer<typeof importListResponse>;
