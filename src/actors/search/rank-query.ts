/** Ranks pages: fuses or reranks hits, rolls up to pages, applies recency, and sorts by `precedence` and score. */
import { pagesOfTree } from '../../commands/entity-trees.ts';
import {
  foldPunctuation,
  quotedPhrases,
  titleOfQuery,
  titleSpellings,
  urlOfQuery,
} from '../../compute/ranking/exact-query.ts';
import { type FusedHit, fuseRrf } from '../../compute/ranking/fuse-rrf.ts';
import { fuseScores } from '../../compute/ranking/fuse-scores.ts';
import { passesFilters } from '../../compute/ranking/passes-filters.ts';
import { readOperators } from '../../compute/ranking/query-operators.ts';
import { type RankedPage, recencyFactor, rollUpPages } from '../../compute/ranking/roll-up-pages.ts';
import { addressesLike, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { normalizeDomain } from '../../compute/web/domain-match.ts';
import { DomainError } from '../../domain/errors.ts';
import { isOutside } from '../../domain/model.ts';
import { foldTitle } from '../../domain/normalize-text.ts';
import type { PageFilters } from '../../domain/page.ts';
import { pageFacts, type QueryClause } from '../../domain/query-clause.ts';
import {
  defaultMinRelevance,
  defaultRrfK,
  type ExactMatch,
  fewWordsMinRelevance,
  type IgnoredOperator,
  type SearchFilters,
  type SearchRequest,
} from '../../domain/search.ts';
import { instantOf, numberOf } from '../../domain/values.ts';
import type { StoreReader } from '../../store/store.ts';
import { requireEntity } from '../entities/find-entities.ts';
import { nextTurn } from '../system/background.ts';
import type { LibraryParts, ListedPage, Retrieved, RetrieveRequest, SearchWords } from '../system/service.ts';
import { phraseFinder } from './find-phrases.ts';
import type { OutsideReranker } from './outside-reranker.ts';
import { unlessReplaced } from './retrieve-candidates.ts';

export interface RankDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'canonicalize' | 'now' | 'monotonic'> {
  /** Whether searches with a reranker use score fusion. */
  localReranker: boolean;
  /** Reorders the first candidates of such searches; null: none. */
  outsideReranker: OutsideReranker | null;
  /** Called when a search got its reranked order only in part or not at all. */
  onRerankDegraded: () => void;
  /** Default half-life of recency; null: recency does not count. */
  recencyHalfLifeDays: number | null;
}

export type RankRequest = Omit<
  SearchRequest,
  'sort' | 'facets' | 'log' | 'k' | 'offset' | 'chunks_per_page' | 'suggest' | 'mediation' | 'min_relevance'
>;

export interface RankOptions {
  /** A ready model; null: the active one. */
  model?: string | null;
  /** Ignore the configured reranker. */
  isLocal?: boolean;
  byWords?: boolean;
  /** Compute relevance and drop pages below `least`; undefined: the model's default. */
  relevance?: { least: number | undefined } | null;
  /** Overrides the request's query and filters. */
  asked?: Asked;
  signal?: AbortSignal | undefined;
}

export interface Asked extends SearchWords {
  /** The query's words outside of operators. */
  plain: string;
  ignored: readonly IgnoredOperator[];
}

export interface OrderedPage extends RankedPage {
  /** How the query names the page, if it does. */
  exact: ExactMatch | null;
  /** Relevance of its best passage; 1 for a named page, null if unknown. */
  relevance: number | null;
  duplicates?: ListedPage['duplicates'];
}

export interface Ranking {
  /** Model of the dense search. */
  model: string;
  /** Model that set the order; null for fused scores. */
  reranker: string | null;
  retrieved: Retrieved;
  /** Candidates before reranking, best first. */
  fused: FusedHit[];
  /** 0 to 1; null if unknown. */
  relevanceOf: (label: number) => number | null;
  scored: ReadonlySet<number>;
  quoting: ReadonlySet<number>;
  /** Best first. */
  pages: OrderedPage[];
  /** Operators that were searched as plain text. */
  ignored: readonly IgnoredOperator[];
  timing_ms: Record<string, number>;
}

interface NamedPage {
  exact: ExactMatch;
  /** ms. */
  last_seen_at: number;
}

/** Name of score fusion in the query log. */
const LOCAL_RERANKER = 'local';
/** Shorter queries are rarely questions, so pages that match by vectors alone are not wanted. */
const fewWords = 3;
const noLabels: ReadonlySet<number> = new Set();
/** A title shared by more pages names none of them. */
const maxExactPages = 100;
/** A phrase contained in more pages distinguishes none of them. */
const maxVerbatimPages = 5;

/** Errors: DomainError `no_active_model`; `not_found` for an unknown entity; `invalid` for an invalid filter. */
export function queryRanker(dependencies: RankDependencies) {
  const findPhrases = phraseFinder(dependencies.reader);
  const { ask, reader, canonicalize, localReranker, outsideReranker, recencyHalfLifeDays, now, monotonic } =
    dependencies;

  /** The page with the query's URL, or otherwise pages with equivalent addresses. */
  const addressedPages = (query: string): number[] => {
    const url = urlOfQuery(query);
    const canonical = url === null ? null : canonicalizeUrl(url, canonicalize);
    if (canonical === null || 'invalid' in canonical) return [];
    const { canonical_url } = canonical;
    const written = reader.pages.numberByUrl(canonical_url);
    if (written !== undefined) return [written];
    return addressesLike(canonical_url).flatMap((address) => reader.pages.numberByUrl(address) ?? []);
  };

  const namedPages = (query: string, filters: PageFilters): Map<number, NamedPage> => {
    const title = titleOfQuery(query);
    // Otherwise an empty title would match a blank query.
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
        !passesFilters(page, () => reader.pages.byline(page), filters)
      )
        continue;
      named.set(no, { exact, last_seen_at: page.last_seen_at });
    }
    return named;
  };

  /** Adds candidates whose title differs from the query only in punctuation. */
  const withTitled = (named: ReadonlyMap<number, NamedPage>, query: string, { titled, pageOf }: Retrieved) => {
    const found = new Map(named);
    for (const label of titled) {
      const page = reader.pages.head(pageOf.get(label) ?? 0);
      if (page === undefined || found.has(page.no) || foldPunctuation(page.title ?? '') !== foldPunctuation(query))
        continue;
      found.set(page.no, { exact: 'title', last_seen_at: page.last_seen_at });
    }
    return found;
  };

  /** The model's default. 0 for outside models, whose cosines are not calibrated. */
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
    // After many half-lives scores are nearly equal, down to 0. Of such pages, the last seen come first.
    const newest = (a: OrderedPage, b: OrderedPage): number =>
      halfLife === null ? 0 : lastSeenAt(b.page_no) - lastSeenAt(a.page_no);
    return pages.sort(
      (a, b) => precedence(b.exact) - precedence(a.exact) || b.score - a.score || newest(a, b) || a.page_no - b.page_no,
    );
  };

  const retrieve = (
    request: Omit<RetrieveRequest, 'model'>,
    model: string | null,
    signal: AbortSignal | undefined,
  ): Promise<{ used: string; retrieved: Retrieved }> =>
    unlessReplaced(reader, async () => {
      const used = model ?? reader.models.activeId();
      if (used === null) throw new DomainError('no_active_model', 'no active embedding model');
      return { used, retrieved: await ask('index.retrieve', { ...request, model: used }, { signal }) };
    });

  const rank = async (request: RankRequest, options: RankOptions): Promise<Ranking> => {
    const { model = null, isLocal = false, byWords = false, relevance = null, signal } = options;
    signal?.throwIfAborted();
    const { plain: _, ignored, ...words } = options.asked ?? askedBy(request, reader, now());
    const { query, prefix, phrases, filters, clauses } = words;
    const wanted = request.rerank && query !== '';
    const isNaming = clauses.must.length + clauses.mustNot.length === 0;
    const [{ used, retrieved }, namedByIndex] = await Promise.all([
      retrieve(
        {
          ...words,
          candidates: request.candidates,
          // Unfinished queries, addresses and exclusions use words only.
          byWords: byWords || prefix || urlOfQuery(query) !== null || clauses.mustNot.length > 0,
          relevance: relevance !== null,
          sketches: request.collapse && relevance !== null,
        },
        model,
        signal,
      ),
      // With operators no page is named, as it would have to match them.
      isNaming ? onNextTurn(() => namedPages(query, filters), signal) : none,
    ]);
    signal?.throwIfAborted();
    const named = isNaming ? withTitled(namedByIndex, query, retrieved) : none;
    const began = monotonic();
    const fused = fuseRrf([retrieved.sparse.labels, retrieved.dense.labels], request.rrf_k ?? defaultRrfK);
    // Rank fusion is used if the request sets its constant, or a rollup that sums reciprocal ranks.
    const isByRanks = request.rrf_k !== undefined || request.rollup === 'sum_rrf';
    const isByScores = wanted && !isByRanks && (localReranker || isLocal) && fused.length > 0;
    const floor = reader.models.get(used)?.floor ?? null;
    const local = isByScores
      ? { hits: fuseScores(retrieved, floor), scored: new Set(fused.map(({ label }) => label)) }
      : null;
    const fusedAt = monotonic();
    const outside = wanted && !isLocal && fused.length > 0 ? outsideReranker : null;
    const reordered = outside && (await outside.rerank(query, local?.hits ?? fused, retrieved.pageOf, signal));
    const reranked = reordered ?? local;
    const rerankedAt = monotonic();
    const relevanceOf = relevanceIn(retrieved);
    const looked = monotonic();
    const verbatim = new Set(retrieved.verbatim.flatMap((label) => retrieved.pageOf.get(label) ?? []));
    const quoted = await findPhrases(phrases, retrieved.quoting, signal);
    const quoting = verbatim.size > maxVerbatimPages ? quoted : new Set([...quoted, ...verbatim]);
    signal?.throwIfAborted();
    const found = monotonic();
    const all = order(request, retrieved, reranked?.hits ?? fused, { named, quoting }, relevanceOf);
    const isRequired = clauses.must.some((each) => each.in === 'phrase');
    const ordered = isRequired ? all.filter(({ page_no }) => quoted.has(page_no)) : all;
    const isDefault = relevance?.least === undefined;
    const least = relevance === null ? 0 : (relevance.least ?? defaultThreshold(used));
    const ofWords = new Set(retrieved.sparse.labels);
    const isByWords = ({ hits }: OrderedPage) => hits.length === 0 || hits.some(({ label }) => ofWords.has(label));
    const leastNear = least > 0 && isDefault && retrieved.askedWords < fewWords ? fewWordsMinRelevance : least;
    const pages = ordered.filter((page) => (page.relevance ?? 1) >= (isByWords(page) ? least : leastNear));
    const scored = reranked?.scored ?? noLabels;
    const timing_ms: Record<string, number> = {
      ...retrieved.timing_ms,
      fuse: fusedAt - began + monotonic() - found + looked - rerankedAt,
      ...(outside === null ? {} : { rerank: rerankedAt - fusedAt }),
      ...(phrases.length === 0 ? {} : { phrases: found - looked }),
    };
    if (outside !== null && (reordered === null || reordered.isPartial)) {
      timing_ms.degraded_rerank = 1;
      dependencies.onRerankDegraded();
    }
    const reranker = reordered !== null ? (outside?.name ?? null) : local === null ? null : LOCAL_RERANKER;
    return { model: used, reranker, retrieved, fused, relevanceOf, scored, quoting, pages, ignored, timing_ms };
  };

  return async (request: RankRequest, options: RankOptions = {}): Promise<Ranking> => {
    const ranking = await rank(request, options);
    const finished =
      ranking.pages.length > 0 || options.asked !== undefined ? null : withoutUnfinishedOperator(request);
    const wider = finished && (await rank(finished, options));
    return wider !== null && wider.pages.length > 0 ? wider : ranking;
  };
}

