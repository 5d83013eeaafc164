/**
 * Ranks pages for a query: the index gives both sides' hits, which are fused, or ordered by the
 * reranker where one is wanted and has scored them, then rolled up to pages, faded with age and ordered
 * (exact title or URL first, then pages of the host that the query is, then score). What a search, a comparison and a
 * replay have in common; it presents nothing.
 */
import { pagesOfTree } from '../../commands/entity-trees.ts';
import { quotedPhrases, titleOfQuery, titleSpellings, urlOfQuery } from '../../compute/ranking/exact-query.ts';
import { type FusedHit, fuseRrf } from '../../compute/ranking/fuse-rrf.ts';
import { fuseScores } from '../../compute/ranking/fuse-scores.ts';
import { passesFilters } from '../../compute/ranking/passes-filters.ts';
import { readOperators } from '../../compute/ranking/query-operators.ts';
import { recencyFactor } from '../../compute/ranking/recency.ts';
import { type RankedPage, rollUpPages } from '../../compute/ranking/roll-up-pages.ts';
import { addressesLike, type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { normalizeDomain } from '../../compute/web/domain-match.ts';
import { DomainError } from '../../domain/errors.ts';
import { instantOf, numberOf } from '../../domain/ids.ts';
import { type EmbeddingModel, isOutside } from '../../domain/model.ts';
import { foldTitle } from '../../domain/normalize-text.ts';
import type { PageFilters } from '../../domain/page-filters.ts';
import type { QueryClause } from '../../domain/query-clause.ts';
import {
  defaultMinRelevance,
  defaultRrfK,
  type ExactMatch,
  type SearchFilters,
  type SearchRequest,
} from '../../domain/search.ts';
import { rerankedOrder } from '../../engine/retrieve.ts';
import type { StoreReader } from '../../store/store.ts';
import { requireEntity } from '../entities/resolve-entity.ts';
import type { Retrieved, RetrieveRequest, SystemAsk } from '../system/system-messages.ts';
import { phraseFinder } from './find-phrases.ts';
import { onceAsked } from './once-asked.ts';
import type { OutsideReranker } from './outside-reranker.ts';

export interface RankDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  canonicalize: CanonicalizeSettings;
  /** Whether the local reranker orders the candidates where a request wants one. */
  localReranker: boolean;
  /** Orders the first of them then; null for none. */
  outsideReranker: OutsideReranker | null;
  /** Told of each search that wanted a reranker's order and did not get it, or a part of it only. */
  onRerankDegraded: () => void;
  /** Half-life where a request names none; null: nothing fades. */
  recencyHalfLifeDays: number | null;
  /** Wall clock, ms. */
  now: () => number;
  /** Monotonic, ms. */
  monotonic: () => number;
}

export type RankRequest = Pick<
  SearchRequest,
  | 'query'
  | 'operators'
  | 'prefix'
  | 'candidates'
  | 'rerank'
  | 'rollup'
  | 'rollup_m'
  | 'rrf_k'
  | 'recency_half_life_days'
  | 'filters'
>;

export interface RankOptions {
  /** An embedding model that is ready; null: the active one. */
  model?: string | null;
  /** By the local reranker alone, whatever else there is. */
  isLocal?: boolean;
  /** Compute relevance and leave out pages below `least`; undefined: the model's default. */
  relevance?: { least: number | undefined } | null;
  signal?: AbortSignal | undefined;
}

export interface OrderedPage extends RankedPage {
  /** Which of the page the query is, if any. */
  exact: ExactMatch | null;
  /** Of its most relevant passage; 1 where the query is the page's own, null where it is not known. */
  relevance: number | null;
}

export interface Ranking {
  /** The model whose vectors the dense side used. */
  model: string;
  /** The model that gave the final order, or null where the fused scores did. */
  reranker: string | null;
  retrieved: Retrieved;
  /** Every candidate chunk in the order before any reranking, best first. */
  fused: FusedHit[];
  /** Of candidates, 0 to 1; null where it is not known. */
  relevanceOf: (label: number) => number | null;
  /** Labels that a reranker scored. */
  scored: ReadonlySet<number>;
  /** Pages that have every phrase that the query quotes. */
  quoting: ReadonlySet<number>;
  /** Best first. */
  pages: OrderedPage[];
  timing_ms: Record<string, number>;
}

