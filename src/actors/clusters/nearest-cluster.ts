/** Where a page that came since the last run belongs: its nearest pages vote, each by how near it is. */
import type { ClusterPoint } from '../../domain/cluster.ts';
import type { NearPage } from '../../index/page-space.ts';

/** Pages that are asked. */
export const voters = 15;
/** Share of the votes that makes a member. */
const leastShare = 0.4;

/** `pointOf`: where the current run has a page. A page without neighbours there has no place on the map either (NaN). */
export function nearestCluster(
  page_no: number,
  near: readonly NearPage[],
  pointOf: (pageNo: number) => ClusterPoint | undefined,
): ClusterPoint {
  const votes = new Map<number, { share: number; x: number; y: number }>();
  let all = 0;
  for (const { page_no: neighbour, score } of near) {
    const point = pointOf(neighbour);
    if (point === undefined || score <= 0) continue;
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
