/** Contract "Search". */

import { z } from 'zod';
import { clusterRef, pageDetails, pageName } from './page.ts';
import { pageStates, pageTypes } from './query-clause.ts';
import { datetime, idText, maxDomainLength, maxSourceLength, pathText, queryInteger } from './values.ts';

const rollupStrategy = z.enum(['max', 'mean_top_m', 'sum_rrf']);
export type RollupStrategy = z.infer<typeof rollupStrategy>;
const mediation = z.enum(['vector', 'cluster', 'entity']);

export const searchFiltersBody = z.strictObject({
  domain: z.string().max(maxDomainLength).nullable().optional(),
  after: datetime.nullable().optional(),
  before: datetime.nullable().optional(),
  /** Publication range. Pages of unknown date do not pass. */
  published_after: datetime.nullable().optional(),
  published_before: datetime.nullable().optional(),
  cluster_id: idText.nullable().optional(),
  entity: pathText.nullable().optional(),
  lang: z.string().length(2).nullable().optional(),
  type: z.enum(pageTypes).nullable().optional(),
  /** Values of the metadata `tags` and `folder`, ignoring case. A folder includes those below it. */
  tag: pathText.nullable().optional(),
  folder: pathText.nullable().optional(),
  source: z.string().max(maxSourceLength).nullable().optional(),
  is: z.enum(pageStates).nullable().optional(),
});
export type SearchFilters = z.infer<typeof searchFiltersBody>;

const queryText = z.string().min(1).max(4000);

export const defaultRrfK = 60;

/** Default with the built-in model. */
export const defaultMinRelevance = 0.0008;
/** Default for pages without any word of a query of one or two words: a cosine of about .825. */
export const fewWordsMinRelevance = 0.006;

export const maxPages = 100;
export const maxCandidates = 1000;

export const searchSorts = ['relevance', 'newest', 'oldest', 'most_visited'] as const;
export type SearchSort = (typeof searchSorts)[number];

const timeZone = z
  .string()
  .max(64)
  .regex(/^[A-Za-z]/)
  .refine(isTimeZone, { error: 'must be a time zone, such as Europe/Berlin' });

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false; // a RangeError: unknown time zone
  }
}

export const searchRequest = z.strictObject({
  query: queryText,
  /** If false, operators (docs/command-line.md, "Operators of a query") are text, and quoted phrases come first. */
  operators: z.boolean().default(false),
  /** Time zone of the days in `after:` and `before:`, an IANA name. Default UTC. */
  tz: timeZone.optional(),
  /**
   * Other orders than `relevance` include all pages that match (docs/models.md, "Operators, filters and orders"), not
   * only the candidates: `newest` by last visit, `oldest` by first visit. If no page matches, they order the candidates.
   */
  sort: z.enum(searchSorts).default('relevance'),
  /** Whether to count the values of the pages that match; see `facets` of the answer. */
  facets: z.boolean().default(false),
  /**
   * The query may be unfinished: its last word, unless followed by white space, also matches as a prefix, and a last
   * operator that excludes everything is ignored.
   */
  prefix: z.boolean().default(false),
  /** Correct a word that no text or word list contains, to a frequent completion or the nearest word: `corrected`. */
  spelling: z.boolean().default(true),
  /** Whether to log the query. Disable it while typing: feedback on an unlogged query is ignored. */
  log: z.boolean().default(true),
  k: z.int().min(1).max(maxPages).default(10),
  offset: z.int().min(0).default(0),
  candidates: z.int().min(1).max(maxCandidates).default(100),
  rerank: z.boolean().default(true),
  chunks_per_page: z.int().min(0).max(10).default(2),
  rollup: rollupStrategy.default('max'),
  rollup_m: z.int().min(1).max(20).default(3),
  /** The constant of reciprocal rank fusion. Setting it selects fusion by ranks (docs/models.md, "Fusion"). */
  rrf_k: z.int().min(1).optional().meta({ default: defaultRrfK }),
  suggest: z.int().min(0).max(10).default(3),
  mediation: mediation.default('vector'),
  recency_half_life_days: z.number().positive().nullable().optional(),
  /** Min relevance. The default depends on model and order; it is 0 with unmeasured outside models (docs/models.md). */
  min_relevance: z.number().min(0).max(1).optional(),
  filters: searchFiltersBody.nullable().optional(),
  /** Whether pages with nearly the same text are one result; see `duplicates`. */
  collapse: z.boolean().default(true),
});
export type SearchRequest = z.infer<typeof searchRequest>;

/**
 * The probability that a passage is about the query. A page has that of its best passage, or 1 if the query is its URL,
 * title or host, or quotes it. Null for passages that the search did not find, or if unknown.
 */
const relevance = z.number().min(0).max(1).nullable();
const span = z.strictObject({ start: z.int(), end: z.int() });
const chunkResult = z.strictObject({
  chunk_id: z.string(),
  ordinal: z.int(),
  /** Start of the passage in the page's text, as in `GET /v1/pages/{page_id}/chunks`. */
  char_start: z.int(),
  text: z.string(),
  score: z.number(),
  relevance,
  /** Query words in any form: UTF-16 offsets into `text`, in order, not overlapping. */
  highlights: z.array(span),
  /** The preview: a sentence or more, at most 300 UTF-16 code units of `text`. */
  snippet: span.extend({ text: z.string() }),
  /** The page's URL with a text fragment that highlights the snippet. */
  link: z.string(),
});
/** What equals the query: the page's URL, its title, its host or a parent domain (`host`), or a quoted phrase. */
export const exactMatch = z.enum(['url', 'title', 'host', 'phrase']);
export type ExactMatch = z.infer<typeof exactMatch>;

