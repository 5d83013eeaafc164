/**
 * From the graph of pages to clusters: communities, without those too small to be a topic and without pages that fit nowhere,
 * and how surely each page belongs.
 */
import { findCommunities } from './find-communities.ts';
import type { SimilarityGraph } from './similarity-graph.ts';

export interface PageClusters {
  /** Cluster of each page, from 0, the largest first; -1: noise. */
  clusters: Int32Array;
  /** Share of a page's edge weight that leads into its cluster, 0..1; 0 for noise. */
  probabilities: Float32Array;
  count: number;
}

/** Fewer pages are no topic. */
const leastPages = 5;
/** A page with so much less company than the median page of its language fits nowhere. */
const shareOfMedian = 0.5;
/** Nor does one whose edges lead mostly elsewhere. */
const leastProbability = 0.25;

export interface ClusterGraphOptions {
  resolution: number;
  earlier?: ArrayLike<number>;
}

/** For each page whether it has too little company to fit anywhere. */
export function lonelyPages(company: Float32Array, languages?: Uint16Array): boolean[] {
  const of = (page: number) => languages?.[page] ?? 0;
  const medians = new Map(
    [...new Set(Array.from(company, (_, page) => of(page)))].map((language) => {
      const theirs = company.filter((_, page) => of(page) === language).sort();
      return [language, theirs[theirs.length >> 1]];
    }),
  );
  return Array.from(company, (own, page) => own < shareOfMedian * (medians.get(of(page)) ?? 0));
}

export function clusterGraph(
  graph: SimilarityGraph,
  isLonely: readonly boolean[],
  options: ClusterGraphOptions,
): PageClusters {
  const communities = findCommunities(graph, options);
  const clusters = new Int32Array(graph.nodes).fill(-1);
  const probabilities = new Float32Array(graph.nodes);
  for (let node = 0; node < graph.nodes; node++) {
    let own = 0;
    let all = 0;
    for (let at = graph.firsts[node]; at < graph.firsts[node + 1]; at++) {
      all += graph.weights[at];
      if (communities[graph.neighbours[at]] === communities[node]) own += graph.weights[at];
    }
    if (all === 0 || own / all < leastProbability || isLonely[node]) continue;
    clusters[node] = communities[node];
    probabilities[node] = own / all;
  }
  return renumbered(clusters, probabilities);
}

/** Without the small ones; numbers by size. */
function renumbered(clusters: Int32Array, probabilities: Float32Array): PageClusters {
  const sizes = new Map<number, number>();
  for (const cluster of clusters) if (cluster >= 0) sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1);
  const kept = [...sizes].filter(([, size]) => size >= leastPages).sort(([a, x], [b, y]) => y - x || a - b);
  const numbers = new Map(kept.map(([cluster], number) => [cluster, number]));
  for (let node = 0; node < clusters.length; node++) {
    clusters[node] = numbers.get(clusters[node]) ?? -1;
    if (clusters[node] < 0) probabilities[node] = 0;
  }
  return { clusters, probabilities, count: kept.length };
}