/** The request without a possibly unfinished operator at its end; null if there is none. */
function withoutUnfinishedOperator(request: RankRequest): RankRequest | null {
  const { query, operators, prefix } = request;
  const last = operators && prefix ? readOperators(query).written.at(-1) : undefined;
  if (last === undefined || !query.endsWith(last) || /["“”«»„]$/.test(last)) return null;
  const rest = query.slice(0, -last.length);
  return rest.trim() === '' ? null : { ...request, query: rest };
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

/** Pages named by the query first, then pages of a named host, then pages with quoted phrases. */
function precedence(exact: ExactMatch | null): number {
  if (exact === null) return 0;
  return exact === 'phrase' ? 1 : exact === 'host' ? 2 : 3;
}

export type RankQuery = ReturnType<typeof queryRanker>;

/** Max phrases. Further ones are searched as words. */
const maxPhrases = 16;
const none: ReadonlyMap<number, NamedPage> = new Map();

export function askedBy(
  request: Pick<RankRequest, 'query' | 'operators' | 'tz' | 'prefix' | 'spelling' | 'filters'>,
  reader: StoreReader,
  now: number,
): Asked {
  const { query: typed, operators, tz = 'UTC', prefix, spelling: isCorrected, filters: body } = request;
  const filters = pageFiltersOf(body, reader);
  const language: QueryClause[] = body?.lang == null ? [] : [{ in: 'language', text: body.lang }];
  // Addresses are not corrected.
  const spelling = (query: string) => isCorrected && urlOfQuery(query) === null;
  if (!operators) {
    const phrases = quotedPhrases(typed).slice(0, maxPhrases);
    const clauses = { must: language, mustNot: [] };
    return { query: typed, plain: typed, prefix, spelling: spelling(typed), phrases, filters, clauses, ignored: [] };
  }
  const { text, plain, phrases, must, mustNot, after, before, ignored } = readOperators(typed, { now, zone: tz });
  return {
    query: text,
    plain,
    // The query may end with an operator or a space.
    prefix: prefix && typed.endsWith(text.slice(text.lastIndexOf(' ') + 1)),
    spelling: spelling(text),
    phrases: phrases.slice(0, maxPhrases),
    filters: { ...filters, after: latest(filters.after, after), before: earliest(filters.before, before) },
    clauses: { must: [...must, ...language], mustNot },
    ignored,
  };
}

/** The later of two times; null means none. */
export const latest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b));
export const earliest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b));

/** Errors: DomainError `invalid` for an invalid domain; `not_found` for an unknown entity. */
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
  const facts = Object.fromEntries(
    pageFacts.flatMap((fact) => (filters?.[fact] == null ? [] : [[fact, foldTitle(filters[fact])]])),
  );
  return { domain, after: time(filters?.after), before: time(filters?.before), ...published, ...facts, pages };
}

function inBoth(pages: ReadonlySet<number>, others: ReadonlySet<number> | null): ReadonlySet<number> {
  return others === null ? pages : new Set([...pages].filter((no) => others.has(no)));
}

/** Runs work in the next turn, so that messages posted by `ask` leave first. Errors: the signal's reason. */
export async function onNextTurn<Result>(work: () => Result, signal?: AbortSignal): Promise<Result> {
  await nextTurn(signal);
  return work();
}
