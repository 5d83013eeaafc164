/** Pages that come between runs are put to the cluster of the pages nearest to them. Kept here are those that wait for it. */
import { assignPages } from '../../commands/cluster-runs.ts';
import type { ClusterPoint } from '../../domain/cluster.ts';
import type { NearPage } from '../indexes/page-space.ts';
import type { LibraryParts } from '../system/service.ts';
import { clusterCensus } from './cluster-census.ts';

interface PagePlacementDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'commit'> {
  /** Of the active model, or null. */
  activeSpace: () => number | null;
  /** What is under way ends with the commit that it is at. */
  isStopping: () => boolean;
}

/** Nearest pages that vote. */
const voters = 15;
/** Share of the votes that makes a member. */
const leastShare = 0.4;
const pagesPerCommit = 32;

export function pagePlacement({ ask, commit, reader, activeSpace, isStopping }: PagePlacementDependencies) {
  const waiting = new Set<number>();

  /** Put all that wait somewhere; without a run they only cease to wait. */
  const placeAll = async (): Promise<void> => {
    while (waiting.size > 0 && !isStopping()) {
      const some = [...waiting].slice(0, pagesPerCommit);
      // Before they are placed: a page that is added meanwhile, because it has its vectors now, waits again.
      for (const no of some) waiting.delete(no);
      try {
        await place(some);
      } catch (error) {
        for (const no of some) waiting.add(no);
        throw error;
      }
    }
  };

  const place = async (pageNos: readonly number[]): Promise<void> => {
    const hasVectors = (no: number) => {
      const space = activeSpace() ?? 0;
      return reader.vectors.has(space, no) && !reader.backfills.isBegun(space, no);
    };
    const run = reader.clusters.currentRun();
    const points: ClusterPoint[] = [];
    for (const no of run === 0 ? [] : pageNos) {
      if (reader.pages.head(no)?.status !== 'indexed' || reader.clusters.point(run, no) !== undefined) continue;
      // The message `cluster.place` comes when it has them.
      if (!hasVectors(no)) continue;
      const filters = { domain: null, after: null, before: null, pages: null };
      const near = await ask('index.nearPages', { model: null, page_nos: [no], k: voters, except: [], filters });
      points.push(nearestCluster(no, near, (page) => reader.clusters.point(run, page)));
    }
    if (points.length > 0) await commit(assignPages(points));
  };

  /** The same with all pages that the current run does not know. */
  const takeUp = async (): Promise<void> => {
    if (reader.clusters.currentRun() === 0) return;
    for (const no of (await clusterCensus(reader, activeSpace())).unknown) waiting.add(no);
    await placeAll();
  };

  return { waiting, placeAll, takeUp };
}

/**
 * Where a page belongs: its nearest pages vote, each by how near it is. `pointOf`: where the current run has a page. A page without
 * neighbours that have a place has none either (NaN).
 */
function nearestCluster(
  page_no: number,
  near: readonly NearPage[],
  pointOf: (pageNo: number) => ClusterPoint | undefined,
): ClusterPoint {
  const votes = new Map<number, { share: number; x: number; y: number }>();
  let all = 0;
  for (const { page_no: neighbour, score } of near) {
    const point = pointOf(neighbour);
    if (point === undefined || Number.isNaN(point.x) || score <= 0) continue;
    all += score;
    const vote = votes.get(point.cluster_no) ?? { share: 0, x: 0, y: 0 };
    vote.share += score;
    vote.x += score * point.x;
    vote.y += score * point.y;
    votes.set(point.cluster_no, vote);
  }
  const [best] = [...votes].sort(([a, x], [b, y]) => y.share - x.share || a - b);
  if (best === undefined) return { page_no, cluster_no: 0, probability: 0, x: Number.NaN, y: Number.NaN, since: true };
  const [cluster_no, { share, x, y }] = best;
  const place = { page_no, x: x / share, y: y / share, since: true };
  const isMember = cluster_no !== 0 && share / all >= leastShare;
  return { ...place, cluster_no: isMember ? cluster_no : 0, probability: isMember ? share / all : 0 };
}
