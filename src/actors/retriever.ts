/**
 * The retriever: answers a search. The index gives both sides' hits; here they are fused, rolled up to pages, ordered (exact
 * title or URL first, then score) and filled with passages from the store. It holds no state.
 */
import { type CanonicalizeSettings, canonicalizeUrl } from '../compute/canonical-url.ts';
import { normalizeDomain } from '../compute/domain-match.ts';
import { holdsPhrases, looksLikeUrl, quotedPhrases, titleOfQuery } from '../compute/exact-query.ts';
import { type FusedHit, fuseRrf } from '../compute/fuse-rrf.ts';
import { type RankedPage, rollUpPages } from '../compute/roll-up-pages.ts';
import { DomainError } from '../domain/errors.ts';
import { idOf } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';
import type { PageFilters } from '../domain/page-filters.ts';
import type { PageResult, SearchFilters, SearchRequest, SearchResponse } from '../domain/search.ts';
import type { StoreReader } from '../store/store.ts';
import { serviceLogic } from './service.ts';
import type { Retrieved, SystemAsk } from './system-messages.ts';

export interface RetrieverDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  canonicalize: CanonicalizeSettings;
  newQueryId: () => string;
  /** Monotonic, ms. */
  monotonic: () => number;
}

/** Pages of one title that can be put first; more have a title that names nothing. */
const maxExactPages = 100;

interface OrderedPage extends RankedPage {
  /** The query is the page's title or URL. */
  exact: boolean;
}

export function retrieverLogic(dependencies: RetrieverDependencies) {
  const { ask, reader, canonicalize, newQueryId, monotonic } = dependencies;

  /** Pages whose title or URL the query is, the filters not yet asked. */
  const exactPages = (query: string): number[] => {
    const found = new Set(reader.pages.numbersByTitle(titleOfQuery(query), maxExactPages));
    if (looksLikeUrl(query)) {
      const canonical = canonicalizeUrl(query.trim(), canonicalize);
      const no = 'invalid' in canonical ? undefined : reader.pages.numberByUrl(canonical.canonical_url);
      if (no !== undefined) found.add(no);
    }
    return [...found].filter((no) => reader.pages.get(no)?.status === 'indexed');
  };

  const order = (request: SearchRequest, retrieved: Retrieved): OrderedPage[] => {
    const lists = [retrieved.sparse.labels, retrieved.dense.labels];
    const ranked = retrieved.known ? rollUpPages(fuseRrf(lists, request.rrf_k), retrieved.pageOf) : [];
    const exact = new Set(exactPages(request.query).filter((no) => retrieved.passes(no)));
    const outsidePool = [...exact].filter((no) => !ranked.some((page) => page.page_no === no));
    const pages = [...ranked, ...outsidePool.map((page_no) => ({ page_no, score: 0, hits: [] }))];
    return pages
      .map((page) => ({ ...page, exact: exact.has(page.page_no) }))
      .sort((a, b) => Number(b.exact) - Number(a.exact) || b.score - a.score || a.page_no - b.page_no);
  };

  const present = (ordered: OrderedPage, page: Page, request: SearchRequest, phrases: string[]): PageResult => {
    const body = reader.pages.body(page.no) ?? '';
    const chunks = reader.pages.chunks(page.no);
    const shown = ordered.hits.length > 0 ? ordered.hits : firstChunks(page);
    const hits = shown.slice(0, request.chunks_per_page).flatMap(({ label, score }) => {
      const ordinal = label - page.first_label;
      const chunk = chunks[ordinal];
      if (chunk === undefined) return []; // indexed anew since the search
      const text = body.slice(chunk.char_start, chunk.char_end);
      return [{ chunk_id: idOf('chunk', label), ordinal, text, score }];
    });
    return {
      page_id: idOf('page', page.no),
      canonical_url: page.canonical_url,
      title: page.title,
      domain: page.domain,
      first_seen_at: new Date(page.first_seen_at).toISOString(),
      visit_count: page.visit_count,
      score: ordered.score,
      cluster: null,
      chunks: hits,
      exact_match: ordered.exact || holdsPhrases(`${page.title ?? ''}\n${body}`, phrases),
    };
  };

  const search = async (request: SearchRequest, signal: AbortSignal | undefined): Promise<SearchResponse> => {
    const began = monotonic();
    if (reader.models.activeId() === null) throw new DomainError('no_active_model', 'no active embedding model');
    const entity = request.filters?.entity;
    if (entity != null)
      throw new DomainError('not_found', `no entity is known as ${JSON.stringify(entity.slice(0, 64))}`);
    const { query, candidates } = request;
    const filters = pageFiltersOf(request.filters);
    const retrieved = await ask('index.retrieve', { query, candidates, filters }, { signal });
    const fusing = monotonic();
    const ordered = request.filters?.cluster_id == null ? order(request, retrieved) : [];
    const filling = monotonic();
    const end = request.offset + request.k;
    const phrases = quotedPhrases(query);
    const results = ordered.slice(request.offset, end).flatMap((each) => {
      const page = reader.pages.get(each.page_no);
      return page === undefined ? [] : [present(each, page, request, phrases)];
    });
    const done = monotonic();
    return {
      query_id: newQueryId(),
      results,
      offset: request.offset,
      has_more: ordered.length > end,
      suggestions: [],
      timing_ms: rounded({
        ...retrieved.timing_ms,
        fuse: filling - fusing,
        passages: done - filling,
        total: done - began,
      }),
    };
  };

  return serviceLogic<'search.query'>('retriever', async () => ({ handlers: { 'search.query': search } }));
}

/** A page found by its title or URL alone begins with its first passages. */
function firstChunks(page: Page): FusedHit[] {
  return Array.from({ length: page.chunk_count }, (_, ordinal) => ({ label: page.first_label + ordinal, score: 0 }));
}

/** Errors: DomainError `invalid` for a domain that can be none. */
function pageFiltersOf(filters: SearchFilters | null | undefined): PageFilters {
  const time = (text: string | null | undefined) => (text == null ? null : Date.parse(text));
  const domain = filters?.domain == null ? null : normalizeDomain(filters.domain);
  if (domain !== null && typeof domain !== 'string')
    throw new DomainError('invalid', `filters.domain: ${domain.invalid}`);
  return { domain, after: time(filters?.after), before: time(filters?.before) };
}

/** To microseconds. */
function rounded(timing: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(timing).map(([stage, ms]) => [stage, Math.round(ms * 1000) / 1000]));
}
