/** Retrieval: the contract's "Search" bodies. */
import { z } from 'zod';
import { datetime } from './ids.ts';
import { clusterRef, pageDetails } from './page.ts';
import { queryInteger } from './query-values.ts';
import { idText, maxDomainLength, pathText } from './texts.ts';

const rollupStrategy = z.enum(['max', 'mean_top_m', 'sum_rrf']);
export type RollupStrategy = z.infer<typeof rollupStrategy>;
const mediation = z.enum(['vector', 'cluster', 'entity']);

export const searchFiltersBody = z.strictObject({
  domain: z.string().max(maxDomainLength).nullable().optional(),
  after: datetime.nullable().optional(),
  before: datetime.nullable().optional(),
  /** Published at this time or later; published before this one. Pages of which that is not known do not pass. */
  published_after: datetime.nullable().optional(),
  published_before: datetime.nullable().optional(),
  cluster_id: idText.nullable().optional(),
  entity: pathText.nullable().optional(),
  /** Passages in this language, ISO 639-1. */
  lang: z.string().length(2).nullable().optional(),
});
export type SearchFilters = z.infer<typeof searchFiltersBody>;

const queryText = z.string().min(1).max(4000);

/** Of the contract. */
export const defaultRrfK = 60;

/** With the embedded models. */
export const defaultMinRelevance = 0.001;

/** Pages that a search gives at once. */
export const mostPages = 100;

export const searchRequest = z.strictObject({
  query: queryText,
  /**
   * Whether `"exact phrase"`, `-word`, `site:`, `title:`, `author:`, `before:`, `after:` and `lang:` in the query say which pages are wanted
   * (docs/ranking.md, "Operators"). Without it they are text, and pages that have a quoted phrase come first.
   */
  operators: z.boolean().default(false),
  /** Whether the last word of the query may be unfinished, as it is while somebody types. */
  prefix: z.boolean().default(false),
  /** Whether it comes to the query log. Not with what only passes, as while somebody types: feedback on such a query is noted nowhere. */
  log: z.boolean().default(true),
  k: z.int().min(1).max(mostPages).default(10),
  offset: z.int().min(0).default(0),
  candidates: z.int().min(1).max(1000).default(100),
  rerank: z.boolean().default(true),
  chunks_per_page: z.int().min(0).max(10).default(2),
  rollup: rollupStrategy.default('max'),
  rollup_m: z.int().min(1).max(20).default(3),
  /** The constant of reciprocal rank fusion. Where it is not given both sides are fused by their scores (docs/ranking.md, "Fusion"). */
  rrf_k: z.int().min(1).optional().meta({ default: defaultRrfK }),
  suggest: z.int().min(0).max(10).default(3),
  mediation: mediation.default('vector'),
  recency_half_life_days: z.number().positive().nullable().optional(),
  /**
   * Results less relevant are left out. Unless given .001 with the embedded models, below which next to nothing was judged relevant, and 0 with
   * outside models, which were not measured (docs/ranking.md).
   */
  min_relevance: z.number().min(0).max(1).optional(),
  filters: searchFiltersBody.nullable().optional(),
});
export type SearchRequest = z.infer<typeof searchRequest>;

/**
 * How probable it is that a passage is about the query, 0 to 1; of a page, that its most relevant one is, and 1 where the query is its URL, title or
 * host, or quotes it. Null for passages shown without having been found, and where it could not be told.
 */
