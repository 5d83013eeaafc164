/** All pages that match a query, beyond the candidates: orders other than relevance, and counts of values. */

import pLimit from 'p-limit';
import { canonicalForm, rootOf } from '../../commands/entity-trees.ts';
import { startOfDay } from '../../compute/ranking/query-times.ts';
import { type Bitmap, bitmapOf, createBitmap } from '../../compute/structures/bitmap.ts';
import { TopK } from '../../compute/structures/top-k.ts';
import { visitTimes } from '../../compute/structures/visit-times.ts';
import { beginningsIn } from '../../domain/query-clause.ts';
import type { FacetName, SearchFacets } from '../../domain/search.ts';
import { idOf } from '../../domain/values.ts';
import type { Searchers } from '../../engine/searchers.ts';
import type { StoreReader } from '../../store/store.ts';
import { uncountedTypes } from '../entities/shared-entities.ts';
import type { Catalog } from '../indexes/catalog.ts';
import { nextTurn } from '../system/background.ts';
import type { MatchedPages, MatchRequest } from '../system/service.ts';
import { matchClauses } from './pages-of-clauses.ts';
import { findHost } from './retrieve-candidates.ts';

const mostValues = 10;
/** Pages per turn of the event loop: some milliseconds. */
const pagesPerTurn = 20_000;
/** Pages whose names are read: half a second; of more pages a sample counts for all. */
const mostNamedPages = 5000;
const namedPagesPerTurn = 50;
/** Pages whose visits are read per turn. */
const visitedPagesPerTurn = 1000;

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

  /** Counts of several searches take turns. */
  const inTurn = pLimit(1);

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
        // Newest first, so months do not come again.
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
      facets: facets ? await inTurn(() => count(pages, zone, signal)) : null,
    };
  };
}

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

function* slices(pages: Uint32Array, length: number): Generator<Uint32Array> {
  for (let from = 0; from < pages.length; from += length) yield pages.subarray(from, from + length);
}
