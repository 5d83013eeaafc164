/** Clusters from nearest neighbours: a weighted graph and the Leiden algorithm (Traag et al. 2019). Deterministic. */
import { Clustering, LeidenAlgorithm, Network } from 'networkanalysis-ts';
import { seededRandom } from '../seeded-random.ts';

/** The k neighbours of each row, best first; -1 and 0 where there are fewer. Cosines are symmetric. */
export interface Neighbours {
  k: number;
  indices: Int32Array;
  cosines: Float32Array;
}

/** Compressed rows: the edges of node i are at firsts[i] .. firsts[i + 1]. Each edge is stored at both ends. */
interface PageGraph {
  firsts: number[];
  neighbours: number[];
  weights: number[];
}

export interface PageClusters {
  /** Cluster of each page, from 0, the largest first; -1: noise. */
  clusters: Int32Array;
  /** Share of a page's edge weight that leads into its cluster, 0..1; 0 for noise. */
  probabilities: Float32Array;
  count: number;
}

export interface ClusterOptions {
  /** Factor on the resolution, above 0: above 1 makes more and smaller clusters. */
  resolution: number;
  /** The id of each page's current cluster, 0 for none. */
  earlier?: Uint32Array;
}

/** Neighbours searched for each page: the maximum number of edges. */
export const graphNeighbours = 20;
/** Edges per page: this times √pages, but at least `fewestEdges`, as topics of a small library are small. */
const edgesPerRoot = 0.5;
const fewestEdges = 8;
/** Weight of an edge that only one end has among its nearest. More of these edges cross topics (docs/clusters.md). */
const oneSidedWeight = 0.1;
/** Modularity's resolution at `cluster.leiden_resolution` 1 (docs/clusters.md). */
const usualResolution = 0.3;
/** Modularity's own: its communities part those that are found at the usual resolution. */
const fineResolution = 1;
/** Two parts of a community are one if they share this much of the edge weight of one of them (docs/clusters.md). */
const leastShared = 0.06;
/** Randomness of the refinement: the algorithm's default. */
const randomness = 0.01;
/** Max iterations. More hardly change anything, and the algorithm usually stops before. */
const iterations = 10;
const seed = 1;
/** Min lead in modularity with which a fresh clustering replaces the improved earlier one. */
const clearlyBetter = 0.01;
const leastPages = 5;
/** A page belongs to no cluster if its best few cosines, on average, are below this share of the median page's. */
const shareOfMedian = 0.5;
const bestFew = 5;
/** A page belongs to no cluster if a smaller share of its edge weight is inside its cluster. */
const leastProbability = 0.25;

export function clusterPages(near: Neighbours, { resolution, earlier }: ClusterOptions): PageClusters {
  const graph = graphOf(near);
  const nodes = graph.firsts.length - 1;
  const coarse = communitiesOf(graph, resolution * usualResolution, earlier);
  const fine = communitiesOf(graph, fineResolution);
  const communities = withSmallOnes(graph, coarse, fine, Math.min(1, resolution) * leastShared);
  const company = companyOf(near, nodes);
  const least = shareOfMedian * (company.slice().sort()[nodes >> 1] ?? 0);
  const clusters = new Int32Array(nodes).fill(-1);
  const probabilities = new Float32Array(nodes);
  for (let node = 0; node < nodes; node++) {
    let own = 0;
    let all = 0;
    for (let at = graph.firsts[node]; at < graph.firsts[node + 1]; at++) {
      all += graph.weights[at];
      if (communities[graph.neighbours[at]] === communities[node]) own += graph.weights[at];
    }
    if (all === 0 || own / all < leastProbability || company[node] < least) continue;
    clusters[node] = communities[node];
    probabilities[node] = own / all;
  }
  return numberedBySize(clusters, probabilities);
}

/** All weights are finite and above 0. */
export function graphOf({ k, indices, cosines }: Neighbours): PageGraph {
  const nodes = indices.length / k;
  const used = Math.min(k, Math.max(fewestEdges, Math.round(edgesPerRoot * Math.sqrt(nodes))));
  const isNeighbour = (page: number, of: number) => indices.subarray(of * k, of * k + used).includes(page);
  const edges = Array.from({ length: nodes }, (): [number[], number[]] => [[], []]);
  const add = (from: number, to: number, weight: number) => {
    edges[from][0].push(to);
    edges[from][1].push(weight);
  };
  for (let page = 0; page < nodes; page++) {
    for (let at = page * k; at < page * k + used; at++) {
      const other = indices[at];
      if (other < 0 || !(cosines[at] > 0)) continue;
      const isMutual = isNeighbour(page, other);
      add(page, other, (isMutual ? 1 : oneSidedWeight) * cosines[at]);
      if (!isMutual) add(other, page, oneSidedWeight * cosines[at]);
    }
  }
  const firsts = [0];
  for (const [others] of edges) firsts.push(firsts[firsts.length - 1] + others.length);
  return { firsts, neighbours: edges.flatMap(([others]) => others), weights: edges.flatMap(([, weights]) => weights) };
}

/** Mean cosine of each page's nearest neighbours. */
function companyOf({ k, cosines }: Neighbours, nodes: number): Float32Array {
  const taken = Math.min(bestFew, k, Math.max(1, nodes - 1));
  const best = (page: number) => cosines.subarray(page * k, page * k + taken);
  return Float32Array.from(
    { length: nodes },
    (_, page) => best(page).reduce((sum, x) => sum + Math.max(0, x), 0) / taken,
  );
}