/** A page that the query names. */
interface NamedPage {
  exact: ExactMatch;
  /** ms. */
  last_seen_at: number;
}

/** How the query log calls the local reranker. */
const LOCAL_RERANKER = 'local';
const noLabels: ReadonlySet<number> = new Set();
/** Pages of one title that can be put first; more have a title that names nothing. */
const maxExactPages = 100;

/**
 * Make the ranking function.
 * Errors: DomainError `no_active_model`; `not_found` for an entity filter that names none; `invalid` for a filter that cannot be.
 */
export function queryRanker(dependencies: RankDependencies) {
  const findPhrases = phraseFinder(dependencies.reader);
  const { ask, reader, canonicalize, localReranker, outsideReranker, recencyHalfLifeDays, now, monotonic } =
    dependencies;

  /** The page whose URL the query is; where there is none, those whose addresses people take for the same. */
  const addressedPages = (query: string): number[] => {
    const url = urlOfQuery(query);
    const canonical = url === null ? null : canonicalizeUrl(url, canonicalize);
    if (canonical === null || 'invalid' in canonical) return [];
    const { canonical_url } = canonical;
    const written = reader.pages.numberByUrl(canonical_url);
    if (written !== undefined) return [written];
    return addressesLike(canonical_url).flatMap((address) => reader.pages.numberByUrl(address) ?? []);
  };

  /** Pages that pass the filters and whose title or URL the query is. */
  const namedPages = (query: string, filters: PageFilters): Map<number, NamedPage> => {
    const title = titleOfQuery(query);
    // An empty title names nothing, or a query of white space would be the title of each page that has one.
    const spellings = foldTitle(title) === '' ? [] : titleSpellings(title);
    const titled = spellings.flatMap((spelling) => reader.pages.numbersByTitle(spelling, maxExactPages));
    const found = new Map(titled.slice(0, maxExactPages).map((no): [number, ExactMatch] => [no, 'title']));
    for (const no of addressedPages(query)) found.set(no, 'url');
    const named = new Map<number, NamedPage>();
    for (const [no, exact] of found) {
      const page = reader.pages.head(no);
      if (
        page === undefined ||
        page.chunk_count === 0 ||
        !passesFilters(page, () => reader.pages.byline(page).published_at, filters)
      )
        continue;
      named.set(no, { exact, last_seen_at: page.last_seen_at });
    }
    return named;
  };

  /** The model's default; 0 for outside models, whose cosines are not calibrated. */
  const defaultThreshold = (model: string): number => {
    const found = reader.models.get(model);
    return found === undefined || isOutside(found) ? 0 : defaultMinRelevance;
  };

  const order = (
    request: RankRequest,
    retrieved: Retrieved,
    hits: FusedHit[],
    { named, quoting }: { named: ReadonlyMap<number, NamedPage>; quoting: ReadonlySet<number> },
    relevanceOf: Ranking['relevanceOf'],
  ): OrderedPage[] => {
    const { pageOf, ofHost } = retrieved;
    const lastSeenAt = (no: number) => retrieved.lastSeenAt.get(no) ?? named.get(no)?.last_seen_at ?? 0;
    const ranked = rollUpPages(hits, (label) => pageOf.get(label) ?? 0, request);
    const halfLife = request.recency_half_life_days ?? recencyHalfLifeDays;
    if (halfLife !== null) {
      const at = now();
      for (const page of ranked) page.score *= recencyFactor(lastSeenAt(page.page_no), at, halfLife);
    }
    const pages = ranked.map(({ page_no, score, hits }): OrderedPage => {
      const other = ofHost.has(page_no) ? 'host' : quoting.has(page_no) ? 'phrase' : null;
      const exact = named.get(page_no)?.exact ?? other;
      return { page_no, score, hits, exact, relevance: exact === null ? highest(hits, relevanceOf) : 1 };
    });
    const pooled = new Set(ranked.map(({ page_no }) => page_no));
    for (const [page_no, { exact }] of named) {
      if (!pooled.has(page_no)) pages.push({ page_no, score: 0, hits: [], exact, relevance: 1 });
    }
    // Scores of pages many half-lives old are too small to tell apart, down to 0: of such pages the latest seen are first.
    const newest = (a: OrderedPage, b: OrderedPage): number =>
      halfLife === null ? 0 : lastSeenAt(b.page_no) - lastSeenAt(a.page_no);
    return pages.sort(
      (a, b) => precedence(b.exact) - precedence(a.exact) || b.score - a.score || newest(a, b) || a.page_no - b.page_no,
    );
  };

  /** By the named model, or the active one. The latter may be replaced and deleted while it is asked: then the new one is asked. */
  const retrieve = async (
    request: Omit<RetrieveRequest, 'model'>,
    model: string | null,
    signal: AbortSignal | undefined,
  ): Promise<{ used: string; retrieved: Retrieved }> => {
    for (;;) {
      const used = model ?? reader.models.activeId();
      if (used === null) throw new DomainError('no_active_model', 'no active embedding model');
      try {
        return { used, retrieved: await ask('index.retrieve', { ...request, model: used }, { signal }) };
      } catch (error) {
        const wasReplaced = model === null && reader.models.activeId() !== used;
        if (!(wasReplaced && error instanceof DomainError && error.code === 'invalid')) throw error;
      }
    }
  };

  return async (
    request: RankRequest,
    { model = null, isLocal = false, relevance = null, signal }: RankOptions = {},
  ): Promise<Ranking> => {
    const { candidates, prefix, rrf_k = defaultRrfK } = request;
    const { query, phrases, filters, clauses } = askedBy(request, reader);
    const wanted = request.rerank && query !== '';
    const rerank = wanted && (localReranker || isLocal);
    const [{ used, retrieved }, named] = await Promise.all([
      retrieve(
        { query, phrases, clauses, prefix, candidates, filters, rerank, relevance: relevance !== null, rrf_k },
        model,
        signal,
      ),
      // A page that the query names would have to pass its operators, too: with operators no page is named.
      clauses.must.length + clauses.mustNot.length > 0 ? none : onceAsked(() => namedPages(query, filters)),
    ]);
    const began = monotonic();
    const nothing = !retrieved.known;
    const fused = nothing ? [] : fuse(request, retrieved, reader.models.get(used));
    const fusedAt = monotonic();
    const outside = wanted && !isLocal && fused.length > 0 ? outsideReranker : null;
    const { reranked: judged } = retrieved;
    const local =
      nothing || judged === null ? null : { hits: rerankedOrder(judged, fused), scored: new Set(judged.labels) };
    const reordered = outside && (await outside.rerank(query, local?.hits ?? fused, retrieved.pageOf, signal));
    const reranked = reordered ?? local;
    const rerankedAt = monotonic();
    const relevanceOf = relevanceIn(retrieved);
    const looked = monotonic();
    const quoting = await findPhrases(phrases, retrieved.quoting, signal);
    const found = monotonic();
    const all = order(request, retrieved, reranked?.hits ?? fused, { named, quoting }, relevanceOf);
    const isRequired = clauses.must.some((each) => each.in === 'phrase');
    const ordered = isRequired ? all.filter(({ page_no }) => quoting.has(page_no)) : all;
    const least = relevance === null ? 0 : (relevance.least ?? defaultThreshold(used));
    const pages = ordered.filter((page) => (page.relevance ?? 1) >= least);
    const scored = reranked?.scored ?? noLabels;
    const timing_ms: Record<string, number> = {
      ...retrieved.timing_ms,
      fuse: fusedAt - began + monotonic() - found + looked - rerankedAt,
      ...(outside === null ? {} : { rerank: (retrieved.timing_ms.rerank ?? 0) + rerankedAt - fusedAt }),
      ...(phrases.length === 0 ? {} : { phrases: found - looked }),
    };
    const isDegraded = outside === null ? rerank && local === null : reordered === null || reordered.isPartial;
    if (isDegraded && fused.length > 0) {
      timing_ms.degraded_rerank = 1;
      dependencies.onRerankDegraded();
    }
    const reranker = reordered !== null ? (outside?.name ?? null) : local === null ? null : LOCAL_RERANKER;
    return { model: used, reranker, retrieved, fused, relevanceOf, scored, quoting, pages, timing_ms };
  };
}

