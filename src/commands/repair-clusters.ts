/**
 * Repairs clusters: deletes orphaned points, runs and clusters, and makes each row agree with the points of the current run. An id in
 * use stays, even if its row was lost.
 */
import type { Cluster, ClusterPoint } from '../domain/cluster.ts';
import type { Transaction } from '../store/store.ts';
import { asTombstone } from './cluster-runs.ts';

/** Returns how many rows changed. Runs after pages and jobs are repaired. */
export function repairClusters(transaction: Transaction): number {
  const { clusters, counters } = transaction;
  const runs = clusters.runs(Number.MAX_SAFE_INTEGER);
  counters.raiseAbove('cluster_run', runs[0]?.no ?? 0);
  const repaired = dropRuns(transaction) + dropPoints(transaction);
  const drafted = clusters.runs(Number.MAX_SAFE_INTEGER).flatMap(({ draft }) => draft ?? []);
  const rows = repairRows(transaction);
  counters.raiseAbove('cluster', Math.max(0, ...[...drafted, ...clusters.all()].map(({ no }) => no)));
  return repaired + rows;
}

/** Delete runs that can never end and points of no run; clear an invalid current run. */
function dropRuns({ clusters, jobs }: Transaction): number {
  let dropped = 0;
  for (const run of clusters.runs(Number.MAX_SAFE_INTEGER)) {
    const job = jobs.get(run.job_no);
    if (run.finished_at === null && (job === undefined || job.status === 'done')) {
      clusters.removeRun(run.no);
      dropped++;
    } else if (run.finished_at !== null && run.draft !== null) {
      clusters.putRun({ ...run, draft: null });
      dropped++;
    }
  }
  const withPoints = clusters.runsWithPoints();
  for (const no of withPoints) {
    if (clusters.run(no) !== undefined) continue;
    clusters.removePoints(no);
    dropped++;
  }
  const current = clusters.currentRun();
  if (current !== 0 && clusters.run(current)?.finished_at == null) {
    const last = withPoints.findLast((no) => clusters.run(no)?.finished_at != null);
    clusters.note('current', last ?? 0);
    dropped++;
  }
  return dropped;
}

function dropPoints({ clusters, pages }: Transaction): number {
  let dropped = 0;
  for (const run of clusters.runsWithPoints()) {
    for (const { page_no } of pointsOf(clusters, run)) {
      if (pages.has(page_no)) continue;
      clusters.removePoint(run, page_no);
      dropped++;
    }
  }
  return dropped;
}

function repairRows({ clusters }: Transaction): number {
  const current = clusters.currentRun();
  const members = new Map<number, ClusterPoint[]>();
  for (const point of pointsOf(clusters, current)) {
    const others = members.get(point.cluster_no);
    if (others === undefined) members.set(point.cluster_no, [point]);
    else others.push(point);
  }
  const named = new Set<number>();
  for (const run of clusters.runsWithPoints()) {
    const isOver = clusters.run(run)?.finished_at != null;
    if (isOver) for (const { cluster_no } of pointsOf(clusters, run)) named.add(cluster_no);
  }
  named.delete(0);
  let repaired = 0;
  for (const no of new Set([...clusters.all().map((cluster) => cluster.no), ...named])) {
    const known = clusters.get(no);
    const sound = soundRow(known ?? unnamed(no), members.get(no) ?? []);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(sound)) continue;
    clusters.put(sound);
    repaired++;
  }
  return repaired;
}

/** The row as its points require. A cluster that lost pages, or its tombstone, gets new keywords. */
function soundRow(cluster: Cluster, points: readonly ClusterPoint[]): Cluster {
  if (points.length === 0) return asTombstone(cluster);
  if (!cluster.tombstoned && cluster.size === points.length) return cluster;
  const middle = (of: 'x' | 'y') => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  return {
    ...cluster,
    size: points.length,
    tombstoned: false,
    stale: true,
    x: cluster.x ?? middle('x'),
    y: cluster.y ?? middle('y'),
  };
}

function unnamed(no: number): Cluster {
  return { no, label: null, labelled: false, keywords: [], size: 0, tombstoned: true, x: null, y: null, stale: false };
}

function pointsOf(clusters: Transaction['clusters'], run: number): ClusterPoint[] {
  return [...clusters.points(run)].flat();
}
