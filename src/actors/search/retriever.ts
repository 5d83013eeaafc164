/** Answers searches, single or in batches, from ranking (rank-query.ts) and presentation (present-page.ts). Stateless. */
import pLimit from 'p-limit';
import { correctedQuery } from '../../compute/ranking/corrected-query.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import { anyPage } from '../../domain/page.ts';
import { noClauses } from '../../domain/query-clause.ts';
import {
  maxCandidates,
  type PageResult,
  type SearchBatchItem,
  type SearchBatchRequest,
  type SearchFacets,
  type SearchRequest,
  type SearchResponse,
} from '../../domain/search.ts';
import { numberOf } from '../../domain/values.ts';
import type {
  Handlers,
  ListedPage,
  MatchedPages,
  RankedPages,
  StartService,
  SystemMessageName,
} from '../system/service.ts';
import { type AskDependencies, questionAnswerer } from './ask.ts';
import { modelComparer } from './compare-models.ts';
import { collapsed } from './match-pages.ts';
import { mediation } from './mediation.ts';
import { markedBy, placeExplainer, presentPage, textsOf } from './present-page.ts';
import type { QueryLogQueue } from './query-log-queue.ts';
import {
  type Asked,
  askedBy,
  type OrderedPage,
  onNextTurn,
  queryRanker,
  type RankDependencies,
  type Ranking,
} from './rank-query.ts';
import { querySuggester } from './suggest.ts';
import { nothingExplainer } from './why-nothing.ts';

export interface RetrieverDependencies extends RankDependencies, AskDependencies {
  newQueryId: () => string;
  newCompareId: () => string;
  queue: QueryLogQueue;
  /** How long queries are logged, ms. */
  keepQueriesMs: number;
}

/** Retry time of a measurement if a provider is down, ms: a breaker's usual cooldown. */
const retryAfterMs = 30_000;

/** Max searches with passages in memory: 100 results of 10 passages take some MB. */
const presentedAtOnce = 8;
/** Max concurrent batches, with up to 20 such results each. */
const batchesAtOnce = 4;

interface Found {
  ranking: Ranking;
  pages: OrderedPage[];
  best: OrderedPage[];
  total: number;
  facets: SearchFacets | null;
}

type RetrieverMessages = Extract<SystemMessageName, `search.${string}`>;

