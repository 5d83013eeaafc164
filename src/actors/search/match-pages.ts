/** Finds all pages that match a query, not only candidates: for orders other than relevance, and counts of values. */

import pLimit from 'p-limit';
import { canonicalForm, rootOf } from '../../commands/entity-trees.ts';
import { collapseDuplicates, type TextSketch } from '../../compute/ranking/duplicate-pages.ts';
import { urlOfQuery } from '../../compute/ranking/exact-query.ts';
import { startOfDay } from '../../compute/ranking/query-times.ts';
import { addBit, type Bitmap, bitmapOf, createBitmap } from '../../compute/structures/bitmap.ts';
import { TopK } from '../../compute/structures/top-k.ts';
import { visitTimes } from '../../compute/structures/visit-times.ts';
import { isOutside } from '../../domain/model.ts';
import { beginningsIn } from '../../domain/query-clause.ts';
import { type FacetName, maxCandidates, type SearchFacets } from '../../domain/search.ts';
import { idOf } from '../../domain/values.ts';
import type { VectorQuery } from '../../engine/retrieve.ts';
import type { StoreReader } from '../../store/store.ts';
import { uncountedTypes } from '../entities/shared-entities.ts';
import type { Catalog } from '../indexes/catalog.ts';
import { nextTurn } from '../system/background.ts';
import type { ListedPage, MatchedPages, MatchRequest } from '../system/service.ts';
import { matchClauses } from './pages-of-clauses.ts';
import { findHost, type RetrievalDependencies, unlessReplaced, withVector } from './retrieve-candidates.ts';

const mostValues = 10;
/** Max pages compared to find duplicates in orders other than relevance. */
const mostCompared = maxCandidates;
/** Pages per turn of the event loop: some milliseconds. */
const pagesPerTurn = 20_000;
/** Max pages whose names are read: half a second. If there are more, a sample stands for all. */
const mostNamedPages = 5000;
const namedPagesPerTurn = 50;
/** Pages whose visits are read per turn. */
const visitedPagesPerTurn = 1000;

type Counted = SearchFacets[FacetName];

export interface MatchDependencies
  extends Pick<RetrievalDependencies, 'catalog' | 'searchers' | 'spaces' | 'askQueryVector'> {
  reader: StoreReader;
}

