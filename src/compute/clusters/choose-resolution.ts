/**
 * Which of several resolutions suits the pages. No one of them suits both a few broad topics and many narrow ones, and what is
 * there shows by itself: around the right resolution the clusters stay what they are while it changes, as they cannot where it
 * cuts through topics or joins them. Clusters that hold together badly may be persistent, too, so modularity has its say.
 * Source: persistence over scales; Arenas, Fernández & Gómez 2008; Lambiotte, Delvenne & Barahona 2008.
 */
import { partitionAgreement } from '../agreement/partition-agreement.ts';
import type { SimilarityGraph } from './similarity-graph.ts';

/** Resolutions to either side that a clustering is compared with: a factor of 2.8 with the steps of cluster-pages.ts. */
const comparedSteps = 3;

/**
 * How well each clustering suits: the square of its modularity times its mean adjusted Rand index with its neighbours in the list.
 * 0 where it holds together no better than chance would have it, as one cluster of all.
 * Shapes: clusterings by ascending resolution, each with the cluster of every node, -1 for noise.
 */
export function suitability(graph: SimilarityGraph, clusterings: readonly ArrayLike<number>[]): number[] {
  const agreements = new Map<string, number>();
  const agreement = (a: number, b: number): number => {
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
    const known = agreements.get(key) ?? partitionAgreement(clusterings[a], clusterings[b]).ari;
    agreements.set(key, known);
    return known;
  };
  return clusterings.map((clusters, at) => {
    const held = modularity(graph, clusters);
    if (held <= 0) return 0;
    const near = [...clusterings.keys()].filter((other) => other !== at && Math.abs(other - at) <= comparedSteps);
    const persistence = near.reduce((sum, other) => sum + agreement(at, other), 0) / Math.max(1, near.length);
    return held ** 2 * Math.max(0, persistence);
  });
}

/**
 * Share of the edges' weight that is inside clusters, less what chance would put there: 0 for one cluster, below 1. Noise is inside
 * none. Source: Newman & Girvan 2004, for weighted edges.
 */
export function modularity(
  { nodes, firsts, neighbours, weights }: SimilarityGraph,
  clusters: ArrayLike<number>,
): number {
  const inside = new Map<number, number>();
  const ends = new Map<number, number>();
  let total = 0;
  for (let node = 0; node < nodes; node++) {
    const cluster = clusters[node];
    for (let at = firsts[node]; at < firsts[node + 1]; at++) {
      total += weights[at];
      if (cluster < 0) continue;
      ends.set(cluster, (ends.get(cluster) ?? 0) + weights[at]);
      if (clusters[neighbours[at]] === cluster) inside.set(cluster, (inside.get(cluster) ?? 0) + weights[at]);
    }
  }
  if (total === 0) return 0;
  return [...ends].reduce((sum, [cluster, end]) => sum + (inside.get(cluster) ?? 0) / total - (end / total) ** 2, 0);
}
