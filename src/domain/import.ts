/** Imports: an item of a source, and the progress. Times are ms since the epoch; in answers datetimes. */
import { z } from 'zod';
import type { PageMetadata } from './metadata.ts';
import { datetime, queryBoolean, storedText } from './values.ts';

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
  'elcurator',
  'omnivore',
  'karakeep',
  'linkding',
  'linkwarden',
  'pinboard',
  'hypothesis',
  'zotero',
  'google',
  'reader',
  'opml',
  'page',
  'warc',
  'files',
  'urls',
  'csv',
  'json',
] as const;
export type ImportFormat = (typeof importFormats)[number];

/** What a column of a CSV, or a field of a JSON, may contain. */
export const columnKinds = ['url', 'title', 'date', 'tags', 'folder', 'note', 'description', 'author'] as const;
export type ColumnKind = (typeof columnKinds)[number];

export const importColumn = z.strictObject({
  name: z.string(),
  example: z.string(),
  is: z.enum(columnKinds).nullable().describe('the field that it is imported as'),
  is_read: z.boolean().describe('whether it is imported; true without `is`: by its name, such as a state'),
});
export type ImportColumn = z.infer<typeof importColumn>;

/** Host of the addresses of local files, which are never fetched. */
export const fileHost = 'files.localhost';

/** One visit, bookmark or saved link, in a stable order. */
export interface ImportItem {
  url: string;
  /** A local file, whose address is its path. Its text may replace that of the page. */
  is_own?: boolean;
  title: string | null;
  at: number | null;
  visits: number | null;
  metadata: PageMetadata | null;
  /** The article as the source extracted it. */
  body_html: string | null;
  body_text: string | null;
  /** Why this place could not be read; null for an item. */
  fault: string | null;
  /** Whether `body_html` is a whole page with menus, not only an article. */
  whole_page?: true;
  /** A PDF to read instead of a text. */
  pdf?: Uint8Array;
  /** Why it is not an entry. */
  left_out?: string;
}

export interface ImportCounts {
  accepted: number;
  to_fetch: number;
  revisit: number;
  /** Revisits by a local file whose text has changed. */
  replaced: number;
  blacklisted: number;
  failed: number;
  skipped: Record<string, number>;
}

export interface ImportOptions {
  since: number | null;
  min_visits: number;
}

export interface ImportCheckpoint {
  /** Computed from content and format. */
  id: string;
  format: ImportFormat;
  options: ImportOptions;
  next: number;
  counts: ImportCounts;
  /** Date of the newest accepted item. */
  newest: number | null;
  finished: boolean;
  started_at: number;
  updated_at: number;
}

export interface FailedItem {
  /** Index of the item in its source, from 0. */
  place: number;
  url: string;
  reason: string;
}

export function noCounts(): ImportCounts {
  return { accepted: 0, to_fetch: 0, revisit: 0, replaced: 0, blacklisted: 0, failed: 0, skipped: {} };
}

export const importQuery = z.object({
  name: storedText(255).min(1),
  format: z.enum(['auto', ...importFormats]).default('auto'),
  columns: storedText(1000)
    .optional()
    .describe('meaning of CSV columns or JSON fields, by number or name: `url=2,title=name`'),
  dry_run: queryBoolean({ byDefault: false }).describe('answer 200 with a preview; nothing is stored'),
});
export type ImportQuery = z.infer<typeof importQuery>;

/** What an import would read. */
const dryRun = z.strictObject({
  items: z.int().describe('to import'),
  addresses: z.int().nullable().describe('number of distinct addresses; null: over a million'),
  with_text: z.int(),
  oldest: datetime.nullable(),
  newest: datetime.nullable(),
  first: z.array(z.strictObject({ url: z.string(), title: z.string().nullable() })).describe('at most 5'),
  skipped: z.record(z.string(), z.int()).describe('entries by reason'),
  examples: z.array(z.strictObject({ place: z.string(), title: z.string(), reason: z.string() })).max(1000),
  unreadable: z.int(),
  faults: z.array(z.string()).max(1000).describe('reasons why entries cannot be read'),
  error: z.string().nullable().describe('why the rest of the file cannot be read, or why its columns must be named'),
});
export type DryRun = z.infer<typeof dryRun>;

export const importPreviewResponse = dryRun.extend({
  name: z.string(),
  bytes: z.int(),
  format: z.enum(importFormats).nullable(),
  imported_before: z.boolean(),
  columns: z.array(importColumn).describe('of a CSV or JSON file of an unknown program'),
});
export type ImportPreviewResponse = z.infer<typeof importPreviewResponse>;

const importStatuses = ['running', 'done', 'failed', 'stopped'] as const;

export const importResponse = z.strictObject({
  id: z.string(),
  name: z.string(),
  format: z.enum(importFormats),
  status: z.enum(importStatuses),
  bytes: z.int(),
  items: z.int().describe('bytes read so far'),
  created: z.int(),
  revisits: z.int(),
  skipped: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
  error: z.string().nullable(),
  started_at: datetime,
  ended_at: datetime.nullable(),
});
export type ImportResponse = z.infer<typeof importResponse>;
export const importListResponse = z.strictObject({
  imports: z.array(importResponse),
  library_id: z.string().describe('id of the store; imports belong to one store'),
});
export type ImportListResponse = z.infer<typeof importListResponse>;
