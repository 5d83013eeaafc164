/** What was read when: the pages of a year, and the topics that they belong to. */
import type {
  ClusterListResponse,
  ClusterProjectionResponse,
  ClusterRunsResponse,
} from '../../../src/domain/cluster.ts';
import type { PageListResponse, PageSummary } from '../../../src/domain/page.ts';
import { get } from '../../api/client.ts';
import { dayOf } from '../search/criteria.ts';

/** So many pages at most are looked through for a calendar. */
export const mostPages = 10_000;
const pagesAtOnce = 500;
/** A larger map takes too long only to tell topics of a period. */
const mostPoints = 30_000;

export interface Reading {
  pages: PageSummary[];
  /** Whether there are more than were looked through. */
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
  } while (cursor !== null && pages.length < mostPages);
  return { pages, isPart: cursor !== null };
}

export interface Topic {
  id: string;
  label: string;
}

/** The topic of each page by the latest run. */
export async function topicsOfPages(signal: AbortSignal): Promise<Map<string, Topic>> {
  const { clusters } = await get<ClusterListResponse>('/v1/clusters', {}, signal);
  const { runs } = await get<ClusterRunsResponse>('/v1/clusters/runs', { limit: 1 }, signal);
  const [run] = runs;
  if (run === undefined || run.finished_at === null || (run.n_pages ?? 0) > mostPoints) return new Map();
  const { points } = await get<ClusterProjectionResponse>('/v1/clusters/projection', { run_id: run.id }, signal);
  const topics = new Map(clusters.map(({ id, label, keywords }) => [id, { id, label: label ?? keywords.join(', ') }]));
  return new Map(
    points.flatMap(({ page_id, cluster_id }): [string, Topic][] => {
      const topic = topics.get(cluster_id ?? '');
      return topic === undefined ? [] : [[page_id, topic]];
    }),
  );
}

/** Pages by the day when they were read last. */
export function byDay(pages: readonly PageSummary[]): Map<string, PageSummary[]> {
  const days = new Map<string, PageSummary[]>();
  for (const page of pages) {
    const day = dayOf(new Date(page.last_seen_at));
    const list = days.get(day);
    if (list === undefined) days.set(day, [page]);
    else list.push(page);
  }
  return days;
}
