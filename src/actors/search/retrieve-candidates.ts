/** Turns filters, operators and phrases into sets of labels. If the query is a known host, also searches in it. */
import { hostOfQuery } from '../../compute/ranking/exact-query.ts';
import { type Bitmap, bitsInBoth, hasBit } from '../../compute/structures/bitmap.ts';
import { TopK } from '../../compute/structures/top-k.ts';
import { unlessAborted } from '../../compute/unless-aborted.ts';
import { domainMatches } from '../../compute/web/domain-match.ts';
import { DomainError } from '../../domain/errors.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import type { PageFilters } from '../../domain/page.ts';
import { beginningsIn } from '../../domain/query-clause.ts';
import { slotFor } from '../../engine/query-slot.ts';
import { noCandidates, type RankedChunks, type VectorQuery } from '../../engine/retrieve.ts';
import type { Searchers } from '../../engine/searchers.ts';
import type { StoreReader } from '../../store/store.ts';
import type { AllowedLabels, Catalog } from '../indexes/catalog.ts';
import type { ModelSpaces } from '../indexes/model-spaces.ts';
import type { CandidatePages, Retrieved, RetrieveRequest } from '../system/service.ts';
import { matchClauses, quotingPages } from './pages-of-clauses.ts';
import type { AskQueryVector } from './query-vector.ts';

export interface RetrievalDependencies {
  catalog: Catalog;
  spaces: ModelSpaces;
  searchers: Searchers;
  askQueryVector: AskQueryVector;
  /** Whether all indexed content is searchable with this model. */
  isWhole: (model: EmbeddingModel) => boolean;
  monotonic: () => number;
}

/** Errors: DomainError, QueueFullError, those of the threads. */
export type RetrieveCandidates = (
  request: RetrieveRequest,
  model: EmbeddingModel,
  signal: AbortSignal | undefined,
) => Promise<Retrieved>;

export function retrieveCandidates(dependencies: RetrievalDependencies): RetrieveCandidates {
  const { catalog, searchers, isWhole, monotonic } = dependencies;

  /** `host`: filters for the query's host; `phrases`: labels of each. */
  const pagesOf = (
    sides: readonly Uint32Array[],
    host: { filters: PageFilters } | null,
    phrases: readonly Uint32Array[],
  ): CandidatePages => {
    const pageOf = new Map<number, number>();
    const lastSeenAt = new Map<number, number>();
    const ofHost = new Set<number>();
    const passing = host === null ? null : catalog.pagesPassing(host.filters);
    for (const labels of sides) {
      for (const label of labels) {
        const no = catalog.pageOf(label);
        if (no === 0) continue;
        pageOf.set(label, no);
        if (lastSeenAt.has(no)) continue;
        lastSeenAt.set(no, catalog.lastSeenAt(no));
        if (passing !== null && hasBit(passing, no)) ofHost.add(no);
      }
    }
    return { pageOf, lastSeenAt, ofHost, quoting: quotingPages(catalog, phrases, pageOf.values()) };
  };

  return async (request, model, signal) => {
    const { query: asGiven, candidates: k, filters } = request;
    const began = monotonic();
    const wasWhole = isWhole(model);
    const within = catalog.allowed(filters);
    const { allowed, quoting, phrases } = await matchClauses({ catalog, searchers }, request, within, signal);
    const host = findHost(catalog, asGiven, filters, allowed);
    const query = host?.words ?? asGiven;
    const timing_ms: Record<string, number> = { filter: monotonic() - began };
    const isAsked = query !== '' || allowed !== null;
    if (!isAsked || allowed?.count === 0) return { ...noCandidates, ...pagesOf([], null, []) };
    if (query === '' && allowed !== null) {
      const sparse = newest(catalog, allowed.labels, k);
      const sketches = request.sketches ? await searchers.sketch([...sparse.labels], signal) : noCandidates.sketches;
      return { ...noCandidates, sparse, sketches, timing_ms, ...pagesOf([sparse.labels], null, phrases) };
    }
    const ofHost = host === null ? [] : [host.allow];
    const words = {
      query,
      prefix: request.prefix,
      spelling: request.spelling && wasWhole,
      beginnings: beginningsIn(request.clauses.must),
      k,
      allow: allowed?.labels,
      alsoAmong: quoting === null ? ofHost : [...ofHost, quoting],
      relevance: request.relevance,
      sketches: request.sketches,
    };
    const asked = monotonic();
    const arrived = (degraded: boolean) => {
      timing_ms.embed = monotonic() - asked;
      if (degraded) timing_ms.degraded_dense = 1;
    };
    const find = (vectors: VectorQuery | null) =>
      searchers.find({ ...words, vectors: vectors && { ...vectors, alsoAmong: ofHost } }, signal);
    const found = await (request.byWords ? find(null) : withVector(dependencies, model, query, find, signal, arrived));
    // Checked before and after the search, as the index may become complete meanwhile.
    if (!wasWhole || !isWhole(model)) timing_ms.rebuilding = 1;
    const pages = pagesOf([found.sparse.labels, found.dense.labels], host, phrases);
    return { ...found, ...pages, timing_ms: { ...timing_ms, ...found.timing_ms } };
  };
}

