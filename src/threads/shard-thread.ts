/**
 * Thread entry of the vector shards: one pinned thread holds one shard of every vector space of every namespace, as `namespace/space`. Its tasks
 * are the exported functions, run one at a time in the order given (thread-pool.ts); src/engine/vectors/vector-space.ts calls them.
 * Errors lose their class between threads, so what callers are meant to tell apart is a value: `lost` says that this thread
 * does not know the space, because it never opened it or has been replaced since; the owner then loads it again.
 * Arguments come from the owner, which is the border for callers; what hnswlib could trip over is checked here once more.
 */
import { type BadRow, findBadRows } from '../compute/embedding/bad-rows.ts';
import { type Bitmap, hasBit } from '../compute/structures/bitmap.ts';
import type { ScoredLabels } from '../compute/structures/top-k.ts';
import { GraphChain } from '../engine/vectors/graph-chain.ts';
import { graphPathOf } from '../engine/vectors/hnsw-file.ts';
import {
  type CandidateRows,
  type CandidateSearch,
  Shard,
  type ShardSearch,
  type ShardStats,
  type Upkeep,
} from '../engine/vectors/shard.ts';
import {
  type FileToLoad,
  type GraphToLoad,
  loadGraphs,
  loadRows,
  saveGraph,
  saveRows,
} from '../engine/vectors/shard-files.ts';
import { graphLibraryFault } from '../engine/vectors/shard-graph.ts';
import { MAX_DIM, NO_LABEL } from '../engine/vectors/vector-rows.ts';

export type Reply<Value> = { lost: false; value: Value } | { lost: true };

interface Space {
  space: string;
}

export interface LoadReport {
  /** What was wrong with a file that is not used; null if it is, or was not asked for. */
  rowsFault: string | null;
  graphFault: string | null;
  /** Why the shard has no graph though it is large enough for one. */
  noGraph: string | null;
  /** Live labels of the shard. */
  labels: Uint32Array;
  /** Labels of the files that were not to be kept. */
  dropped: number;
}

/** What a shard may hold: those of `labels` that belong to it. */
export interface KeptLabels {
  labels: Bitmap;
  /** A label is in shard `label % shards`. */
  shard: number;
  shards: number;
}

const shards = new Map<string, Shard>();
const now = () => performance.now();

/**
 * Open a space's shard: from its files where they are sound, else empty. Replaces what this thread had under the id.
 * What the files hold beyond `keep` goes in this same task, so that no search comes between and finds what was forgotten.
 * A fault of the rows is one of both: a graph means nothing without its rows.
 */
export function open({
  space,
  dim,
  graphFromRows,
  rowsPerGraph,
  keep,
  rows,
  graphs,
}: Space & {
  dim: number;
  graphFromRows: number;
  rowsPerGraph: number;
  keep: KeptLabels;
  rows: FileToLoad | null;
  graphs: readonly GraphToLoad[];
}): LoadReport {
  if (!Number.isInteger(dim) || dim < 1 || dim > MAX_DIM) throw new RangeError(`a vector of ${dim} dimensions`);
  release({ space });
  const loadedRows = rows === null ? null : loadRows(dim, rows);
  const rowsFault = typeof loadedRows === 'string' ? loadedRows : null;
  const sound = loadedRows === null || typeof loadedRows === 'string' ? undefined : loadedRows;
  const isLoadable = sound !== undefined && graphs.length > 0 && graphLibraryFault() === null;
  const loadedGraphs = isLoadable ? loadGraphs(sound, graphs) : [];
  const graphFault = typeof loadedGraphs === 'string' ? loadedGraphs : null;
  const soundGraphs = typeof loadedGraphs === 'string' ? [] : loadedGraphs;
  const chain = soundGraphs.length === 0 ? undefined : new GraphChain(dim, rowsPerGraph, soundGraphs);
  const shard = new Shard({ dim, graphFromRows, rowsPerGraph, now }, sound, chain);
  const obsolete = shard.rows.liveLabels().filter((label) => !isKept(keep, label));
  const dropped = shard.remove(obsolete);
  shards.set(space, shard);
  return { rowsFault, graphFault, noGraph: shard.graphFault, labels: shard.rows.liveLabels(), dropped };
}

