/** Contract "Page", "Ingest", "Page status" and "Batch", and the stored row. */

import { z } from 'zod';
import { ruleKind } from './blacklist.ts';
import { type JobStatus, jobStatuses } from './job.ts';
import { metadataEdit, type PageMetadata, pageMetadata } from './metadata.ts';
import { type PageFact, type PageState, type PageType, pageStates } from './query-clause.ts';
import type { TextInParts } from './rows.ts';
import {
  bodyText,
  datetime,
  idText,
  maxDomainLength,
  maxSourceLength,
  maxTitleLength,
  maxUrlLength,
  optionalQueryInteger,
  queryBoolean,
  queryInteger,
  storedText,
} from './values.ts';

export const pageStatuses = ['queued', 'indexing', 'indexed', 'failed', 'dead'] as const;
const pageStatus = z.enum(pageStatuses);
export type PageStatus = z.infer<typeof pageStatus>;

/** The page's status by the status of its index job: contract "Page status". */
export const pageStatusUnder: Readonly<Record<JobStatus, PageStatus>> = {
  pending: 'queued',
  running: 'indexing',
  done: 'indexed',
  failed: 'failed',
  dead: 'dead',
};

export const ingestPageRequest = z.strictObject({
  url: storedText(maxUrlLength),
  title: storedText(maxTitleLength).nullable().optional(),
  body_extracted: bodyText.nullable().optional(),
  body_html: bodyText.nullable().optional(),
  body_is_article: z.boolean().optional().describe('whether the body is only an article; then all of its text is kept'),
  fetched_at: datetime.nullable().optional(),
  once: z
    .boolean()
    .optional()
    .describe(
      'a visit at this `fetched_at` counts once; without `fetched_at`, only the visit of a new page counts. At `files.localhost` a new text replaces the stored one, and an unchanged text counts no visit',
    ),
  source: storedText(maxSourceLength).nullable().optional(),
  metadata: pageMetadata.nullable().optional(),
});
export type IngestPageRequest = z.infer<typeof ingestPageRequest>;

export const ingestAcceptedResponse = z.strictObject({ page_id: z.string(), status: z.literal('queued') });
export const ingestRevisitResponse = z.strictObject({
  page_id: z.string(),
  status: pageStatus,
  revisit: z.literal(true),
  content_hash_differs: z.boolean(),
});
export const blacklistedResponse = z.strictObject({ error: z.literal('blacklisted'), pattern: z.string() });

export const ingestBatchRequest = z.strictObject({ pages: z.array(z.unknown()).min(1).max(100) });
const ingestBatchResult = z.discriminatedUnion('outcome', [
  ingestAcceptedResponse.extend({ outcome: z.literal('accepted'), index: z.int() }),
  ingestRevisitResponse.extend({ outcome: z.literal('revisit'), index: z.int() }),
  blacklistedResponse.extend({ outcome: z.literal('blacklisted'), index: z.int() }),
  z.strictObject({ outcome: z.literal('rejected'), index: z.int(), detail: z.string() }),
]);
export type IngestBatchResult = z.infer<typeof ingestBatchResult>;
export const ingestBatchResponse = z.strictObject({ results: z.array(ingestBatchResult) });

export const demoAddedResponse = z.strictObject({ page_ids: z.array(z.string()) });
export type DemoAddedResponse = z.infer<typeof demoAddedResponse>;
export const demoRemovedResponse = z.strictObject({ pages_purged: z.int() });
export type DemoRemovedResponse = z.infer<typeof demoRemovedResponse>;

/** Start of a section, which ends at the next one. Lists are ascending. */
export interface Section {
  char_start: number;
  title: string | null;
  /** Seconds into the recording of a transcript. */
  start_s?: number | null;
}

/** The text is stored separately. Times are ms since the epoch. */
export interface Page
  extends Pick<
    PageResponse,
    'canonical_url' | 'original_url' | 'domain' | 'title' | 'source' | 'visit_count' | 'status'
  > {
  no: number;
  metadata: PageMetadata | null;
  first_seen_at: number;
  last_seen_at: number;
  /** Visit times from the last to the first: compute/structures/visit-times.ts. Absent if there are at most two. */
  visits?: Uint8Array;
  visit_period_ms?: number;
  indexed_at: number | null;
  content_hash: string | null;
  index_job: number;
  entity_job: number | null;
  /** The job that indexes changed facts of indexed chunks (commands/edit-pages.ts); absent if there was none. */
  facts_job?: number;
  /** The job that fetches its text again; absent if there was none. */
  refresh_job?: number;
  /** Labels of its chunks: first_label … first_label + chunk_count − 1. */
  first_label: number;
  chunk_count: number;
  /** Set at indexing (compute/text/page-languages.ts): a BCP 47 tag, null if unknown. */
  language?: string | null;
  /** Set with it: ISO 639-1 codes of the passages' languages. Absent in rows of earlier versions. */
  passage_languages?: string[];
  word_count?: number;
}

