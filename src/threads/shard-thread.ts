/**
 * Entry of the vector shard threads: a pinned thread has one shard of every vector space, named `namespace/space`. Tasks run one at a
 * time in order (thread-pool.ts), called by src/engine/vectors/vector-space.ts. Errors lose their class between threads, so expected
 * ones are values: `lost` means that this thread never opened the space or was replaced; the owner then reloads it. The owner checks
 * arguments; what could corrupt rows is checked again here.
 */
import { type BadRow, findBadRows } from '../compute/embedding/bad-rows.ts';
import { type Bitmap, hasBit } from '../compute/structures/bitmap.ts';
import type { ScoredLabels } from '../compute/structures/top-k.ts';
import {
  type CandidateRows,
  type CandidateSearch,
  Shard,
  type ShardSearch,
  type ShardStats,
} from '../engine/vectors/shard.ts';
import { type FileToLoad, loadRows, saveRows } from '../engine/vectors/shard-files.ts';
import { MAX_DIM, NO_LABEL } from '../engine/vectors/vector-rows.ts';

export type Reply<Value> = { lost: false; value: Value } | { lost: true };

interface Space {
  space: string;
}

export interface LoadReport {
  /** Why the file is not used; null if it is, or was not requested. */
  fault: string | null;
  labels: Uint32Array;
  /** Labels of the file outside of `keep`. */
  dropped: number;
}

export interface KeptLabels {
  labels: Bitmap;
  /** A label is in shard `label % shards`. */
  shard: number;
  shards: number;
}

const shards = new Map<string, Shard>();

/**
 * Open a space's shard from its file if sound, else empty; replaces an earlier one. Drops labels outside of `keep` in the same task, so
 * no search finds forgotten ones.
 */
export function open({
  space,
  dim,
  keep,
  rows,
}: Space & { dim: number; keep: KeptLabels; rows: FileToLoad | null }): LoadReport {
  if (!Number.isInteger(dim) || dim < 1 || dim > MAX_DIM) throw new RangeError(`a vector of ${dim} dimensions`);
  release({ space });
  const loaded = rows === null ? undefined : loadRows(dim, rows);
  const fault = typeof loaded === 'string' ? loaded : null;
  const shard = new Shard(dim, typeof loaded === 'string' ? undefined : loaded);
  const obsolete = shard.rows.liveLabels().filter((label) => !isKept(keep, label));
  const dropped = shard.remove(obsolete);
  shards.set(space, shard);
  return { fault, labels: shard.rows.liveLabels(), dropped };
}

function isKept({ labels, shard, shards: count }: KeptLabels, label: number): boolean {
  return label % count === shard && hasBit(labels, label);
}

export interface AddReport {
  added: number;
  bad: BadRow[];
}

/** All or none: bad rows are listed and nothing is stored. Existing labels are skipped. */
export function add({
  space,
  labels,
  vectors,
}: Space & { labels: Uint32Array; vectors: Float32Array }): Reply<AddReport> {
  return withShard(space, (shard) => {
    const bad = findBadRows(vectors, shard.dim, labels.length);
    if (labels.includes(NO_LABEL)) throw new RangeError(`label ${NO_LABEL} is reserved`);
    const added = bad.length === 0 ? shard.add(labels, vectors) : 0;
    return { added, bad };
  });
}

/** Returns how many existed. */
export function remove({ space, labels }: Space & { labels: Uint32Array }): Reply<number> {
  return withShard(space, (shard) => shard.remove(labels));
}

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

/** As of `Shard.tidy`. */
export function tidy({ space }: Space): Reply<boolean> {
  return withShard(space, (shard) => shard.tidy());
}

export function compact({ space }: Space): Reply<null> {
  return withShard(space, (shard) => {
    if (shard.rows.count > shard.rows.live) shard.compact();
    return null;
  });
}

/** Write rows to a new path; returns the SHA-256 in hex. */
export function save({ space, path }: Space & { path: string }): Reply<string> {
  return withShard(space, ({ rows }) => saveRows(rows, path));
}

export function stats({ space }: Space): Reply<ShardStats> {
  return withShard(space, (shard) => shard.stats());
}

export function release({ space }: Space): void {
  shards.delete(space);
}

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
