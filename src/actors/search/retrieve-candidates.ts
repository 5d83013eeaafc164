/**
 * Which passages may be candidates, and what their pages are: filters, operators and quoted phrases become sets of labels, which the engine
 * searches (src/engine/retrieve.ts). Where a page stands is decided elsewhere (rank-query.ts). A query that has operators and no words is
 * answered by the newest pages.
 *
 * A query that is a host of which there are pages is searched by the names in it, twice: in all that passes, and in the host alone, so
 * that its pages are among the candidates however many others have these words. It costs one search with a filter more. So do quoted phrases:
 * the passages that have them are searched beside.
 */
import type { Logger } from 'pino';
import { hostOfQuery } from '../../compute/ranking/exact-query.ts';
import { type Bitmap, bitsInBoth, hasBit } from '../../compute/structures/bitmap.ts';
import { TopK } from '../../compute/structures/top-k.ts';
import { domainMatches } from '../../compute/web/domain-match.ts';
import { type EmbeddingModel, localDim } from '../../domain/model.ts';
import type { PageFilters } from '../../domain/page-filters.ts';
import { noCandidates, type RankedChunks, retrieve } from '../../engine/retrieve.ts';
import type { Searchers } from '../../engine/searchers.ts';
import type { VectorSpace } from '../../engine/vectors/vector-space.ts';
import type { AllowedLabels, Catalog } from '../../index/catalog.ts';
import type { ModelSpaces } from '../../index/model-spaces.ts';
import type { CandidatePages, Retrieved, RetrieveRequest } from '../system/system-messages.ts';
import { findHolding, quotingPages } from './pages-of-clauses.ts';
import type { AskQueryVector } from './query-vector.ts';

export interface RetrievalDependencies {
  catalog: Catalog;
  spaces: ModelSpaces;
  searchers: Searchers;
  /** Gives queries their vectors by outside models. */
  askQueryVector: AskQueryVector;
  /** Whether everything that was indexed is searchable with this model's vectors. */
  isWhole: (model: EmbeddingModel) => boolean;
  log: Logger;
  monotonic: () => number;
}

/** Answer a request with this model's vectors. Errors: DomainError, QueueFullError, those of the threads. */
export type RetrieveCandidates = (
  request: RetrieveRequest,
  model: EmbeddingModel,
  signal: AbortSignal | undefined,
) => Promise<Retrieved>;

export function retrieveCandidates(dependencies: RetrievalDependencies): RetrieveCandidates {
  const { catalog, spaces, searchers, askQueryVector, isWhole, log, monotonic } = dependencies;

  /** The host that the query is: the filters that its pages pass, and those of their labels that may be found. Null where the query is no host, or there is none. */
  const findHost = (query: string, filters: PageFilters, allowed: AllowedLabels | null) => {
    const host = hostOfQuery(query);
    const within = host === null ? null : filtersWithin(filters, host.domain);
    if (host === null || within === null) return null;
    const ofHost = catalog.allowed(within)?.labels;
    if (ofHost === undefined) return null;
    const allow = allowed === null ? ofHost : bitsInBoth(ofHost, allowed.labels);
    return allow.some((word) => word !== 0) ? { words: host.words, filters: within, allow } : null;
  };

  /** What is known of the pages of these labels; `host`: the filters that pages of the query's host pass; `phrases`: labels of each. */
  const pagesOf = (
    sides: readonly Uint32Array[],
    host: { filters: PageFilters } | null,
    phrases: readonly Uint32Array[],
  ): CandidatePages => {
    const pageOf = new Map<number, number>();
    const lastSeenAt = new Map<number, number>();
    const ofHost = new Set<number>();
    for (const labels of sides) {
      for (const label of labels) {
        const no = catalog.pageOf(label);
        if (no === 0) continue;
        pageOf.set(label, no);
        if (lastSeenAt.has(no)) continue;
        lastSeenAt.set(no, catalog.lastSeenAt(no));
        if (host !== null && catalog.passes(no, host.filters)) ofHost.add(no);
      }
    }
    return { pageOf, lastSeenAt, ofHost, quoting: quotingPages(catalog, phrases, pageOf.values()) };
  };

  return async (request, model, signal) => {
    const { query: asGiven, candidates: k, filters } = request;
    const began = monotonic();
    const wasWhole = isWhole(model);
    const { allowed, quoting, phrases } = await findHolding({ catalog, searchers }, request, catalog.allowed(filters));
    const host = findHost(asGiven, filters, allowed);
    const query = host?.words ?? asGiven;
    const timing_ms: Record<string, number> = { filter: monotonic() - began };
    const isAsked = query !== '' || allowed !== null;
    if (!isAsked || allowed?.count === 0) return { ...noCandidates, ...pagesOf([], null, []) };
    if (query === '' && allowed !== null) {
      const sparse = newest(catalog, allowed.labels, k);
      return { ...noCandidates, sparse, known: true, timing_ms, ...pagesOf([sparse.labels], null, []) };
    }
    const vectors: Pick<VectorSpace, 'candidates'> = {
      candidates: (asked) => spaces.use(model, ({ chunks }) => chunks.candidates(asked)),
    };
    const dim = localDim(model);
    /** The query's vector by an outside model. */
    const outside = async () => {
      if (request.vector !== undefined) return request.vector;
      const { vector, degraded } = await askQueryVector(model, query, signal);
      if (degraded) timing_ms.degraded_dense = 1;
      return vector;
    };
    const ofHost = host === null ? [] : [host.allow];
    const found = await retrieve(
      { searchers, vectors, log, monotonic },
      {
        query,
        prefix: request.prefix,
        spelling: wasWhole,
        dim,
        outside: dim === null ? outside() : undefined,
        k,
        allow: allowed?.labels,
        beside: { words: quoting === null ? ofHost : [...ofHost, quoting], vectors: ofHost },
        floor: model.floor,
        rrfK: request.rrf_k,
        wants: { order: request.rerank, relevance: request.relevance },
      },
    );
    // Asked before and after: what became whole while it was searched was not so for all of the search.
    if (!wasWhole || !isWhole(model)) timing_ms.rebuilding = 1;
    const pages = pagesOf([found.sparse.labels, found.dense.labels], host, phrases);
    return { ...found, ...pages, timing_ms: { ...timing_ms, ...found.timing_ms } };
  };
}

/** The first passage that is allowed of each page, those of the pages seen latest first. */
function newest(catalog: Catalog, allowed: Bitmap, k: number): RankedChunks {
  const latest = new TopK(new Float64Array(k));
  // Later numbers were first seen later: from the end few are offered in vain.
  for (let no = catalog.pageEnd - 1; no > 0; no--) {
    const at = catalog.lastSeenAt(no);
    if (at < latest.bar) continue;
    const { first, count } = catalog.labelsOf(no);
    let label = first;
    while (label < first + count && !hasBit(allowed, label)) label++;
    if (label < first + count) latest.offer(label, at);
  }
  const { labels } = latest.take();
  return { labels, scores: Float32Array.from(labels, (_, at) => 1 - at / labels.length) };
}

/** The filters narrowed to a host and those below it; null where they are about another. */
function filtersWithin(filters: PageFilters, host: string): PageFilters | null {
  if (filters.domain === null || domainMatches(host, filters.domain)) return { ...filters, domain: host };
  return domainMatches(filters.domain, host) ? filters : null;
}
