/**
 * For the tests of vector spaces: real spaces in temporary folders on real pinned threads, the vectors of labels (the same
 * for a label everywhere, as in the store), and the nearest of them in double precision.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../../src/compute/seeded-random.ts';
import { addBit, type Bitmap, createBitmap } from '../../../src/compute/structures/bitmap.ts';
import { Searchers } from '../../../src/engine/searchers.ts';
import { graphPackage } from '../../../src/engine/vectors/graph-file.ts';
import { type RowTasks, VectorSpace, type VectorSpaceOptions } from '../../../src/engine/vectors/vector-space.ts';
import { programFile } from '../../../src/files/program-files.ts';
import { openThreadPool, type ThreadPool } from '../../../src/threads/thread-pool.ts';
import { compiledEntry } from '../../app/compiled.ts';

export const DIM = 24;

type SearchTasks = typeof import('../../../src/threads/search-thread.ts');

/** Searcher threads and a work thread. */
export interface SpaceThreads<Tasks extends SearchTasks = SearchTasks> {
  searchers: ThreadPool<Tasks>[];
  worker: ThreadPool<RowTasks>;
  close(): Promise<unknown>;
}

export function openSpaceThreads<Tasks extends SearchTasks = SearchTasks>(
  entry = programFile('threads/search-thread'),
): SpaceThreads<Tasks> {
  const pinned = { threads: 1, maxQueue: 1000, uninterrupted: true };
  const searchers = [0, 1].map((number) =>
    openThreadPool<Tasks>({
      ...pinned,
      entry,
      name: `searcher-${number}`,
      tasksPerThread: 16,
      data: { wordList: null },
    }),
  );
  const worker = openThreadPool<RowTasks>({ ...pinned, entry: programFile('threads/work-thread'), name: 'rows' });
  return { searchers, worker, close: () => Promise.all([...searchers, worker].map((pool) => pool.close())) };
}

/** Searchers that can be told to end. */
export async function openMortalThreads(): Promise<SpaceThreads<typeof import('./mortal-search-thread.ts')>> {
  return openSpaceThreads(await compiledEntry(new URL('./mortal-search-thread.ts', import.meta.url)));
}

export interface SpaceFixture extends AsyncDisposable {
  options: VectorSpaceOptions;
  /** What was logged as a warning or an error. */
  warnings: object[];
}

let models = 0;

/** Options of a space in a folder of its own. */
export async function spaceFixture(
  { searchers: pools, worker }: SpaceThreads,
  changes: Partial<VectorSpaceOptions> = {},
): Promise<SpaceFixture> {
  const dir = await mkdtemp(join(tmpdir(), 'readback-space-'));
  const warnings: object[] = [];
  const warn = (fields: object) => {
    warnings.push(fields);
  };
  const log = { info: () => undefined, warn, error: warn };
  models++;
  const options: VectorSpaceOptions = {
    modelId: `model-${models}`,
    dim: DIM,
    dir,
    storeId: 'store-1',
    searchers: new Searchers(pools, `space-${models}`, log),
    worker,
    log,
    ...changes,
  };
  return { options, warnings, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

/** A space that held `labels`, and was closed. */
export async function savedSpace(
  threads: SpaceThreads,
  labels: Uint32Array,
  changes: Partial<VectorSpaceOptions> = {},
): Promise<SpaceFixture> {
  const made = await spaceFixture(threads, changes);
  const { space } = await VectorSpace.open(made.options, createBitmap(0));
  await space.add(labels, vectorsOf(labels));
  await space.close();
  return made;
}

export function range(from: number, to: number): Uint32Array {
  return Uint32Array.from({ length: to - from }, (_, i) => from + i);
}

export function setOf(labels: Iterable<number>): Bitmap {
  const all = [...labels];
  const set = createBitmap(Math.max(-1, ...all) + 1);
  for (const label of all) addBit(set, label);
  return set;
}

/** The vector of a label: near one of 16 centres. */
export function vectorOf(label: number, dim = DIM): Float32Array {
  const centre = noise(label % 16);
  const own = noise(label + 1000);
  return Float32Array.from({ length: dim }, () => centre() + own());
}

export function vectorsOf(labels: Iterable<number>, dim = DIM): Float32Array {
  const all = [...labels];
  const vectors = new Float32Array(all.length * dim);
  all.forEach((label, i) => {
    vectors.set(vectorOf(label, dim), i * dim);
  });
  return vectors;
}

/** The k nearest labels to a vector and their cosines, in double precision. */
export function nearest(query: Float32Array, labels: Iterable<number>, k: number): { label: number; score: number }[] {
  return [...labels]
    .map((label) => ({ label, score: cosine(query, vectorOf(label, query.length)) }))
    .sort((a, b) => b.score - a.score || a.label - b.label)
    .slice(0, k);
}

/** Share of the true labels that were found. */
export function recall(found: Uint32Array, truth: readonly { label: number }[]): number {
  const labels = new Set(found);
  return truth.filter(({ label }) => labels.has(label)).length / truth.length;
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i] * b[i];
    squaresA += a[i] * a[i];
    squaresB += b[i] * b[i];
  }
  return dot / Math.sqrt(squaresA * squaresB);
}

/** Numbers about 0, the same for the same seed. */
function noise(seed: number): () => number {
  const uniform = seededRandom(Math.imul(seed + 1, 0x9e3779b1) ^ 0x5bd1e995);
  return () => uniform() + uniform() + uniform() - 1.5;
}

/** For tests of graphs: their package is optional. */
export const needsGraphs = {
  skip: (await graphPackage()) === null ? 'the optional package hnswlib-node is not installed' : false,
};