const relevance = z.number().min(0).max(1).nullable();
const span = z.strictObject({ start: z.int(), end: z.int() });
const chunkResult = z.strictObject({
  chunk_id: z.string(),
  ordinal: z.int(),
  /** Where it begins in the page's text: as the offsets of `GET /v1/pages/{page_id}/chunks`. */
  char_start: z.int(),
  text: z.string(),
  score: z.number(),
  relevance,
  /** Where it has words of the query, in whatever form: UTF-16 offsets into `text`, in order, not overlapping. */
  highlights: z.array(span),
  /** The part to show first: a sentence or more, at most 300 UTF-16 code units of `text`. */
  snippet: span.extend({ text: z.string() }),
  /** The page's URL with a text fragment: browsers open the page at the snippet and mark it. */
  link: z.string(),
});
/** What of a page the query is, as it stands; `host`: the page's host, or one above it; `phrase`: it quotes the page. */
export const exactMatch = z.enum(['url', 'title', 'host', 'phrase']);
export type ExactMatch = z.infer<typeof exactMatch>;

/**
 * Why a result stands where it does. Those whose `exact` is `url` or `title` come first, then those where it is `host`, then `phrase`, then the others,
 * each by `score`, to which it adds nothing.
 */
const placeReason = z.strictObject({
  /** What of the page the query is. */
  exact: exactMatch.nullable(),
  /** Best rank of the page's passages in the list by keywords and in the one by vectors, from 1; null where it is not in that list. */
  keyword_rank: z.int().nullable(),
  vector_rank: z.int().nullable(),
  /** Whether a reranker scored its best passage; else the score is that of the fused ranks. */
  reranked: z.boolean(),
});
export const pageResult = z.strictObject({
  page_id: z.string(),
  canonical_url: z.string(),
  title: z.string().nullable(),
  domain: z.string(),
  first_seen_at: datetime,
  visit_count: z.int(),
  ...pageDetails.shape,
  score: z.number(),
  relevance,
  cluster: clusterRef.nullable(),
  chunks: z.array(chunkResult),
  exact_match: z.boolean(),
  why: placeReason,
});
export type PageResult = z.infer<typeof pageResult>;

export const suggestion = z.strictObject({ page_id: z.string(), title: z.string().nullable(), reason: z.string() });
export type Suggestion = z.infer<typeof suggestion>;

/** A word of the query that no text has, and the words that were searched for in its place, the likeliest first. */
const correction = z.strictObject({ word: z.string(), taken: z.array(z.string()) });
export type Correction = z.infer<typeof correction>;

export const searchResponse = z.strictObject({
  query_id: z.string(),
  results: z.array(pageResult),
  corrected: z.array(correction),
  offset: z.int(),
  has_more: z.boolean(),
  suggestions: z.array(suggestion),
  timing_ms: z.record(z.string(), z.number()),
});
export type SearchResponse = z.infer<typeof searchResponse>;

const { query: _query, ...sharedFields } = searchRequest.shape;
export const searchBatchRequest = z.strictObject({ queries: z.array(queryText).min(1).max(20), ...sharedFields });
export type SearchBatchRequest = z.infer<typeof searchBatchRequest>;

const searchBatchItem = z.discriminatedUnion('outcome', [
  searchResponse.extend({ index: z.int(), query: z.string(), outcome: z.literal('ok') }),
  z.strictObject({
    index: z.int(),
    query: z.string(),
    outcome: z.literal('error'),
    error: z.enum(['feature_unavailable', 'no_active_model']),
    detail: z.string(),
  }),
]);
export type SearchBatchItem = z.infer<typeof searchBatchItem>;
export const searchBatchResponse = z.strictObject({ results: z.array(searchBatchItem) });
export type SearchBatchResponse = z.infer<typeof searchBatchResponse>;

export const similarQuery = z.object({
  mediation: mediation.default('vector'),
  k: queryInteger({ min: 1, max: 50, byDefault: 10 }),
});
export type SimilarQuery = z.infer<typeof similarQuery>;

const similarResult = z.strictObject({
  page_id: z.string(),
  canonical_url: z.string(),
  title: z.string().nullable(),
  ...pageDetails.shape,
  score: z.number(),
  reason: z.string(),
});
export const similarResponse = z.strictObject({ page_id: z.string(), mediation, results: z.array(similarResult) });
export type SimilarResponse = z.infer<typeof similarResponse>;
