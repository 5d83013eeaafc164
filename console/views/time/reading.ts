/** Pages by reading time, and their topics. */
import type {
  ClusterListResponse,
  ClusterProjectionResponse,
  ClusterRunsResponse,
} from '../../../src/domain/cluster.ts';
import type { PageListResponse, PageSummary } from '../../../src/domain/page.ts';
import { get } from '../../api/client.ts';
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

export async function readingSince(since: Date, domain: string | null, signal: AbortSignal): Promise<Reading> {
  const pages: PageSummary[] = [];
  let cursor: string | null = null;
  do {
    const query = { after: since.toISOString(), domain, limit: pagesAtOnce, cursor };
    const answer: PageListResponse = await get<PageListResponse>('/v1/pages', query, signal);
    pages.push(...answer.pages);
    cursor = answer.next_cursor;
  } while (cursor !== null && pages.length < maxPages);
  return { pages, isPart: cursor !== null };
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

/** A visit; only the first and the last are stored. */
export interface Visit {
  page: PageSummary;
  at: string;
  /** The local day, `YYYY-MM-DD`. */
  day: string;
}

/** Newest first; the last visit per page and day. */
export function visitsOf(pages: readonly PageSummary[]): Visit[] {
  return pages
    .flatMap((page) => {
      const [last, first] = [page.last_seen_at, page.first_seen_at].map((at) => ({
        page,
        at,
        day: dayOf(new Date(at)),
      }));
      return first.day === last.day ? [last] : [last, first];
    })
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

export function byDay(visits: readonly Visit[]): Map<string, Visit[]> {
  const days = new Map<string, Visit[]>();
  for (const visit of visits) {
    const list = days.get(visit.day);
    if (list === undefined) days.set(visit.day, [visit]);
    else list.push(visit);
  }
  return days;
}
