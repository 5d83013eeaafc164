/** All of a run that is arithmetic: page vectors in, clusters and places on the map out. Runs in a thread of its own. */
import { suitability } from './choose-resolution.ts';
import { clusterGraph, lonelyPages, type PageClusters } from './cluster-graph.ts';
import { matchClusters } from './match-clusters.ts';
import { nearestNeighbours } from './nearest-neighbours.ts';
import type { VectorTable } from './page-vectors.ts';
import { projectPages } from './project-pages.ts';
import { companyOf, graphNeighbours, similarityGraph } from './similarity-graph.ts';

/** Axes of vectors, and as many of words, along which pages are compared: 64 to 256 agreed with labels alike, and as well as all 1,024 (docs/clusters.md). */
export const comparedAxes = 128;

/**
 * Resolutions tried, from coarse to fine, each √2 times the one before: from where a handful of topics is all there is to where
 * groups of a dozen pages are. A run takes the one that suits its pages: choose-resolution.ts.
 */
const triedResolutions: readonly number[] = Array.from({ length: 10 }, (_, step) => 0.25 * 2 ** (step / 2));
/** Share by which another resolution must suit better than the last run's. */
const clearlyBetter = 0.05;
/** Of resolutions that suit by so much of the best the coarsest is taken: fewer topics say as much, and are easier to look through. */
const nearlyBest = 0.98;

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
  const k = Math.min(graphNeighbours, Math.max(1, table.count - 1));
  const neighbours = nearestNeighbours(table, k);
  const { languages, ...allLanguages } = table;
  // A topic is of one language; the map has all of them.
  const onMap = languages === undefined ? neighbours : nearestNeighbours(allLanguages, k);
  const found = monotonic();
  const company = companyOf(neighbours, table.count);
  const graph = similarityGraph(neighbours, company);
  const isLonely = lonelyPages(company, languages);
  const attempts = triedResolutions.map((scale) => clusterGraph(graph, isLonely, { resolution: scale }));
  const suits = suitability(
    graph,
    attempts.map(({ clusters }) => clusters),
  ).map((suit, at) => suit * (triedResolutions[at] === earlierScale ? 1 + clearlyBetter : 1));
  const best = suits.findIndex((suit) => suit >= nearlyBest * Math.max(...suits));
  const scale = triedResolutions[best];
  // Earlier clusters and the factor come after the choice, or they would have a say in it.
  const isFollowing = earlier?.some((id) => id !== 0) === true;
  const before = isFollowing ? { earlier: Int32Array.from(earlier, (id) => (id === 0 ? -1 : id)) } : {};
  const clustered =
    resolution === 1 && !isFollowing
      ? attempts[best]
      : clusterGraph(graph, isLonely, { resolution: scale * resolution, ...before });
  const grouped = monotonic();
  const points = projectPages(allLanguages, onMap);
  return {
    ...clustered,
    scale,
    continued: matchClusters(clustered.clusters, clustered.count, earlier ?? new Uint32Array(table.count)),
    points,
    timing_ms: { neighbours: found - began, communities: grouped - found, projection: monotonic() - grouped },
  };
}
