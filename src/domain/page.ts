/** Pages: the contract's bodies of "Page", "Ingest", "Page status" and "Batch", and the stored row. */
import { z } from 'zod';
import { datetime } from './ids.ts';
import { type JobStatus, jobStatuses } from './job.ts';
import { type PageMetadata, pageMetadata } from './metadata.ts';
import { optionalQueryInteger, queryInteger } from './query-values.ts';
import type { TextInParts } from './rows.ts';
import {
  bodyText,
  idText,
  maxDomainLength,
  maxSourceLength,
  maxTitleLength,
  maxUrlLength,
  storedText,
} from './texts.ts';

export const pageStatuses = ['queued', 'indexing', 'indexed', 'failed', 'dead'] as const;
const pageStatus = z.enum(pageStatuses);
export type PageStatus = z.infer<typeof pageStatus>;

/** The status of a page whose index job has this one: contract "Page status". */
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
  fetched_at: datetime.nullable().optional(),
  once: z.boolean().optional().describe('a visit of this very `fetched_at` counts once, however often it is handed in'),
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

/** Where a section begins; it reaches to the next one. A list of them is ascending. */
export interface Section {
  /** UTF-16 offset into the text. */
  char_start: number;
  title: string | null;
  /** Seconds into the recording, where the text is a transcript. */
  start_s?: number | null;
}

/** The stored row of a page. Its text and what grows with it are stored apart. Times are ms since the epoch. */
export interface Page {
  no: number;
  canonical_url: string;
  original_url: string;
  domain: string;
  title: string | null;
  source: string | null;
  metadata: PageMetadata | null;
  first_seen_at: number;
  last_seen_at: number;
  visit_count: number;
  indexed_at: number | null;
  status: PageStatus;
  /** SHA-256 of the text, hex; null while it is still to be fetched. */
  content_hash: string | null;
  /** The job that indexes it. */
  index_job: number;
  entity_job: number | null;
  /** Labels of its chunks: first_label … first_label + chunk_count − 1. */
  first_label: number;
  chunk_count: number;
  /** Of its text when it was indexed, a BCP 47 tag; null where nothing tells. Absent until then, and where an earlier version did that. */
  language?: string | null;
  /** In its text; absent as `language` is. */
  word_count?: number;
}

/** What a page says of itself in its metadata; null for what it does not say. */
export interface Byline {
  author: string | null;
  /** ms. */
  published_at: number | null;
  site_name: string | null;
  /** BCP 47. */
  declared_language: string | null;
}

/** Labels in a row: of a page's chunks, in their order. */
export interface LabelRange {
  first: number;
  count: number;
}

/** Which pages are wanted; all of it is optional. With `url` there is one or none. */
export const pageListQuery = z.object({
  url: storedText(maxUrlLength).optional(),
  /** This domain and those below it. */
  domain: z.string().max(maxDomainLength).optional(),
  /** Seen at this time or later; first seen before this time. */
  after: datetime.optional(),
  before: datetime.optional(),
  status: pageStatus.optional(),
  limit: queryInteger({ min: 1, max: 500, byDefault: 50 }),
  /** The `next_cursor` of the answer before. */
  cursor: idText.optional(),
});
export type PageListQuery = z.infer<typeof pageListQuery>;

/** What is told of a page wherever it is shown; null where it is not known. */
export const pageDetails = z.strictObject({
  author: z.string().nullable(),
  published_at: datetime.nullable(),
  /** BCP 47: the declared language, or that of the text where this is another. */
  language: z.string().nullable(),
  site_name: z.string().nullable(),
  read_minutes: z.int().nullable(),
});
export type PageDetails = z.infer<typeof pageDetails>;

/** The topic that a page is in. */
export const clusterRef = z.strictObject({ id: z.string(), label: z.string().nullable() });
export type ClusterRef = z.infer<typeof clusterRef>;

