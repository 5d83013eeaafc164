/**
 * From a query to candidates: both sides are searched at once, and the local reranker scores what they found. Where a page stands is
 * decided elsewhere (rank-query.ts); here are labels and scores.
 *
 *   query ─ searcher: analyse, embed ─┬─ and on: BM25F ────────┐
 *           or outside model: embed ──┴─ shards: cosine, floor ─┴─ shards: cosines of both ─ searcher: rerank
 *
 * A query that is a host of which there are pages is searched by the names in it, twice: in all that passes, and in the host alone, so
 * that its pages are among the candidates however many others have these words. It costs one search with a filter more. So do quoted phrases:
 * the passages that have them are searched beside.
 */
import type { Logger } from 'pino';
import { hostOfQuery } from '../../compute/ranking/exact-query.ts';
import type { Bitmap } from '../../compute/structures/bitmap.ts';
import { domainMatches } from '../../compute/web/domain-match.ts';
import { type EmbeddingModel, localDim } from '../../domain/model.ts';
import type { PageFilters } from '../../domain/page-filters.ts';
import type { AnalyzedQuery } from '../../engine/analyze-query.ts';
import { judgeHits } from '../../engine/judge-hits.ts';
import type { Searchers } from '../../engine/searchers.ts';
import type { Catalog } from '../../index/catalog.ts';
import type { ModelSpaces } from '../../index/model-spaces.ts';
import type { CandidatePages, RankedChunks, Retrieved, RetrieveRequest } from '../system/system-messages.ts';
import { findHolding, quotingPages } from './held-by-pages.ts';
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

/** A query as a searcher analysed it, with its vector from wherever the model is. */
type EmbeddedQuery = Pick<AnalyzedQuery, 'forms' | 'vector' | 'wordPart' | 'knownWords' | 'denseWeight'>;

const noLabels = new Uint32Array(0);
const unjudged = { reranked: null, relevance: null };
const nothing: RankedChunks = { labels: noLabels, scores: new Float32Array(0) };