export function retrieverService(dependencies: RetrieverDependencies): StartService<RetrieverMessages> {
  const { ask, reader, newQueryId, queue, now, monotonic, outsideReranker } = dependencies;
  const rank = queryRanker(dependencies);
  const explainNothing = nothingExplainer(rank, reader, now);
  const { suggest, similar } = mediation(dependencies);
  const suggestQueries = querySuggester({ ...dependencies, rank });
  const toPresent = pLimit(presentedAtOnce);
  const inTurn = pLimit(batchesAtOnce);

  const rankAll = (request: SearchRequest, signal: AbortSignal | undefined): Promise<Ranking> =>
    rank(request, { relevance: { least: request.min_relevance }, signal });

  const match = (
    request: SearchRequest,
    { plain: query, ignored: _, ...words }: Asked,
    signal: AbortSignal | undefined,
    listed?: readonly ListedPage[],
  ): Promise<MatchedPages> => {
    const { sort, facets, collapse, min_relevance, offset, k, tz: zone = 'UTC' } = request;
    const wanted = { sort, facets, collapse, min_relevance, top: offset + k, zone };
    return ask('index.match', { ...words, query, ...wanted, listed }, { signal });
  };

  /** The requested part of the results, and `best`: the pages that suggestions are based on. */
  const find = async (request: SearchRequest, signal: AbortSignal | undefined): Promise<Found> => {
    const { offset, k } = request;
    const words = () => askedBy(request, reader, now());
    if (request.sort === 'relevance') {
      const ranking = await rankAll(request, signal);
      const { pages, retrieved } = ranking;
      // `sketches` are empty unless `collapse` is set.
      const listed = collapsed(reader, pages, retrieved.sketches, (label) => retrieved.pageOf.get(label));
      const counted = request.facets ? await match(request, words(), signal, listed) : null;
      const best = listed.slice(0, offset + k);
      return { ranking, pages: best.slice(offset), best, total: listed.length, facets: counted?.facets ?? null };
    }
    const asked = words();
    const matched = await match(request, asked, signal);
    if (matched.total > 0) return rankMatched(request, asked, matched, signal);
    // No page matches all words: sort the candidates instead.
    const ranking = await rankAll(request, signal);
    const filters = { ...anyPage, pages: new Set(ranking.pages.map(({ page_no }) => page_no)) };
    const among = { ...asked, phrases: [], filters, clauses: noClauses };
    const sorted = await match(request, { ...among, plain: '' }, signal);
    if (sorted.total > 0) return rankMatched(request, among, sorted, signal);
    return { ranking, pages: [], best: [], total: 0, facets: sorted.facets };
  };

  const rankMatched = async (
    request: SearchRequest,
    asked: Asked,
    { first, total, facets }: MatchedPages,
    signal: AbortSignal | undefined,
  ): Promise<Found> => {
    const shown = first.slice(request.offset);
    const filters = { ...asked.filters, pages: new Set(shown.map(({ page_no }) => page_no)) };
    const ranking = await rank(
      { ...request, candidates: maxCandidates, collapse: false },
      { signal, relevance: { least: 0 }, isLocal: true, byWords: shown.length === 0, asked: { ...asked, filters } },
    );
    const known = new Map(ranking.pages.map((page) => [page.page_no, page]));
    // For pages with very many passages or another spelling of a phrase, which are not among the candidates.
    const unranked = (page: ListedPage): OrderedPage => ({ ...page, score: 0, hits: [], exact: null, relevance: null });
    const pages = shown.map((page) => ({ ...unranked(page), ...known.get(page.page_no) }));
    return { ranking, pages, best: [...pages, ...first.slice(0, request.offset).map(unranked)], total, facets };
  };

  const search = async (request: SearchRequest, signal: AbortSignal | undefined): Promise<SearchResponse> => {
    const began = monotonic();
    // Read before the search: a page indexed during the search is missing from the results, but no longer waiting.
    const wasIndexing = reader.jobs.countIndexing(1) > 0;
    const { ranking, pages, best, total, facets } = await find(request, signal);
    const ranked = monotonic();
    const readText = textsOf(reader);
    let presenting = ranked;
    let presented = ranked;
    const present = () => {
      presenting = monotonic();
      const explain = placeExplainer(ranking);
      const { relevanceOf, quoting } = ranking;
      const presentation = { chunks_per_page: request.chunks_per_page, quoting, explain, relevanceOf, readText };
      const filled = pages.flatMap((each) => presentPage(reader, each, presentation) ?? []);
      presented = monotonic();
      return filled;
    };
    const marked = async () => markPassages(await onNextTurn(present, signal), ranking.retrieved.stems, signal);
    // Threads compute suggestions while passages are read here.
    const [suggestions, results] = await toPresent(() => {
      signal?.throwIfAborted();
      return Promise.all([suggest(request, ranking.model, best, signal), marked()]);
    });
    const isPartial = wasIndexing || ranking.timing_ms.rebuilding === 1;
    const no_results = total > 0 ? null : await explainNothing(request, isPartial, signal);
    const done = monotonic();
    const timing_ms = rounded({
      ...ranking.timing_ms,
      passages: presented - presenting,
      suggest: done - presented,
      total: done - began,
    });
    const query_id = newQueryId();
    const { query: query_text, log, ...params } = request;
    const { model: active_model, reranker: reranker_model, retrieved, fused } = ranking;
    const run = { query_id, ts: now(), kind: 'search', compare_id: null, query_text, params, timing_ms } as const;
    if (log) queue.offer({ ...run, active_model, reranker_model, retrieved, fused, pages, offset: request.offset });
    return {
      query_id,
      results,
      corrected: retrieved.corrected,
      corrected_query: correctedQuery(request, retrieved.corrected),
      no_results,
      ...(ranking.ignored.length > 0 && { ignored_operators: [...ranking.ignored] }),
      ...(facets !== null && { facets }),
      offset: request.offset,
      has_more: total > request.offset + request.k,
      suggestions,
      timing_ms,
    };
  };

  const markPassages = async (
    results: PageResult[],
    stems: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<PageResult[]> => {
    const passages = results.flatMap(({ canonical_url, chunks }) =>
      chunks.map(({ chunk_id, text }) => ({ label: numberOf('chunk', chunk_id) ?? 0, text, url: canonical_url })),
    );
    if (passages.length === 0) return results;
    // If marking fails, results show the start of their passages, and links open the top of the page.
    const answer = await ask('index.markPassages', { passages, stems }, { signal }).catch(() => {
      signal?.throwIfAborted();
      return [];
    });
    const marks = answer.values();
    const marked = (chunk: PageResult['chunks'][number]) => {
      const { value } = marks.next();
      return value === undefined ? chunk : { ...chunk, ...markedBy(chunk.text, value) };
    };
    return results.map((result) => ({ ...result, chunks: result.chunks.map(marked) }));
  };

  /** Runs the queries one after the other, by contract "Batch search". */
  const searchBatch = async ({ queries, ...shared }: SearchBatchRequest, signal: AbortSignal | undefined) => {
    const results: SearchBatchItem[] = [];
    for (const [index, query] of queries.entries()) {
      try {
        results.push({ ...(await search({ ...shared, query }, signal)), index, query, outcome: 'ok' });
      } catch (error) {
        results.push({ index, query, outcome: 'error', ...itemError(error) });
      }
    }
    return { results };
  };

  const answer = questionAnswerer(search, dependencies);
  const handlersUntil = (ending: AbortSignal): Handlers<RetrieverMessages> => ({
    'search.query': search,
    'search.ask': (request, signal) => answer(request, signal, ending),
    'search.batch': (request, signal) => inTurn(() => searchBatch(request, signal)),
    'search.similar': similar,
    'search.compare': modelComparer({ ...dependencies, rank }),
    'search.suggest': ({ q }, signal) => suggestQueries(q, signal),
    'search.rank': async ({ request, model, isLocal }, signal) => {
      const ranking = await rank(request, { model, isLocal, signal });
      const { degraded_dense, degraded_rerank } = ranking.timing_ms;
      // A partly late reranker still set the order.
      const isLocalInstead = degraded_rerank === 1 && ranking.reranker !== outsideReranker?.name;
      if (degraded_dense === 1 || (outsideReranker !== null && isLocalInstead)) {
        throw new JobError('a provider did not answer, so the ranking cannot be measured', { retryAfterMs });
      }
      return rankedPages(ranking);
    },
  });
  return async ({ ending }) => ({ handlers: handlersUntil(ending) });
}

/** Page numbers, best first, for measurements. */
function rankedPages({ pages, fused, retrieved, reranker }: Ranking): RankedPages {
  const candidates = new Set(fused.flatMap(({ label }) => retrieved.pageOf.get(label) ?? []));
  return { pages: pages.map(({ page_no }) => page_no), candidates: [...candidates], reranker };
}

/** Throws errors that concern the whole batch. */
function itemError(error: unknown): { error: 'feature_unavailable' | 'no_active_model'; detail: string } {
  if (error instanceof DomainError) {
    if (error.code === 'no_active_model') return { error: 'no_active_model', detail: error.message };
    if (error.code === 'not_found') return { error: 'feature_unavailable', detail: error.message };
  }
  throw error;
}

function rounded(timing: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(timing).map(([stage, ms]) => [stage, Math.round(ms * 1000) / 1000]));
}