export interface Byline {
  author: string | null;
  published_at: number | null;
  site_name: string | null;
  declared_language: string | null;
  type: PageType;
  tags: string[];
  folders: string[];
  is: Exclude<PageState, 'read'>[];
}
export type FilteredByline = Pick<Byline, 'published_at' | 'type' | 'tags' | 'folders' | 'is'>;

export interface LabelRange {
  first: number;
  count: number;
}

/** With `url`, the list has at most one page. */
export const pageListQuery = z.object({
  url: storedText(maxUrlLength).optional(),
  domain: z.string().max(maxDomainLength).optional(),
  /** Min and max time: some visit is in [after, before). */
  after: datetime.optional(),
  before: datetime.optional(),
  visits: queryBoolean({ byDefault: false }),
  status: pageStatus.optional(),
  limit: queryInteger({ min: 1, max: 500, byDefault: 50 }),
  cursor: idText.optional(),
});
type ParsedPageListQuery = z.infer<typeof pageListQuery>;
export type PageListQuery = Omit<ParsedPageListQuery, 'visits'> & Partial<Pick<ParsedPageListQuery, 'visits'>>;

/** Metadata shown with every page; null if unknown. */
export const pageDetails = z.strictObject({
  author: z.string().nullable(),
  published_at: datetime.nullable(),
  /** BCP 47: the declared language, or the text's if it differs. */
  language: z.string().nullable(),
  site_name: z.string().nullable(),
  read_minutes: z.int().nullable(),
  is: z.array(z.enum(pageStates).exclude(['read'])),
});
export type PageDetails = z.infer<typeof pageDetails>;

export const clusterRef = z.strictObject({ id: z.string(), label: z.string().nullable() });
export type ClusterRef = z.infer<typeof clusterRef>;

/** The fields that name a page in answers. */
export const pageName = { page_id: z.string(), canonical_url: z.string(), title: z.string().nullable() };
export const visitedPage = { ...pageName, domain: z.string(), first_seen_at: datetime, last_seen_at: datetime };

const pageFields = {
  ...visitedPage,
  source: z.string().nullable(),
  visit_count: z.int(),
  indexed_at: datetime.nullable(),
  status: pageStatus,
  ...pageDetails.shape,
};

const pageSummary = z.strictObject({
  ...pageFields,
  visits: z.array(datetime).optional().describe('on request: times in [after, before), newest first'),
});
export type PageSummary = z.infer<typeof pageSummary>;
export const pageListResponse = z.strictObject({
  pages: z.array(pageSummary),
  next_cursor: z.string().nullable(),
  /** Only with `url`: the rule that blocks the address. */
  blocked_by: z.strictObject({ id: z.string(), kind: ruleKind, pattern: z.string() }).nullable().optional(),
});
export type PageListResponse = z.infer<typeof pageListResponse>;

/** More than any text: a request body has at most 16 MB. */
const maxOffset = 2 ** 31 - 1;

/** A part of the text in UTF-16 code units, like the offsets of chunks. By default, all of it. */
export const pageQuery = z.object({
  offset: optionalQueryInteger({ min: 0, max: maxOffset }),
  length: optionalQueryInteger({ min: 1, max: maxOffset }),
});
export type PageQuery = z.infer<typeof pageQuery>;

export const pageResponse = z.strictObject({
  ...pageFields,
  original_url: z.string(),
  body_text: z.string().nullable(),
  body_length: z.int().optional(),
  headings: z.array(z.string()).describe('titles of sections of the text, in order'),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  cluster: clusterRef.nullable(),
});
export type PageResponse = z.infer<typeof pageResponse>;

export const pageEditRequest = metadataEdit;
export const pageEditResponse = pageResponse.pick({ page_id: true, metadata: true });
export type PageEditResponse = z.infer<typeof pageEditResponse>;
/** Only tags: notes and highlights of so many pages are too much for one transaction. */
export const pageEditBatchRequest = metadataEdit
  .pick({ add_tags: true, remove_tags: true })
  .extend({ page_ids: z.array(idText).min(1).max(500) });
export const pageEditBatchResponse = z.strictObject({
  results: z.array(
    z.strictObject({ page_id: z.string(), outcome: z.enum(['changed', 'unchanged', 'not_found', 'too_large']) }),
  ),
});
export type PageEditBatchResponse = z.infer<typeof pageEditBatchResponse>;