export function retrieveCandidates(dependencies: RetrievalDependencies): RetrieveCandidates {
  const { catalog, spaces, searchers, askQueryVector, isWhole, log, monotonic } = dependencies;

  /** The query's vector by an outside model, which knows every word in its way; null where the searchers make it. */
  const embedOutside = async (model: EmbeddingModel, query: string, signal: AbortSignal | undefined) => {
    if (localDim(model) !== null) return null;
    const asked = await askQueryVector(model, query, signal);
    return { ...asked, wordPart: null, knownWords: asked.vector === null ? 0 : 1, denseWeight: 1 };
  };

  /** The dense side's hits; none where there is no vector to ask with. */
  const searchVectors = async (
    model: EmbeddingModel,
    vector: Float32Array | null,
    k: number,
    allow: { allow?: Bitmap },
  ): Promise<RankedChunks> => {
    if (vector === null) return nothing;
    const limits = { ...allow, ...(model.floor === null ? {} : { minScore: model.floor }) };
    return spaces.use(model, ({ chunks }) => chunks.search(vector, k, limits));
  };

  /** How relevant the candidates are, and the first by the local reranker; null for what it cannot say: a search does not fail of it. */
  const judge = async (
    model: EmbeddingModel,
    query: EmbeddedQuery,
    hits: readonly Uint32Array[],
    { rerank: order, relevance, rrf_k: rrfK }: RetrieveRequest,
  ): Promise<Pick<Retrieved, 'reranked' | 'relevance'>> => {
    const score = (vectors: readonly Float32Array[], labels: Uint32Array) =>
      spaces.use(model, ({ chunks }) => chunks.score(vectors, labels));
    try {
      const outsideModel = localDim(model) === null;
      const { floor } = model;
      const wants = { order, relevance };
      const judged = await judgeHits({ searchers, score }, { query, hits, rrfK, outsideModel, floor, wants });
      if (judged === null) return unjudged;
      const { labels } = judged;
      return {
        reranked:
          judged.scores === null ? null : { labels: labels.subarray(0, judged.scores.length), scores: judged.scores },
        relevance: judged.relevance === null ? null : { labels, scores: judged.relevance },
      };
    } catch (error) {
      log.error({ err: error }, 'the candidates could not be judged: the fused order is answered');
      return unjudged;
    }
  };

  /** The host that the query is: the filters that its pages pass, and their labels. Null where the query is no host, or none passes. */
  const findHost = (query: string, filters: PageFilters) => {
    const host = hostOfQuery(query);
    const within = host === null ? null : filtersWithin(filters, host.domain);
    if (host === null || within === null) return null;
    const allowed = catalog.allowed(within);
    if (allowed === null || allowed.count === 0) return null;
    return { words: host.words, filters: within, allow: allowed.labels };
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
    const host = findHost(asGiven, filters);
    const query = host?.words ?? asGiven;
    const filtered = monotonic();
    if (allowed?.count === 0) {
      const none = {
        sparse: nothing,
        dense: nothing,
        language: '',
        denseWeight: 1,
        ...unjudged,
        corrected: [],
        stems: [],
        known: false,
      };
      return { ...none, ...pagesOf([], null, []), timing_ms: {} };
    }
    const allow = allowed === null ? {} : { allow: allowed.labels };
    const embedding = embedOutside(model, query, signal);
    embedding.catch(() => {}); // waited for below, unless the searcher fails first
    const asking = searchers.find({
      query,
      dim: localDim(model),
      k,
      spelling: wasWhole,
      prefix: request.prefix,
      ...allow,
    });
    const analyzed = await asking.analyzed;
    const asked = monotonic();
    const timing_ms: Record<string, number> = { filter: filtered - began, analyze: asked - filtered };

    const searchDense = async () => {
      const outside = await embedding;
      const from = monotonic();
      if (outside !== null) timing_ms.embed = from - filtered;
      if (outside?.degraded === true) timing_ms.degraded_dense = 1;
      const embedded = { ...analyzed, ...outside };
      const [anywhere, within] = await Promise.all([
        searchVectors(model, embedded.vector, k, allow),
        host === null ? nothing : searchVectors(model, embedded.vector, k, { allow: host.allow }),
      ]);
      const near = united(anywhere, within);
      timing_ms.dense = monotonic() - from;
      return { near, embedded };
    };
    const searchSparse = async () => {
      const terms = analyzed.forms;
      const [anywhere, ofHost, quoted] = await Promise.all([
        asking.found,
        host === null ? nothing : searchers.search({ terms, k, allow: host.allow }),
        quoting === null ? nothing : searchers.search({ terms, k, allow: quoting }),
      ]);
      timing_ms.sparse = monotonic() - asked;
      return { ...united(united(anywhere, ofHost), quoted), known: anywhere.known };
    };
    const [sparse, { near, embedded }] = await Promise.all([searchSparse(), searchDense()]);
    const known = sparse.known > 0 || embedded.knownWords > 0;
    const dense = known ? near : nothing;

    const searched = monotonic();
    const judged = await judge(model, embedded, [sparse.labels, dense.labels], request);
    if (request.rerank || request.relevance)
      timing_ms[request.rerank ? 'rerank' : 'relevance'] = monotonic() - searched;
    // Asked before and after: what became whole while it was searched was not so for all of the search.
    if (!wasWhole || !isWhole(model)) timing_ms.rebuilding = 1;
    const { denseWeight } = embedded;
    return {
      sparse,
      dense,
      language: analyzed.language,
      denseWeight,
      ...judged,
      corrected: analyzed.corrected,
      stems: stemsOf(analyzed),
      known,
      timing_ms,
      ...pagesOf([sparse.labels, dense.labels], host, phrases),
    };
  };
}

function stemsOf({ forms }: Pick<AnalyzedQuery, 'forms'>): string[] {
  return [...new Set(forms.map(({ stem }) => stem))];
}

/** The filters narrowed to a host and those below it; null where they are about another. */
function filtersWithin(filters: PageFilters, host: string): PageFilters | null {
  if (filters.domain === null || domainMatches(host, filters.domain)) return { ...filters, domain: host };
  return domainMatches(filters.domain, host) ? filters : null;
}

/** The hits of two lists that are scored alike as one list, each label once. */
function united(some: RankedChunks, others: RankedChunks): RankedChunks {
  if (others.labels.length === 0) return some;
  const scores = new Map<number, number>();
  for (const hits of [some, others])
    for (const [at, label] of hits.labels.entries()) scores.set(label, hits.scores[at]);
  const hits = [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b);
  return { labels: Uint32Array.from(hits, ([label]) => label), scores: Float64Array.from(hits, ([, score]) => score) };
}