function isKept({ labels, shard, shards: count }: KeptLabels, label: number): boolean {
  return label % count === shard && hasBit(labels, label);
}

export interface AddReport {
  added: number;
  bad: BadRow[];
  /** Rows that a graph should have and has not. */
  behind: number;
  noGraph: LoadReport['noGraph'];
}

/** Add rows, all or none: if any is bad, they are listed and nothing is stored. Labels that are present are passed over. */
export function add({
  space,
  labels,
  vectors,
}: Space & { labels: Uint32Array; vectors: Float32Array }): Reply<AddReport> {
  return withShard(space, (shard) => {
    const bad = findBadRows(vectors, shard.dim, labels.length);
    if (labels.includes(NO_LABEL)) throw new RangeError(`label ${NO_LABEL} is reserved`);
    const added = bad.length === 0 ? shard.add(labels, vectors) : 0;
    return { added, bad, behind: shard.behind, noGraph: shard.graphFault };
  });
}

/** Remove labels; gives how many were present. */
export function remove({ space, labels }: Space & { labels: Uint32Array }): Reply<number> {
  return withShard(space, (shard) => shard.remove(labels));
}

/** The k nearest live labels to each vector. */
export function search({
  space,
  vectors,
  ...search
}: Space & { vectors: readonly Float32Array[] } & Omit<ShardSearch, 'vector'>): Reply<ScoredLabels<Float32Array>[]> {
  return withShard(space, (shard) => {
    for (const vector of vectors) refuseBadQuery(vector, shard.dim);
    return vectors.map((vector) => shard.search({ vector, ...search }));
  });
}

/** As of `Shard.candidates`. */
export function candidates({ space, ...search }: Space & CandidateSearch): Reply<CandidateRows> {
  return withShard(space, (shard) => {
    for (const vector of search.vectors) refuseBadQuery(vector, shard.dim);
    return shard.candidates(search);
  });
}

/** A slice of background work. */
export function maintain({ space, budgetMs }: Space & { budgetMs: number }): Reply<Upkeep> {
  return withShard(space, (shard) => shard.maintain(budgetMs));
}

/** Drop all deleted rows now. */
export function compact({ space }: Space): Reply<null> {
  return withShard(space, (shard) => {
    if (shard.rows.count > shard.rows.live) shard.compact();
    return null;
  });
}

/** What was written, with SHA-256 in hex. */
export interface SaveReport {
  rowsSha256: string;
  /** In the order of their rows; none if there is no graph. */
  graphs: { sha256: string; covered: number }[];
}

/** Write the shard's files to paths that do not exist: of several graphs the path of the first (`graphPathOf`). */
export function save({
  space,
  rowsPath,
  graphPath,
}: Space & { rowsPath: string; graphPath: string }): Reply<SaveReport> {
  return withShard(space, ({ rows, graph }) => {
    const rowsSha256 = saveRows(rows, rowsPath);
    const graphs = (graph?.graphs ?? []).map((each, number) => ({
      sha256: saveGraph(each, rows, graphPathOf(graphPath, number)),
      covered: each.covered,
    }));
    return { rowsSha256, graphs };
  });
}

export function stats({ space }: Space): Reply<ShardStats> {
  return withShard(space, (shard) => shard.stats());
}

/** Forget the space and free its memory. */
export function release({ space }: Space): void {
  shards.get(space)?.graph?.dispose();
  shards.delete(space);
}

/** Forget all spaces of a namespace. */
export function releaseNamespace({ namespace }: { namespace: string }): void {
  for (const space of shards.keys()) if (space.startsWith(`${namespace}/`)) release({ space });
}

function withShard<Value>(space: string, run: (shard: Shard) => Value): Reply<Value> {
  const shard = shards.get(space);
  return shard === undefined ? { lost: true } : { lost: false, value: run(shard) };
}

function refuseBadQuery(vector: Float32Array, dim: number): void {
  const [bad] = findBadRows(vector, dim, 1);
  if (bad !== undefined) throw new RangeError(`the query's vector cannot be used: ${bad.reason}`);
}