export const pageRefreshRequest = z.strictObject({ page_ids: z.array(idText).min(1).max(500) });
export const pageRefreshResponse = z.strictObject({
  results: z.array(
    z.strictObject({
      page_id: z.string(),
      outcome: z
        .enum(['queued', 'waiting', 'own_file', 'not_found'])
        .describe('`waiting`: a job for its text is waiting or running; `own_file`: a local file is never fetched'),
      job_id: z.string().nullable(),
    }),
  ),
});
export type PageRefreshResponse = z.infer<typeof pageRefreshResponse>;

/** The answer without the text, which may be read lazily. */
export type PageFacts = Omit<PageResponse, 'body_text' | 'body_length'>;
export interface PageText {
  body_text: string | TextInParts | null;
  body_length?: number;
}

/** The text of a chunk is its slice of the body. Offsets are UTF-16 code units. */
export type Chunk = Omit<PageChunk, 'chunk_id' | 'ordinal' | 'text'>;

/** The chunk of a page without words, or without text yet. Its metadata finds the page; it has no passage. */
export const bareChunk: Chunk = {
  char_start: 0,
  char_end: 0,
  token_count: 0,
  section_title: null,
  section_start_s: null,
};

export function isBare({ char_end }: Pick<Chunk, 'char_end'>): boolean {
  return char_end === 0;
}

/** Whether it has no chunk and no job will add one: its text never comes, has no words, or could not be indexed. */
export function lacksBareChunk(page: Pick<Page, 'chunk_count' | 'content_hash' | 'status'>): boolean {
  return page.chunk_count === 0 && mayBeBare(page);
}

/** Whether a page in this state may have a bare chunk, and no other. */
export function mayBeBare({ content_hash, status }: Pick<Page, 'content_hash' | 'status'>): boolean {
  return content_hash === null || status === 'indexed' || status === 'dead';
}

export function areChunksOf(length: number, chunks: readonly Chunk[]): boolean {
  if (chunks.length === 1 && chunks[0].char_start === 0 && isBare(chunks[0])) return true;
  return chunks.every(({ char_start, char_end }) => char_start >= 0 && char_end > char_start && char_end <= length);
}

export const pageChunksResponse = z.strictObject({
  page_id: z.string(),
  chunks: z.array(
    z.strictObject({
      chunk_id: z.string(),
      ordinal: z.int(),
      text: z.string(),
      token_count: z.int(),
      char_start: z.int(),
      char_end: z.int(),
      section_title: z.string().nullable(),
      section_start_s: z.number().nullable(),
    }),
  ),
});
export type PageChunksResponse = z.infer<typeof pageChunksResponse>;
export type PageChunk = PageChunksResponse['chunks'][number];

const featureStatus = z.strictObject({
  status: z.enum([...jobStatuses, 'not_queued']).nullable(),
  last_error: z.string().nullable(),
});
export const pageStatusResponse = z.strictObject({
  page_id: z.string(),
  status: pageStatus,
  last_error: z.string().nullable(),
  features: z.strictObject({ entities: featureStatus.nullable() }).nullable(),
});
export type PageStatusResponse = z.infer<typeof pageStatusResponse>;

export const pageStatusBatchRequest = z.strictObject({ page_ids: z.array(idText).min(1).max(500) });
export const pageStatusBatchResponse = z.strictObject({
  results: z.array(
    z.discriminatedUnion('found', [
      pageStatusResponse.extend({ found: z.literal(true) }),
      z.strictObject({ page_id: z.string(), found: z.literal(false) }),
    ]),
  ),
});
export type PageStatusBatchResponse = z.infer<typeof pageStatusBatchResponse>;

/** The title, or null if it is only the address. */
export function ownTitle(title: string | null, address: string): string | null {
  if (title === null || title.length > 2 * address.length + 100) return title;
  const isAddress = /^(?:https?:\/\/|www\.)\S+$/i.test(title.trim()) || bareAddress(title) === bareAddress(address);
  return isAddress ? null : title;
}

function bareAddress(text: string): string {
  return text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/^www\./i, '')
    .replace(/\/$/, '')
    .toLowerCase();
}

/** Filters: contract "SearchFiltersBody", design "after, before". Facts are folded (`foldTitle`). */
export interface PageFilters extends Partial<Record<PageFact, string | null>> {
  /** The page's domain, or a parent of it. */
  domain: string | null;
  after: number | null;
  before: number | null;
  /** Publication range, ms. Pages without a date do not pass. */
  published_after?: number | null;
  published_before?: number | null;
  pages: ReadonlySet<number> | null;
}

export const anyPage: PageFilters = { domain: null, after: null, before: null, pages: null };
