/** All of a run that is arithmetic: page vectors in, clusters and places on the map out. Runs in a thread of its own. */
import { clusterGraph, type PageClusters } from './cluster-graph.ts';
import { matchClusters } from './match-clusters.ts';
import { nearestNeighbours } from './nearest-neighbours.ts';
import type { VectorTable } from './page-vectors.ts';
import { projectPages } from './project-pages.ts';
import { separation } from './separation.ts';
import { companyOf, graphNeighbours, similarityGraph } from './similarity-graph.ts';

/** Axes along which pages are compared: 64 to 256 agreed with labels alike, and as well as all 1,024 (docs/clusters.md). */
export const comparedAxes = 128;
/** Pages from which the axes are learned. */
export const sampledPages = 3000;

/**
 * Resolutions tried, from coarse to fine: no one of them suits both a few broad topics and many narrow ones. A run takes the one
 * whose clusters are the most apart, each cluster having its price.
 */
const triedResolutions: readonly number[] = [0.5, 0.7, 1, 1.4, 2, 2.8, 4];
/**
 * How much more apart clusters must be for there to be more of them, times the root of their number: without it, the many small
 * groups of near duplicates that any collection has would win over its topics. Chosen by measurement: docs/clusters.md.
 */
const priceOfClusters = 0.01;
/** Share by which another resolution must separate better than the last run's. */
const clearlyBetter = 0.05;

export interface ClusteredPages extends PageClusters {
  /** The tried resolution that was taken. */
  scale: number;
  /** For each cluster the id of the earlier one that it continues, or null. */
  continued: (number | null)[];
  /** x and y of each page. */
  points: Float32Array;
  timing_ms: Record<'neighbours' | 'communities' | 'projection', number>;
}

export interface ClusterPagesOptions {
  /** Factor on the resolution that is taken: above 1 makes more and smaller clusters. */
  resolution: number;
  /** The id of the cluster that each page is in so far; 0 for none. */
  earlier?: Uint32Array;
  /** The resolution that the last run took: kept unless another is clearly better, so that topics do not flicker. */
  earlierScale?: number;
  monotonic: () => number;
}

export function clusterPages(
  table: VectorTable,
  { monotonic, earlierScale, earlier, resolution }: ClusterPagesOptions,
): ClusteredPages {
  const began = monotonic();
  const neighbours = nearestNeighbours(table, Math.min(graphNeighbours, Math.max(1, table.count - 1)));
  const found = monotonic();
  const company = companyOf(neighbours, table.count);
  const isFollowing = earlier?.some((id) => id !== 0) === true;
  const before = isFollowing ? { earlier: Int32Array.from(earlier, (id) => (id === 0 ? -1 : id)) } : {};
  const graph = similarityGraph(neighbours, company);
  const attempts = triedResolutions.map((scale) => {
    const clustered = clusterGraph(graph, company, { resolution: scale, ...before });
    const apart =
      separation(table, clustered.clusters, clustered.count) * (scale === earlierScale ? 1 + clearlyBetter : 1);
    return { ...clustered, scale, rank: apart - priceOfClusters * Math.sqrt(clustered.count) };
  });
  const { rank: _rank, ...best } = attempts.reduce((best, each) => (each.rank > best.rank ? each : best));
  // Chosen among the resolutions alone, or the choice would undo what the factor asks for.
  const clustered =
    resolution === 1
      ? best
      : { ...clusterGraph(graph, company, { resolution: best.scale * resolution, ...before }), scale: best.scale };
  const grouped = monotonic();
  const points = projectPages(table, neighbours);
  return {
    ...clustered,
    continued: matchClusters(clustered.clusters, clustered.count, earlier ?? new Uint32Array(table.count)),
    points,
    timing_ms: { neighbours: found - began, communities: grouped - found, projection: monotonic() - grouped },
  };
}