/** By what each side is worth; by ranks where the request names `rrf_k`, or a rollup that sums reciprocal ranks. */
export function fuse(
  { rrf_k, rollup }: Pick<RankRequest, 'rrf_k' | 'rollup'>,
  retrieved: Pick<Retrieved, 'sparse' | 'dense' | 'denseWeight' | 'language'>,
  model: EmbeddingModel | undefined,
): FusedHit[] {
  const { sparse, dense, denseWeight, language } = retrieved;
  if (rrf_k !== undefined || rollup === 'sum_rrf')
    return fuseRrf([sparse.labels, dense.labels], rrf_k ?? defaultRrfK, [1, denseWeight]);
  const weight = model?.fusion?.weights[language] ?? 0;
  return fuseScores(sparse, dense, { weight, floor: model?.floor ?? null });
}

function relevanceIn({ relevance }: Retrieved): Ranking['relevanceOf'] {
  if (relevance === null) return () => null;
  const { labels, scores } = relevance;
  const known = new Map(Array.from(labels, (label, at) => [label, scores[at]]));
  return (label) => known.get(label) ?? null;
}

function highest(hits: readonly FusedHit[], relevanceOf: Ranking['relevanceOf']): number | null {
  return hits.reduce((most: number | null, { label }) => {
    const relevance = relevanceOf(label);
    return relevance === null || (most !== null && most >= relevance) ? most : relevance;
  }, null);
}