/** Errors: those of the threads; the signal's reason. */
export function pageMatcher(dependencies: MatchDependencies) {
  const { catalog, searchers, reader } = dependencies;

  const labelsOf = async (request: MatchRequest, signal: AbortSignal | undefined): Promise<Bitmap> => {
    const { query: asGiven, filters, clauses, prefix, spelling, min_relevance } = request;
    const { allowed } = await matchClauses({ catalog, searchers }, request, catalog.allowed(filters), signal);
    const host = findHost(catalog, asGiven, filters, allowed);
    const query = host?.words ?? asGiven;
    if (query.trim() === '') return allowed?.labels ?? createBitmap(catalog.labelEnd);
    const allow = allowed?.labels;
    const beginnings = beginningsIn(clauses.must);
    const end = catalog.labelEnd;
    const model = reader.models.activeModel();
    // With outside models relevance is not measured.
    const least = min_relevance ?? (model === undefined || isOutside(model) ? 0 : null);
    const match = (vectors: VectorQuery | null) =>
      searchers.match({ query, prefix, spelling, beginnings, allow, end, least, vectors }, signal);
    const isByWords = model === undefined || least === 0 || prefix || urlOfQuery(query) !== null;
    const labels = await (isByWords ? match(null) : withVector(dependencies, model, query, match, signal));
    if (host !== null) for (const [at, word] of host.allow.entries()) if (at < labels.length) labels[at] |= word;
    return labels;
  };

  /** The counts of concurrent searches run one at a time. */
  const inTurn = pLimit(1);

  const nameOf = (no: number): string | null => {
    const entity = reader.entities.get(no);
    return entity === undefined ? null : canonicalForm(entity);
  };

  const keyOf: Record<Exclude<MatchRequest['sort'], 'relevance'>, (no: number) => number> = {
    newest: (no) => catalog.lastSeenAt(no),
    oldest: (no) => -catalog.timesOf(no).first_seen_at,
    // For equal visits, the last visit decides.
    most_visited: (no) => catalog.visits(no) + catalog.lastSeenAt(no) / 2 ** 47,
  };

  const count = async (pages: Uint32Array, zone: string, signal: AbortSignal | undefined): Promise<SearchFacets> => {
    const of = (fact: Parameters<Catalog['countFact']>[0]) => mostOf(catalog.countFact(fact, pages));
    const months = await countMonths(pages, zone, signal);
    const topics = reader.clusters.countPages(bitmapOf(pages, catalog.pageEnd));
    const names = await countNames(pages, signal);
    return {
      total: pages.length,
      site: of('site'),
      lang: of('language'),
      type: of('type'),
      tag: of('tag'),
      folder: of('folder'),
      source: of('source'),
      is: of('is'),
      topic: mostOf(topics, (no) => [idOf('cluster', no), reader.clusters.get(no)?.label ?? null]),
      name: mostOf(names, (no) => [idOf('entity', no), nameOf(no)]),
      month: mostOf(months),
    };
  };

  /** Counts by number of the root, without dates and amounts. */
  const countNames = async (pages: Uint32Array, signal: AbortSignal | undefined): Promise<Map<number, number>> => {
    const { entities } = reader;
    /** 0: names of this type are not counted. */
    const roots = new Map<number, number>();
    const rootOfName = (no: number): number => {
      const known = roots.get(no);
      if (known !== undefined) return known;
      const entity = entities.get(no);
      const isCounted = entity !== undefined && !uncountedTypes.has(entity.type);
      const root = isCounted ? rootOf(entities, entity).no : 0;
      roots.set(no, root);
      return root;
    };
    const counts = new Map<number, number>();
    const stands = Math.max(1, pages.length / mostNamedPages);
    const read = pages.filter((_, at) => Math.floor(at / stands) !== Math.floor((at - 1) / stands));
    for (const slice of slices(read, namedPagesPerTurn)) {
      for (const page of slice)
        for (const root of new Set((entities.ofPage(page) ?? []).map(({ no }) => rootOfName(no))))
          counts.set(root, (counts.get(root) ?? 0) + 1);
      await nextTurn(signal);
    }
    counts.delete(0);
    return new Map(Array.from(counts, ([root, count]) => [root, Math.round(count * stands)]));
  };

  /** A page counts in every month in which it was visited, since 1970. */
  const countMonths = async (pages: Uint32Array, zone: string, signal: AbortSignal | undefined) => {
    const starts = new Map<number, number>();
    /** `month`: since the year 0. */
    const startOf = (month: number): number => {
      const known = starts.get(month) ?? startOfDay(zone, Math.floor(month / 12), month % 12, 1);
      starts.set(month, known);
      return known;
    };
    const counts = new Map<number, number>();
    for (const slice of slices(pages, visitedPagesPerTurn)) {
      for (const no of slice) {
        let counted = -1;
        // Newest first, so equal months are adjacent.
        for (const time of visitTimes(catalog.timesOf(no))) {
          if (time < 0) break;
          const date = new Date(time);
          let month = 12 * date.getUTCFullYear() + date.getUTCMonth();
          if (time < startOf(month)) month--;
          else if (time >= startOf(month + 1)) month++;
          if (month !== counted) counts.set(month, (counts.get(month) ?? 0) + 1);
          counted = month;
        }
      }
      await nextTurn(signal);
    }
    const nameOf = (month: number) => new Date(Date.UTC(Math.floor(month / 12), month % 12)).toISOString().slice(0, 7);
    return Array.from(counts, ([month, count]): [string, number] => [nameOf(month), count]);
  };

  /** The first pages of an order, and some more. Pages that are compared get their duplicates. */
  const inOrder = async (
    pages: Uint32Array,
    { sort, top, collapse }: MatchRequest,
    signal: AbortSignal | undefined,
  ): Promise<ListedPage[]> => {
    if (sort === 'relevance') return [];
    const first = new TopK(new Float64Array(Math.min(top + mostCompared, pages.length)));
    for (const slice of slices(pages, pagesPerTurn)) {
      for (const no of slice) first.offer(no, keyOf[sort](no));
      await nextTurn(signal);
    }
    const listed = Array.from(first.take().labels, (page_no) => ({ page_no, duplicates: [] }));
    if (!collapse) return listed;
    const compared = listed.slice(0, mostCompared);
    const labels = compared.map(({ page_no }) => catalog.labelsOf(page_no).first);
    const sketches = await searchers.sketch(labels, signal);
    const shown = collapsed(reader, compared, sketches, (label) => catalog.pageOf(label));
    return [...shown, ...listed.slice(mostCompared)];
  };

  return async (request: MatchRequest, signal: AbortSignal | undefined): Promise<MatchedPages> => {
    const labels = await unlessReplaced(reader, () => labelsOf(request, signal));
    for (const { page_no } of request.listed ?? []) {
      const { first, count } = catalog.labelsOf(page_no);
      if (count > 0) addBit(labels, first);
    }
    const pages = catalog.pagesHaving(labels);
    const first = await inOrder(pages, request, signal);
    const others = new Set((request.listed ?? first).flatMap(({ duplicates }) => duplicates));
    const counted = pages.filter((no) => !others.has(no));
    return {
      total: counted.length,
      first: first.slice(0, request.top),
      facets: request.facets ? await inTurn(() => count(counted, request.zone, signal)) : null,
    };
  };
}

/** Merges nearly equal pages into the first of them. `sketches`: by one of a page's labels. */
export function collapsed<Listed extends { page_no: number }>(
  { pages }: StoreReader,
  listed: readonly Listed[],
  sketches: ReadonlyMap<number, TextSketch>,
  pageOf: (label: number) => number | undefined,
): (Listed & ListedPage)[] {
  const sketchOf = new Map(Array.from(sketches, ([label, sketch]) => [pageOf(label), sketch]));
  return collapseDuplicates(listed, ({ page_no }) => {
    const sketch = sketchOf.get(page_no);
    const page = sketch && pages.head(page_no);
    return sketch === undefined || page === undefined ? null : { ...page, ...sketch };
  });
}

/** The most frequent values, in the form of the answer. */
function mostOf<Value extends string | number>(
  counts: Iterable<readonly [Value, number]>,
  name: (value: Value) => [value: string, label: string | null] = (value) => [String(value), null],
): Counted {
  const found = [...counts].filter(([, count]) => count > 0);
  found.sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return found.slice(0, mostValues).map(([each, count]) => {
    const [value, label] = name(each);
    return { value, label, count };
  });
}

function* slices(pages: Uint32Array, length: number): Generator<Uint32Array> {
  for (let from = 0; from < pages.length; from += length) yield pages.subarray(from, from + length);
}
