/**
 * The neighbour graph (HNSW) of a large space, by the optional package `hnswlib-node`: building it, and its file. Labels are those of the
 * rows; vectors are the rounded rows. Without the package every search is exact.
 *
 * The package's calls are not safe beside each other, so a graph belongs to one thread, and is read only after its file was checked: a
 * damaged one ends the process.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { HierarchicalNSW } from 'hnswlib-node';
import { type SharedRows, VectorRows } from './vector-rows.ts';

/** Links of a node, and candidates looked at for them: docs/decisions/vector-index.md. */
const M = 16;
const EF_CONSTRUCTION = 150;
const seed = 42;
/** Equal vectors beyond these stay out: a cluster of them has no way out. They are compared one by one. */
const mostEqual = 3;
/** Points between two looks whether to stop: some ms. */
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
  /** The graph to add to; null: a new one. */
  from: string | null;
  to: string;
  /** Nonzero: stop. */
  stop: SharedArrayBuffer;
}

export interface GrownGraph {
  /** Labels in it. */
  count: number;
  /** Rows that stay out, as equal to others. */
  left: number;
  sha256: string;
}

/** Write a graph of all rows; null if stopped, or without the package. Errors: file system errors. */
export async function growGraph({ shared, from, to, stop }: GrowTask): Promise<GrownGraph | null> {
  const Graph = await graphPackage();
  if (Graph === null) return null;
  const rows = new VectorRows(shared);
  const count = rows.seen();
  const graph = new Graph('ip', rows.dim);
  if (from === null)
    graph.initIndex({ maxElements: Math.max(1, count), m: M, efConstruction: EF_CONSTRUCTION, randomSeed: seed });
  else await graph.readIndex(from);
  const inGraph = new Set(from === null ? [] : graph.getIdsList());
  if (from !== null) graph.resizeIndex(Math.max(graph.getMaxElements(), inGraph.size + count));
  const stopped = new Int32Array(stop);
  const equals = new Map<number, number>();
  let left = 0;
  for (let row = 0; row < count; row++) {
    if (row % stopEvery === 0 && Atomics.load(stopped, 0) !== 0) return null;
    const label = rows.labelOf(row);
    if (!rows.isLive(row)) continue;
    const hash = rows.hashOf(row);
    const equal = equals.get(hash) ?? 0;
    equals.set(hash, equal + 1);
    if (inGraph.has(label)) continue;
    if (equal >= mostEqual) left++;
    else graph.addPoint(Array.from(rows.vectorOf(row)), label);
  }
  await graph.writeIndex(to);
  return { count: graph.getCurrentCount(), left, sha256: await sha256Of(to) };
}

export async function isIntact({ path, sha256 }: { path: string; sha256: string }): Promise<boolean> {
  return (await sha256Of(path).catch(() => null)) === sha256;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(piece);
  return hash.digest('hex');
}
