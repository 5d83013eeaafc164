/**
 * The neighbour graph (HNSW) of a large space, by the optional package `hnswlib-node`; without it searches are exact.
 * One thread owns a graph, as calls on it must not overlap. It is read after a check: a damaged file ends the process.
 */
import type { HierarchicalNSW } from 'hnswlib-node';
import { type Bitmap, GrowingBitmap } from '../../compute/structures/bitmap.ts';
import { sha256Of } from '../../files/checked-file.ts';
import { NO_LABEL, type SharedRows, VectorRows } from './vector-rows.ts';

/** Links per node, and candidates examined for them: docs/decisions/vector-index.md. */
const M = 16;
const EF_CONSTRUCTION = 150;
const seed = 42;
/** Max equal vectors in a graph: a search cannot leave a cluster of them. The others are compared one by one. */
const mostEqual = 3;
/** Points added between two checks for a stop: some ms. */
const stopEvery = 64;

/** The package's class; null if it is not installed or does not load. */
export async function graphPackage(): Promise<typeof HierarchicalNSW | null> {
  try {
    return (await import('hnswlib-node')).default.HierarchicalNSW;
  } catch {
    return null;
  }
}

export interface GrowTask {
  shared: SharedRows;
  /** The graph in use, which gets the new points; null: build a new graph. */
  from: string | null;
  to: string;
  /** Two i32: stop if nonzero; 1 while this works, so that the owner knows when the file is complete. */
  flags: SharedArrayBuffer;
}

export interface GrownGraph {
  labels: Bitmap;
  /** Number of rows left out because they equal others. */
  left: number;
  sha256: string;
}

/** Write a graph of all rows. Null if stopped, or without the package. Errors: file system errors. */
export async function growGraph({ flags, ...task }: GrowTask): Promise<GrownGraph | null> {
  const state = new Int32Array(flags);
  Atomics.store(state, 1, 1);
  try {
    return await grow(task, () => Atomics.load(state, 0) !== 0);
  } finally {
    Atomics.store(state, 1, 0);
    Atomics.notify(state, 1);
  }
}

async function grow(
  { shared, from, to }: Omit<GrowTask, 'flags'>,
  isStopped: () => boolean,
): Promise<GrownGraph | null> {
  const Graph = isStopped() ? null : await graphPackage();
  if (Graph === null) return null;
  const rows = new VectorRows(shared);
  const count = rows.seen();
  const graph = new Graph('ip', rows.dim);
  if (from === null) {
    graph.initIndex({ maxElements: Math.max(1, count), m: M, efConstruction: EF_CONSTRUCTION, randomSeed: seed });
  } else graph.readIndexSync(from);
  const inGraph = new Set(from === null ? [] : graph.getIdsList());
  if (from !== null) graph.resizeIndex(Math.max(graph.getMaxElements(), inGraph.size + count));
  const equals = new Map<number, number>();
  let left = 0;
  for (let row = 0; row < count; row++) {
    if (row % stopEvery === 0 && isStopped()) return null;
    const label = rows.labelOf(row);
    if (label === NO_LABEL) continue;
    const hash = rows.hashOf(row);
    const equal = equals.get(hash) ?? 0;
    equals.set(hash, equal + 1);
    if (inGraph.has(label)) continue;
    if (equal >= mostEqual) left++;
    else {
      graph.addPoint(Array.from(rows.vectorOf(row)), label);
      inGraph.add(label);
    }
  }
  // Not the asynchronous method: it does not protect the graph from garbage collection.
  graph.writeIndexSync(to);
  const labels = new GrowingBitmap();
  for (const label of inGraph) labels.add(label);
  return { labels: labels.set, left, sha256: await sha256Of(to) };
}
