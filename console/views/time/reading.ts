/** Pages by reading time, and their topics. */
import type {
  ClusterListResponse,
  ClusterProjectionResponse,
  ClusterRunsResponse,
} from '../../../src/domain/cluster.ts';
import type { PageListResponse, PageSummary } from '../../../src/domain/page.ts';
import type { SearchResponse } from '../../../src/domain/search.ts';
import { call, get } from '../../api/client.ts';
import { dayOf } from '../search/criteria.ts';

/** Maximum pages of a calendar. */
export const maxPages = 10_000;
const pagesAtOnce = 500;
/** A larger map takes too long only for the topics of a period. */
const maxPoints = 30_000;

export interface Reading {
  pages: PageSummary[];
  /** Whether there are more pages than the maximum. */
  isPart: boolean;
}

/** Visits in [since, before). */
export async function readingIn(
  [since, before]: readonly [Date, Date],
  domain: string | null,
  signal: AbortSignal,
): Promise<Reading> {
  const pages: PageSummary[] = [];
  let cursor: string | null = null;
  do {
    const period = { after: since.toISOString(), before: before.toISOString() };
    const query = { ...period, visits: 'true', domain, limit: pagesAtOnce, cursor };
    const answer: PageListResponse = await get<PageListResponse>('/v1/pages', query, signal);
    pages.push(...answer.pages);
    cursor = answer.next_cursor;
  } while (cursor !== null && pages.length < maxPages);
  return { pages, isPart: cursor !== null };
}

/** The year of the first visit. */
export async function firstYear(signal: AbortSignal): Promise<number> {
  const body = {
    query: 'before:9998',
    operators: true,
    sort: 'oldest',
    k: 1,
    chunks_per_page: 0,
    suggest: 0,
    log: false,
  };
  const { results } = await call<SearchResponse>('POST', '/v1/search', { body, signal });
  return new Date(results[0]?.first_seen_at ?? Date.now()).getFullYear();
}

export interface Topic {
  id: string;
  label: string;
}

/** Each page's topic by the latest run. */
export async function topicsOfPages(signal: AbortSignal): Promise<Map<string, Topic>> {
  const { clusters } = await get<ClusterListResponse>('/v1/clusters', {}, signal);
  const { runs } = await get<ClusterRunsResponse>('/v1/clusters/runs', { limit: 1 }, signal);
  const [run] = runs;
  if (run === undefined || run.finished_at === null || (run.n_pages ?? 0) > maxPoints) return new Map();
  const { points } = await get<ClusterProjectionResponse>('/v1/clusters/projection', { run_id: run.id }, signal);
  const topics = new Map(clusters.map(({ id, label, keywords }) => [id, { id, label: label ?? keywords.join(', ') }]));
  return new Map(
    points.flatMap(({ page_id, cluster_id }): [string, Topic][] => {
      const topic = topics.get(cluster_id ?? '');
      return topic === undefined ? [] : [[page_id, topic]];
    }),
  );
}

/** A page on a day. */
export interface PageDay {
  page: PageSummary;
  /** The local day, `YYYY-MM-DD`. */
  day: string;
  visits: number;
  /** Of the last visit. */
  at: string;
}

/** By the last visit, newest first. */
export function pageDaysOf(pages: readonly PageSummary[]): PageDay[] {
  return pages
    .flatMap((page) => {
      const days = new Map<string, PageDay>();
      for (const at of page.visits ?? []) {
        const day = dayOf(new Date(at));
        const known = days.get(day);
        if (known === undefined) days.set(day, { page, day, visits: 1, at });
        else known.visits++;
      }
      return [...days.values()];
    })
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

export function byDay(pageDays: readonly PageDay[]): Map<string, PageDay[]> {
  const days = new Map<string, PageDay[]>();
  for (const pageDay of pageDays) {
    const list = days.get(pageDay.day);
    if (list === undefined) days.set(pageDay.day, [pageDay]);
    else list.push(pageDay);
  }
  return days;
}

export const visitsIn = (pageDays: readonly PageDay[]): number => pageDays.reduce((sum, { visits }) => sum + visits, 0);
