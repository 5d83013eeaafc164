/**
 * Communities of a graph by the Leiden algorithm, which maximises modularity at a resolution: 1 asks for more edges inside a
 * community than chance would put there. Deterministic. Where an earlier clustering is given, it is improved as well, and kept
 * unless a start from nothing is clearly better: what is still so stays so.
 * Source: Traag, Waltman & van Eck 2019, "From Louvain to Leiden"; the implementation is its authors'.
 */
import { Clustering, LeidenAlgorithm, Network } from 'networkanalysis-ts';
import { seededRandom } from '../seeded-random.ts';
import type { SimilarityGraph } from './similarity-graph.ts';

/** Randomness of the refinement: the algorithm's default. */
const randomness = 0.01;
/** More hardly ever changes anything; the algorithm stops by itself before. */
const iterations = 10;
/** Modularity by which a fresh clustering must be better than the improved earlier one. */
const clearlyBetter = 0.01;
const seed = 1;

export interface CommunityOptions {
  /** Above 0; higher makes smaller communities. */
  resolution: number;
  /** An earlier community of each node, 0 and up; -1 for none. */
  earlier?: ArrayLike<number>;
}

/** The community of each node: numbers from 0, the largest first. */
export function findCommunities(graph: SimilarityGraph, { resolution, earlier }: CommunityOptions): Int32Array {
  const { nodes, firsts, neighbours, weights } = graph;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return Int32Array.from({ length: nodes }, (_, node) => node);
  // With a node's share of all edge ends as its weight, the library's quality function is modularity.
  const nodeWeights = Array.from({ length: nodes }, (_, node) => {
    let degree = 0;
    for (let at = firsts[node]; at < firsts[node + 1]; at++) degree += weights[at];
    return degree / Math.sqrt(total);
  });
  const network = new Network({
    nNodes: nodes,
    nodeWeights,
    firstNeighborIndices: firsts,
    neighbors: neighbours,
    edgeWeights: weights,
  });
  const leiden = () => {
    const algorithm = new LeidenAlgorithm();
    algorithm.initializeBasedOnResolutionAndNIterationsAndRandomnessAndRandom(
      resolution,
      iterations,
      randomness,
      chance(),
    );
    return algorithm;
  };
  const improved = (start: Clustering) => {
    const algorithm = leiden();
    algorithm.improveClustering(network, start);
    start.removeEmptyClusters();
    start.orderClustersByNNodes();
    return { clusters: start.getClusters(), quality: algorithm.calcQuality(network, start) };
  };
  const fresh = improved(new Clustering({ nNodes: nodes }));
  if (earlier === undefined) return Int32Array.from(fresh.clusters);
  const kept = improved(new Clustering({ clusters: completed(earlier, nodes) }));
  return Int32Array.from(fresh.quality > kept.quality + clearlyBetter ? fresh.clusters : kept.clusters);
}

/** Earlier communities numbered without gaps; nodes that had none begin alone. */
function completed(earlier: ArrayLike<number>, nodes: number): number[] {
  const numbers = new Map<number, number>();
  const numberOf = (key: number) => {
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  };
  return Array.from({ length: nodes }, (_, node) => numberOf(earlier[node] >= 0 ? earlier[node] : -1 - node));
}

/** The two draws that the library asks of its random numbers. */
function chance(): { nextDouble(): number; nextInt(bound: number): number } {
  const random = seededRandom(seed);
  return { nextDouble: random, nextInt: (bound) => Math.floor(random() * bound) };
}