/** Repeats the work with the new model if the active one is replaced and deleted meanwhile. */
export async function unlessReplaced<Found>({ models }: StoreReader, work: () => Promise<Found>): Promise<Found> {
  for (;;) {
    const active = models.activeId();
    try {
      return await work();
    } catch (error) {
      const wasReplaced = models.activeId() !== active;
      if (!(wasReplaced && error instanceof DomainError && error.code === 'invalid')) throw error;
    }
  }
}

/** Runs work with the vector of a query, which may arrive later. If the vector fails, so does the work. */
export function withVector<Found>(
  { spaces, askQueryVector }: Pick<RetrievalDependencies, 'spaces' | 'askQueryVector'>,
  model: EmbeddingModel,
  query: string,
  work: (vectors: VectorQuery) => Promise<Found>,
  signal: AbortSignal | undefined,
  arrived: (degraded: boolean) => void = () => {},
): Promise<Found> {
  return spaces.use(model, async ({ chunks }, dropped) => {
    const embedding = unlessAborted(askQueryVector(model, query, signal), dropped).then(({ vector, degraded }) => {
      arrived(degraded);
      if (vector !== null) chunks.checkQuery(vector);
      return vector;
    });
    const vectors = { rows: chunks.rows, vector: slotFor(embedding, model.dim), floor: model.floor };
    return (await Promise.all([work(vectors), embedding]))[0];
  });
}

/** One passage per page, latest seen first. */
function newest(catalog: Catalog, allowed: Bitmap, k: number): RankedChunks {
  const latest = new TopK(new Float64Array(k));
  // Higher numbers were mostly seen later, so few offers are refused.
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

/** Filters and allowed labels for the query's host; null if the query is no host or has no pages. */
export function findHost(catalog: Catalog, query: string, filters: PageFilters, allowed: AllowedLabels | null) {
  const host = hostOfQuery(query);
  const within = host === null ? null : filtersWithin(filters, host.domain);
  if (host === null || within === null) return null;
  const ofHost = catalog.allowed(within)?.labels;
  if (ofHost === undefined) return null;
  const allow = allowed === null ? ofHost : bitsInBoth(ofHost, allowed.labels);
  return allow.some((word) => word !== 0) ? { words: host.words, filters: within, allow } : null;
}

/** Null if the filters exclude the host. */
function filtersWithin(filters: PageFilters, host: string): PageFilters | null {
  if (filters.domain === null || domainMatches(host, filters.domain)) return { ...filters, domain: host };
  return domainMatches(filters.domain, host) ? filters : null;
}
