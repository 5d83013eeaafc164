/**
 * The retriever: answers searches, one or a batch. Ranking and presenting are parts of their own (rank-query.ts,
 * present-page.ts); here they become a reply. It holds no state.
 */
import { DomainError, JobError } from '../../domain/errors.ts';
import { numberOf } from '../../domain/ids.ts';
import type {
  PageResult,
  SearchBatchItem,
  SearchBatchRequest,
  SearchRequest,
  SearchResponse,
} from '../../domain/search.ts';
import type { QueryLogQueue } from '../journal/query-log-queue.ts';
import type { Handlers, StartService } from '../system/service.ts';
import type { RankedPages } from '../system/system-messages.ts';
import { modelComparer } from './compare-models.ts';
import { placeExplainer } from './explain-place.ts';
import { mediation } from './mediation.ts';
import { onceAsked } from './once-asked.ts';
import { linkPassages, markedBy, presentPage, textsOf } from './present-page.ts';
import { queryRanker, type RankDependencies, type Ranking } from './rank-query.ts';

export interface RetrieverDependencies extends RankDependencies {
  newQueryId: () => string;
  newCompareId: () => string;
  queue: QueryLogQueue;
}

/** When a measurement that a provider did not take part in is tried again: a breaker's usual cooldown, ms. */
const retryAfterMs = 30_000;

type RetrieverMessages = 'search.query' | 'search.batch' | 'search.similar' | 'search.compare' | 'search.rank';

export function retrieverService(dependencies: RetrieverDependencies): StartService<RetrieverMessages> {
  const { ask, reader, newQueryId, queue, now, monotonic, outsideReranker } = dependencies;
  const rank = queryRanker(dependencies);
  const { suggest, similar } = mediation(dependencies);

  const search = async (request: SearchRequest, signal: AbortSignal | undefined): Promise<SearchResponse> => {
    const began = monotonic();
    const ranking = await rank(request, { relevance: { least: request.min_relevance }, signal });
    const ranked = monotonic();
    const end = request.offset + request.k;
    const pages = ranking.pages.slice(request.offset, end);
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
    // The threads look for suggestions while the passages are read here.
    const suggesting = suggest(request, ranking.model, ranking.pages.slice(0, end), signal);
    const found = onceAsked(present)
      .then((filled) => markPassages(filled, ranking.retrieved.stems, signal))
      .then((marked) => onceAsked(() => linkPassages(readText, marked)));
    const [suggestions, results] = await Promise.all([suggesting, found]);
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
      offset: request.offset,
      has_more: ranking.pages.length > end,
      suggestions,
      timing_ms,
    };
  };

  /** The results with what of their passages the query is about. */
  const markPassages = async (
    results: PageResult[],
    stems: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<PageResult[]> => {
    const passages = results.flatMap(({ chunks }) =>
      chunks.map(({ chunk_id, text }) => ({ label: numberOf('chunk', chunk_id) ?? 0, text })),
    );
    if (passages.length === 0) return results;
    // The results stand by themselves: without marks they begin with their passages.
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

  /** One after the other on purpose: contract "Batch search". */
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

  const handlers: Handlers<RetrieverMessages> = {
    'search.query': search,
    'search.batch': searchBatch,
    'search.similar': similar,
    'search.compare': modelComparer({ ...dependencies, rank }),
    'search.rank': async ({ request, model, isLocal }, signal) => {
      const ranking = await rank(request, { model, isLocal, signal });
      const { degraded_dense, degraded_rerank } = ranking.timing_ms;
      // A reranker that scored some in time has made the order that searches get of it.
      const isLocalInstead = degraded_rerank === 1 && ranking.reranker !== outsideReranker?.name;
      if (degraded_dense === 1 || (outsideReranker !== null && isLocalInstead)) {
        throw new JobError('a provider did not answer: what was to be measured is not this ranking', { retryAfterMs });
      }
      return rankedPages(ranking);
    },
  };
  return async () => ({ handlers });
}

/** A ranking as those see it who measure it: numbers of pages, best first. */
function rankedPages({ pages, fused, retrieved, reranker }: Ranking): RankedPages {
  const candidates = new Set(fused.flatMap(({ label }) => retrieved.pageOf.get(label) ?? []));
  return { pages: pages.map(({ page_no }) => page_no), candidates: [...candidates], reranker };
}

/** What a failed item of a batch says; an error that concerns the whole batch is thrown on. */
function itemError(error: unknown): { error: 'feature_unavailable' | 'no_active_model'; detail: string } {
  if (error instanceof DomainError) {
    if (error.code === 'no_active_model') return { error: 'no_active_model', detail: error.message };
    if (error.code === 'not_found') return { error: 'feature_unavailable', detail: error.message };
  }
  throw error;
}

/** To microseconds. */
function rounded(timing: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(timing).map(([stage, ms]) => [stage, Math.round(ms * 1000) / 1000]));
}