/** What a query names goes before what is found by its words: pages themselves, then pages of a host, then those that it quotes. */
function precedence(exact: ExactMatch | null): number {
  if (exact === null) return 0;
  return exact === 'phrase' ? 1 : exact === 'host' ? 2 : 3;
}

export type RankQuery = ReturnType<typeof queryRanker>;

/** Phrases of a query that are looked for; the others of a query with more are words. */
const maxPhrases = 16;
const none: ReadonlyMap<number, NamedPage> = new Map();

/** What a request asks for beside its words. Errors: as of `pageFiltersOf`. */
function askedBy({ query: typed, operators, filters: body }: RankRequest, reader: StoreReader) {
  const filters = pageFiltersOf(body, reader);
  const language: QueryClause[] = body?.lang == null ? [] : [{ in: 'language', text: body.lang }];
  if (!operators) {
    const phrases = quotedPhrases(typed).slice(0, maxPhrases);
    return { query: typed, phrases, filters, clauses: { must: language, mustNot: [] } };
  }
  const { text, phrases, must, mustNot, after, before } = readOperators(typed);
  return {
    query: text,
    phrases: phrases.slice(0, maxPhrases),
    filters: { ...filters, after: latest(filters.after, after), before: earliest(filters.before, before) },
    clauses: { must: [...must, ...language], mustNot },
  };
}

const latest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b));
const earliest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b));

/** Errors: DomainError `invalid` for a domain that can be none; `not_found` for an entity that nothing is known of. */
export function pageFiltersOf(
  filters: SearchFilters | null | undefined,
  { entities, clusters }: StoreReader,
): PageFilters {
  const time = (text: string | null | undefined) => (text == null ? null : instantOf(text));
  const domain = filters?.domain == null ? null : normalizeDomain(filters.domain);
  if (domain !== null && typeof domain !== 'string')
    throw new DomainError('invalid', `filters.domain: ${domain.invalid}`);
  const entity = filters?.entity == null ? null : requireEntity(entities, filters.entity);
  const mentioning = entity === null ? null : new Set(pagesOfTree(entities, entity));
  // An unknown cluster has no pages.
  const cluster = filters?.cluster_id == null ? null : (numberOf('cluster', filters.cluster_id) ?? 0);
  const clustered = cluster === null ? null : new Set(cluster === 0 ? [] : clusters.pagesOf(cluster));
  const pages = clustered === null ? mentioning : inBoth(clustered, mentioning);
  const published = {
    published_after: time(filters?.published_after),
    published_before: time(filters?.published_before),
  };
  return { domain, after: time(filters?.after), before: time(filters?.before), ...published, pages };
}

function inBoth(pages: ReadonlySet<number>, others: ReadonlySet<number> | null): ReadonlySet<number> {
  return others === null ? pages : new Set([...pages].filter((no) => others.has(no)));
}
