/**
 * All pages that match a query, beyond the candidates: their order by other things than relevance, and counts of their values. Searcher
 * threads match the words. Work per page is done in slices.
 */
import { canonicalForm, rootOf } from '../../commands/entity-trees.ts';
import { startOfDay, wallOf } from '../../compute/ranking/query-times.ts';
import { addBit, type Bitmap, createBitmap } from '../../compute/structures/bitmap.ts';
import { firstAbove } from '../../compute/structures/sorted-search.ts';
import { TopK } from '../../compute/structures/top-k.ts';
import { type VisitTimes, visitTimes } from '../../compute/structures/visit-times.ts';
import { idOf } from '../../domain/ids.ts';
import { beginningsIn } from '../../domain/query-clause.ts';
import type { FacetName, SearchFacets } from '../../domain/search.ts';
import type { Searchers } from '../../engine/searchers.ts';
import type { Catalog } from '../../index/catalog.ts';
import type { StoreReader } from '../../store/store.ts';
import { uncountedTypes } from '../entities/shared-entities.ts';
import type { MatchedPages, MatchRequest } from '../system/system-messages.ts';
import { matchClauses } from './pages-of-clauses.ts';
import { findHost } from './retrieve-candidates.ts';

const mostValues = 10;
/** Pages per turn of the event loop: some milliseconds. */
const pagesPerTurn = 20_000;
/** Pages whose names are read per turn. */
const namedPagesPerTurn = 200;

type Counted = SearchFacets[FacetName];

/** Errors: those of the threads, the signal's reason. */
export type MatchPages = (request: MatchRequest, signal: AbortSignal | undefined) => Promise<MatchedPages>;

export function pageMatcher({
  catalog,
  searchers,
  reader,
}: {
  catalog: Catalog;
  searchers: Pick<Searchers, 'locate' | 'match'>;
  reader: StoreReader;
}): MatchPages {
  const labelsOf = async (request: MatchRequest, signal: AbortSignal | undefined): Promise<Bitmap> => {
    const { query: asGiven, filters, clauses, prefix, spelling } = request;
    const { allowed } = await matchClauses({ catalog, searchers }, request, catalog.allowed(filters), signal);
    const host = findHost(catalog, asGiven, filters, allowed);
    const query = host?.words ?? asGiven;
    if (query.trim() === '') return allowed?.labels ?? createBitmap(0);
    const allow = allowed?.labels;
    const beginnings = beginningsIn(clauses.must);
    const end = catalog.labelEnd;
    const labels = await searchers.match({ query, prefix, spelling, beginnings, allow, end }, signal);
    if (host !== null) for (const [at, word] of host.allow.entries()) if (at < labels.length) labels[at] |= word;
    return labels;
  };

  const nameOf = (no: number): string | null => {
    const entity = reader.entities.get(no);
    return entity === undefined ? null : canonicalForm(entity);
  };

  const keyOf: Record<Exclude<MatchRequest['sort'], 'relevance'>, (no: number) => number> = {
    newest: (no) => catalog.lastSeenAt(no),
    oldest: (no) => -catalog.timesOf(no).first_seen_at,
    // Of equal visits the last one decides.
    most_visited: (no) => catalog.visits(no) + catalog.lastSeenAt(no) / 2 ** 47,
  };

  const count = async (pages: Uint32Array, zone: string, signal: AbortSignal | undefined): Promise<SearchFacets> => {
    const of = (fact: Parameters<Catalog['countFact']>[0]) => mostOf(catalog.countFact(fact, pages));
    const months = countMonths(
      Array.from(pages, (no) => catalog.timesOf(no)),
      zone,
    );
    await nextTurn(signal);
    const topics = reader.clusters.countPages(setOf(pages, catalog.pageEnd));
    const names = await countNames(pages, signal);
    return {
      total: pages.length,
      site: of('site'),
      lang: of('language'),
      type: of('type'),
      tag: of('tag'),
      folder: of('folder'),
      source: of('source'),
      topic: mostOf(topics, (no) => [idOf('cluster', no), reader.clusters.get(no)?.label ?? null]),
      name: mostOf(names, (no) => [idOf('entity', no), nameOf(no)]),
      month: mostOf(months),
    };
  };

  /** By number of the root, without dates and amounts. */
  const countNames = async (pages: Uint32Array, signal: AbortSignal | undefined): Promise<Map<number, number>> => {
    const { entities } = reader;
    /** 0: not counted. */
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
    for (const slice of slices(pages, namedPagesPerTurn)) {
      for (const page of slice)
        for (const root of new Set((entities.ofPage(page) ?? []).map(({ no }) => rootOfName(no))))
          counts.set(root, (counts.get(root) ?? 0) + 1);
      await nextTurn(signal);
    }
    counts.delete(0);
    return counts;
  };

  return async (request, signal) => {
    const pages = catalog.pagesHaving(await labelsOf(request, signal));
    const { sort, top, facets, zone } = request;
    const first = sort === 'relevance' ? null : new TopK(new Float64Array(Math.min(top, pages.length)));
    if (first !== null && sort !== 'relevance') {
      for (const slice of slices(pages, pagesPerTurn)) {
        for (const no of slice) first.offer(no, keyOf[sort](no));
        await nextTurn(signal);
      }
    }
    return {
      total: pages.length,
      first: first === null ? [] : [...first.take().labels],
      facets: facets ? await count(pages, zone, signal) : null,
    };
  };
}

const setOf = (pages: Uint32Array, end: number): Bitmap => {
  const set = createBitmap(end);
  for (const no of pages) addBit(set, no);
  return set;
};

/** The most frequent, as the answer has them. */
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

/** A page counts in every month in which it was visited. */
function countMonths(pages: readonly VisitTimes[], zone: string): [month: string, pages: number][] {
  if (pages.length === 0) return [];
  const first = pages.reduce((least, { first_seen_at }) => Math.min(least, first_seen_at), Number.POSITIVE_INFINITY);
  const last = pages.reduce((most, { last_seen_at }) => Math.max(most, last_seen_at), 0);
  const months: [month: string, pages: number][] = [];
  const starts: number[] = [];
  for (let month = new Date(wallOf(zone, first)).setUTCDate(1); ; ) {
    const date = new Date(month);
    const start = startOfDay(zone, date.getUTCFullYear(), date.getUTCMonth(), 1);
    if (start > last) break;
    starts.push(start);
    months.push([date.toISOString().slice(0, 7), 0]);
    month = date.setUTCMonth(date.getUTCMonth() + 1);
  }
  for (const page of pages) {
    let counted = -1;
    // Newest first, so months do not come again.
    for (const time of visitTimes(page)) {
      const at = firstAbove(starts, time) - 1;
      if (at !== counted) months[at][1]++;
      counted = at;
    }
  }
  return months;
}

function* slices(pages: Uint32Array, length: number): Generator<Uint32Array> {
  for (let from = 0; from < pages.length; from += length) yield pages.subarray(from, from + length);
}

async function nextTurn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(setImmediate);
  signal?.throwIfAborted();
}