/** Why a result has its rank. `exact` of `url` or `title` comes first, then `host`, then `phrase`, then the others, each by `score`. */
const placeReason = z.strictObject({
  exact: exactMatch.nullable(),
  /** Best rank of the page's passages by keywords and by vectors, from 1; null if absent from that list. */
  keyword_rank: z.int().nullable(),
  vector_rank: z.int().nullable(),
  /** Whether a reranker scored its best passage. Otherwise the score comes from fused ranks. */
  reranked: z.boolean(),
});
export const pageResult = z.strictObject({
  ...pageName,
  domain: z.string(),
  first_seen_at: datetime,
  visit_count: z.int(),
  ...pageDetails.shape,
  score: z.number(),
  relevance,
  cluster: clusterRef.nullable(),
  tags: z.array(z.string()),
  chunks: z.array(chunkResult),
  exact_match: z.boolean(),
  why: placeReason,
  /** Other results that are copies of this page (docs/models.md, "Duplicates"), best first. */
  duplicates: z.array(z.strictObject(pageName)),
});
export type PageResult = z.infer<typeof pageResult>;

export const suggestion = z.strictObject({ page_id: z.string(), title: z.string().nullable(), reason: z.string() });
export type Suggestion = z.infer<typeof suggestion>;

const correction = z.strictObject({ word: z.string(), taken: z.array(z.string()) });
export type Correction = z.infer<typeof correction>;

export const noResults = z.strictObject({
  /** `excluded`: operators or filters exclude all matches; `indexing`: no match yet, and pages still wait; `no_match`: no match. */
  reason: z.enum(['excluded', 'indexing', 'no_match']),
  /** Operators as written, and fields of `filters`, that exclude all matches: each alone, or else all together. */
  operators: z.array(z.string()),
  filters: z.array(z.string()),
  /** Pages waiting to be fetched and to be indexed, each counted up to 10,000. */
  pages_waiting: z.int(),
});
export type NoResults = z.infer<typeof noResults>;

const ignoredOperator = z.strictObject({ operator: z.string(), reason: z.string() });
export type IgnoredOperator = z.infer<typeof ignoredOperator>;

export const facetValue = z.strictObject({
  value: z.string(),
  /** Label of topics and names. */
  label: z.string().nullable(),
  count: z.int(),
});
const facetValues = z.array(facetValue);
/** The ten most frequent values of each field among the results and all other pages that match. */
export const searchFacets = z.strictObject({
  total: z.int(),
  site: facetValues,
  lang: facetValues,
  type: facetValues,
  topic: facetValues,
  name: facetValues,
  tag: facetValues,
  folder: facetValues,
  source: facetValues,
  is: facetValues,
  /** Month of visits, as `2026-03`. */
  month: facetValues,
});
export type SearchFacets = z.infer<typeof searchFacets>;
export type FacetName = Exclude<keyof SearchFacets, 'total'>;

export const searchResponse = z.strictObject({
  query_id: z.string(),
  results: z.array(pageResult),
  corrected: z.array(correction),
  /** The corrected query of these results, with operators as written; null if unchanged. */
  corrected_query: z.string().nullable(),
  /** Null if there are results, also if `offset` skips them. */
  no_results: noResults.nullable(),
  /** Operators that cannot be read and were searched as text; absent if there are none. */
  ignored_operators: z.array(ignoredOperator).optional(),
  /** Absent unless requested. */
  facets: searchFacets.optional(),
  offset: z.int(),
  has_more: z.boolean(),
  suggestions: z.array(suggestion),
  timing_ms: z.record(z.string(), z.number()),
});
export type SearchResponse = z.infer<typeof searchResponse>;

/** In the order of an answer. */
export const suggestionKinds = ['query', 'page', 'domain', 'entity', 'cluster'] as const;
/** Something that a query being typed may mean. */
export const querySuggestion = z.strictObject({
  kind: z.enum(suggestionKinds),
  /** The earlier query, title, domain, name or label. */
  text: z.string(),
  /** Id of a page, entity or cluster; null for other kinds. */
  id: z.string().nullable(),
  /** Domain of a page; null for other kinds. */
  domain: z.string().nullable(),
  /** Number of pages of a domain, entity or cluster; null for other kinds. */
  page_count: z.int().nullable(),
});
export type QuerySuggestion = z.infer<typeof querySuggestion>;
export const suggestQuery = z.object({ q: z.string().min(1).max(200) });
export type SuggestQuery = z.infer<typeof suggestQuery>;
export const suggestResponse = z.strictObject({ suggestions: z.array(querySuggestion) });
export type SuggestResponse = z.infer<typeof suggestResponse>;

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
  ...pageName,
  ...pageDetails.shape,
  score: z.number(),
  reason: z.string(),
});
export const similarResponse = z.strictObject({ page_id: z.string(), mediation, results: z.array(similarResult) });
export type SimilarResponse = z.infer<typeof similarResponse>;