const pageSummary = z.strictObject({
  page_id: z.string(),
  canonical_url: z.string(),
  title: z.string().nullable(),
  domain: z.string(),
  source: z.string().nullable(),
  first_seen_at: datetime,
  last_seen_at: datetime,
  visit_count: z.int(),
  indexed_at: datetime.nullable(),
  status: pageStatus,
  ...pageDetails.shape,
});
export type PageSummary = z.infer<typeof pageSummary>;
export const pageListResponse = z.strictObject({ pages: z.array(pageSummary), next_cursor: z.string().nullable() });
export type PageListResponse = z.infer<typeof pageListResponse>;

/** Beyond any text: a body of a request has 16 MB. */
const maxOffset = 2 ** 31 - 1;

/** The part of the text that is wanted, in UTF-16 code units, as the offsets of chunks are; all of it where nothing is sent. */
export const pageQuery = z.object({
  offset: optionalQueryInteger({ min: 0, max: maxOffset }),
  length: optionalQueryInteger({ min: 1, max: maxOffset }),
});
export type PageQuery = z.infer<typeof pageQuery>;

export const pageResponse = z.strictObject({
  page_id: z.string(),
  canonical_url: z.string(),
  original_url: z.string(),
  domain: z.string(),
  title: z.string().nullable(),
  body_text: z.string().nullable(),
  /** Of the whole text, where `body_text` is the part that was asked for. */
  body_length: z.int().optional(),
  source: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  first_seen_at: datetime,
  last_seen_at: datetime,
  visit_count: z.int(),
  indexed_at: datetime.nullable(),
  status: pageStatus,
  cluster: clusterRef.nullable(),
  ...pageDetails.shape,
});
export type PageResponse = z.infer<typeof pageResponse>;

/** How often a page was visited, and when first and last: the times between are not kept. */
export const pageVisitsResponse = z.strictObject({
  page_id: z.string(),
  visit_count: z.int(),
  first_seen_at: datetime,
  last_seen_at: datetime,
  /** Those whose time is known, newest first: the last and the first. */
  visits: z.array(z.strictObject({ seen_at: datetime })),
});
export type PageVisitsResponse = z.infer<typeof pageVisitsResponse>;

/** What the answer says beside the text, and the text, which is read as it is taken where it is long. */
export type PageFacts = Omit<PageResponse, 'body_text' | 'body_length'>;
export interface PageText {
  body_text: string | TextInParts | null;
  /** Of all of it; not of a page without text. */
  body_length?: number;
}

/** A stored chunk; its text is the slice of the body. Offsets are UTF-16 code units. */
export interface Chunk {
  char_start: number;
  char_end: number;
  token_count: number;
  section_title: string | null;
  section_start_s: number | null;
}

/**
 * The chunk of a page that has no words in its text, or no text yet: it is found by what else is known of it, and there is no
 * passage to show.
 */
export const bareChunk: Chunk = {
  char_start: 0,
  char_end: 0,
  token_count: 0,
  section_title: null,
  section_start_s: null,
};

/** Whether a chunk is a page's bare one: all others hold a word. */
export function isBare({ char_end }: Pick<Chunk, 'char_end'>): boolean {
  return char_end === 0;
}

/**
 * Whether a page is to have its bare chunk made: it has none, and no job is about to give it any. Its text is still to be fetched, which
 * may take days or never be, it was indexed and has no words, or it could not be indexed.
 */
export function lacksBareChunk(page: Pick<Page, 'chunk_count' | 'content_hash' | 'status'>): boolean {
  return page.chunk_count === 0 && mayBeBare(page);
}

/** Whether a page has no chunks but a bare one, as long as it is as it is. */
export function mayBeBare({ content_hash, status }: Pick<Page, 'content_hash' | 'status'>): boolean {
  return content_hash === null || status === 'indexed' || status === 'dead';
}

/** Whether chunks can be of a text so long: each holds a part of it, or there is one alone that is bare. */
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