/** Improves the earlier clusters. Keeps them unless a fresh start is clearly better, so that topics stay stable. */
function communitiesOf(
  { firsts, neighbours, weights }: PageGraph,
  resolution: number,
  earlier?: Uint32Array,
): readonly number[] {
  const nodes = firsts.length - 1;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return Array.from({ length: nodes }, (_, node) => node);
  // If the weight of a node is its share of all edge ends, the library's quality function is modularity.
  const degreeOf = (node: number) =>
    weights.slice(firsts[node], firsts[node + 1]).reduce((sum, weight) => sum + weight, 0);
  const nodeWeights = Array.from({ length: nodes }, (_, node) => degreeOf(node) / Math.sqrt(total));
  const network = new Network({
    nNodes: nodes,
    nodeWeights,
    firstNeighborIndices: firsts,
    neighbors: neighbours,
    edgeWeights: weights,
  });
  const improved = (start: Clustering) => {
    const random = seededRandom(seed);
    const chance = { nextDouble: random, nextInt: (bound: number) => Math.floor(random() * bound) };
    const leiden = new LeidenAlgorithm();
    leiden.initializeBasedOnResolutionAndNIterationsAndRandomnessAndRandom(resolution, iterations, randomness, chance);
    leiden.improveClustering(network, start);
    return { clusters: start.getClusters(), quality: leiden.calcQuality(network, start) };
  };
  const fresh = improved(new Clustering({ nNodes: nodes }));
  if (earlier === undefined || earlier.every((id) => id === 0)) return fresh.clusters;
  const kept = improved(new Clustering({ clusters: withoutGaps(earlier) }));
  return fresh.quality > kept.quality + clearlyBetter ? fresh.clusters : kept.clusters;
}

/** Parts communities where hardly an edge crosses: modularity joins small ones of a large graph (Fortunato & Barthélemy 2007). */
function withSmallOnes(graph: PageGraph, coarse: readonly number[], fine: readonly number[], least: number): number[] {
  const { firsts, neighbours, weights } = graph;
  const nodes = coarse.length;
  const parts = withoutGaps(coarse.map((community, node) => 1 + community * nodes + fine[node]));
  const joined = parts.map((_, part) => part);
  const rootOf = (part: number): number => (joined[part] === part ? part : rootOf(joined[part]));
  const all = new Float64Array(nodes);
  const shared = new Map<number, number>();
  for (let node = 0; node < nodes; node++) {
    for (let at = firsts[node]; at < firsts[node + 1]; at++) {
      const [part, other] = [parts[node], parts[neighbours[at]]];
      all[part] += weights[at];
      if (part === other || coarse[node] !== coarse[neighbours[at]]) continue;
      shared.set(part * nodes + other, (shared.get(part * nodes + other) ?? 0) + weights[at]);
    }
  }
  for (const [pair, weight] of shared) {
    const [part, other] = [Math.floor(pair / nodes), pair % nodes];
    if (weight >= least * Math.min(all[part], all[other])) joined[rootOf(part)] = rootOf(other);
  }
  return parts.map(rootOf);
}

/** Earlier clusters numbered from 0. Pages without one start in a cluster of their own. */
function withoutGaps(earlier: ArrayLike<number>): number[] {
  const numbers = new Map<number, number>();
  return Array.from(earlier, (id, page) => {
    const key = id === 0 ? -1 - page : id;
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}

/** Drops small clusters and numbers the others by size. */
function numberedBySize(clusters: Int32Array, probabilities: Float32Array): PageClusters {
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

/** Min share of common pages in the smaller and in the larger cluster; with less, an id could move to another topic. */
const leastOfSmaller = 0.5;
const leastOfLarger = 0.2;

/**
 * For each new cluster the id of the old one that it continues, or null. Pairs with most common pages first; each old
 * cluster once. Shapes: `clusters` by page, -1 for none; `earlier`: old ids of the same pages, 0 for none or unknown.
 */
export function matchClusters(
  clusters: ArrayLike<number>,
  count: number,
  earlier: ArrayLike<number>,
): (number | null)[] {
  const common = new Map<string, { cluster: number; id: number; pages: number }>();
  const sizes = new Map<number, number>();
  const earlierSizes = new Map<number, number>();
  for (let page = 0; page < clusters.length; page++) {
    const id = earlier[page];
    const cluster = clusters[page];
    if (id !== 0) earlierSizes.set(id, (earlierSizes.get(id) ?? 0) + 1);
    if (id === 0 || cluster < 0) continue;
    sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1);
    const key = `${cluster} ${id}`;
    const pair = common.get(key) ?? { cluster, id, pages: 0 };
    pair.pages++;
    common.set(key, pair);
  }
  const matched: (number | null)[] = new Array(count).fill(null);
  const byOverlap = [...common.values()].sort((a, b) => b.pages - a.pages || a.id - b.id || a.cluster - b.cluster);
  for (const { cluster, id, pages } of byOverlap) {
    if (matched[cluster] !== null || matched.includes(id)) continue;
    const [a, b] = [sizes.get(cluster) ?? 0, earlierSizes.get(id) ?? 0];
    if (pages < leastOfSmaller * Math.min(a, b) || pages < leastOfLarger * Math.max(a, b)) continue;
    matched[cluster] = id;
  }
  return matched;
}
