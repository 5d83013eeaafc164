/** All of a run that is arithmetic: page vectors in, clusters and places on the map out. Runs in a thread of its own. */
import { clusterGraph, type PageClusters } from './cluster-graph.ts';
import { matchClusters } from './match-clusters.ts';
import { nearestNeighbours } from './nearest-neighbours.ts';
import type { VectorTable } from './page-vectors.ts';
import { projectPages } from './project-pages.ts';
import { separation } from './separation.ts';
import { companyOf, type GraphScale, graphNeighbours, graphScales, similarityGraph } from './similarity-graph.ts';

/** Axes along which pages are compared: 64 to 256 agreed with labels alike, and as well as all 1,024 (docs/clusters.md). */
export const comparedAxes = 128;
/** Pages from which the axes are learned. */
export const sampledPages = 3000;

export interface ClusteredPages extends PageClusters {
  /** How fine the graph was that was taken. */
  scale: GraphScale;
  /** For each cluster the id of the earlier one that it continues, or null. */
  continued: (number | null)[];
  /** x and y of each page. */
  points: Float32Array;
  timing_ms: Record<'neighbours' | 'communities' | 'projection', number>;
}

export interface ClusterPagesOptions {
  resolution: number;
  /** The id of the cluster that each page is in so far; 0 for none. */
  earlier?: Uint32Array;
  /** The scale that the last run took: kept unless another is clearly better, so that topics do not flicker. */
  earlierScale?: GraphScale;
  monotonic: () => number;
}

/** Share by which another scale must separate better than the last run's. */
const clearlyBetter = 0.05;

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
  const attempts = graphScales.map((scale) => {
    const clustered = clusterGraph(similarityGraph(neighbours, company, scale), company, { resolution: 1, ...before });
    const isEarlier = scale.neighbours === earlierScale?.neighbours && scale.leastShare === earlierScale.leastShare;
    const apart = separation(table, clustered.clusters, clustered.count);
    return { ...clustered, scale, rank: isEarlier ? apart * (1 + clearlyBetter) : apart };
  });
  const { rank: _rank, ...best } = attempts.reduce((best, each) => (each.rank > best.rank ? each : best));
  // The scale is chosen at resolution 1, or it would undo what another resolution asks for.
  const asked = { resolution, ...before };
  const clustered =
    resolution === 1
      ? best
      : { ...clusterGraph(similarityGraph(neighbours, company, best.scale), company, asked), scale: best.scale };
  const grouped = monotonic();
  const points = projectPages(table, neighbours);
  return {
    ...clustered,
    continued: matchClusters(clustered.clusters, clustered.count, earlier ?? new Uint32Array(table.count)),
    points,
    timing_ms: { neighbours: found - began, communities: grouped - found, projection: monotonic() - grouped },
  };
}
