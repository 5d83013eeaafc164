/**
 * From nearest neighbours to a weighted graph in which a topic is a dense region, whatever its density is. Each page measures
 * nearness by its own nearest neighbours: a cosine counts relative to the mean of the best few, as both of its ends see it, and
 * what is below a share of that is no edge. So a page among many of its kind has many edges, one at the rim few, and one scale
 * suits tight topics and loose ones (local scaling: Zelnik-Manor & Perona 2004). Chosen by measurement: bench/results/2026-11-topics.md.
 */
import type { Neighbours } from './nearest-neighbours.ts';

/** Compressed rows: the edges of node i are at firsts[i] .. firsts[i + 1], each edge with both of its ends, neighbours ascending. */
export interface SimilarityGraph {
  nodes: number;
  firsts: number[];
  neighbours: number[];
  weights: number[];
}

/** Neighbours of each page that may become edges. */
export const graphNeighbours = 20;
/** Share of its ends' scale below which two pages are not related. */
const leastShare = 0.4;
/** Neighbours that make a page's scale. */
const scaleNeighbours = 5;

/** For each page the mean cosine of its nearest neighbours: how much company it has. */
export function companyOf({ k, cosines }: Neighbours, count: number): Float32Array {
  const taken = Math.min(scaleNeighbours, k, Math.max(1, count - 1));
  const company = new Float32Array(count);
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < taken; i++) company[row] += Math.max(0, cosines[row * k + i]) / taken;
  }
  return company;
}

export function similarityGraph({ k, indices, cosines }: Neighbours, company: Float32Array): SimilarityGraph {
  const nodes = company.length;
  const edges = Array.from({ length: nodes }, () => new Map<number, number>());
  for (let row = 0; row < nodes; row++) {
    for (let at = row * k; at < (row + 1) * k; at++) {
      const other = indices[at];
      const cosine = cosines[at];
      if (other < 0 || cosine <= 0) continue;
      const weight = (cosine / company[row] + cosine / company[other]) / 2 - leastShare;
      if (weight <= 0) continue;
      edges[row].set(other, weight);
      edges[other].set(row, weight);
    }
  }
  const graph: SimilarityGraph = { nodes, firsts: [0], neighbours: [], weights: [] };
  for (const row of edges) {
    for (const [other, weight] of [...row].sort(([a], [b]) => a - b)) {
      graph.neighbours.push(other);
      graph.weights.push(weight);
    }
    graph.firsts.push(graph.neighbours.length);
  }
  return graph;
}
