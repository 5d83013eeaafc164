import type { SearchResponse } from '../../src/domain/search.ts';

/** What a search is asked with where its request says nothing of it: contract "SearchRequest". */
export const searchDefaults = {
  operators: false,
  sort: 'relevance',
  facets: false,
  prefix: false,
  spelling: true,
  log: true,
  k: 10,
  offset: 0,
  candidates: 100,
  rerank: true,
  chunks_per_page: 2,
  rollup: 'max',
  rollup_m: 3,
  suggest: 3,
  mediation: 'vector',
  collapse: true,
};

/** A search that found nothing. */
export const nothingFound: SearchResponse = {
  query_id: 'q',
  results: [],
  corrected: [],
  corrected_query: null,
  no_results: null,
  offset: 0,
  has_more: false,
  suggestions: [],
  timing_ms: {},
};
