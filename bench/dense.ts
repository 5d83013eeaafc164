/**
 * Measures a vector space as the service runs it, on real threads and files: adds until searchable, searches with the way to the threads and back,
 * recall@100 against double precision, memory, saving, loading; then the same search of one shard's rows in this process.
 * Prints one JSON object.
 * `node --import ./scripts/tsx-in-threads.mjs bench/dense.ts [rows] [dim]` (workload seed 42), or with vectors of one's own, f32 one after the other:
 * `node --import ./scripts/tsx-in-threads.mjs bench/dense.ts rows dim vectors.f32 queries.f32`.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addBitRange, createBitmap } from '../src/compute/structures/bitmap.ts';
import { TopK } from '../src/compute/structures/top-k.ts';
import { openDots, plainDots } from '../src/engine/vectors/dot-kernel.ts';
import { offerNearest } from '../src/engine/vectors/nearest-rows.ts';
import { VectorRows } from '../src/engine/vectors/vector-rows.ts';
import { type ShardTasks, VectorSpace } from '../src/engine/vectors/vector-space.ts';
import { openThreadPool } from '../src/threads/thread-pool.ts';
import { describeMachine } from './machine.ts';
import { openWorkload } from './workload.ts';

const SEED = 42;
const SHARDS = 2;
const TOP = 100;
const QUERIES = 300;
/** Queries whose true nearest are computed: 100,000 × 1,024 products each take 0.1 s. */
const JUDGED = 50;
const BATCH = 500;

const rowsAsked = Number(process.argv[2] ?? 10_000);
const dim = Number(process.argv[3] ?? 100);
const [vectorsFile, queriesFile] = process.argv.slice(4);

const { vectors, queries } = vectorsFile === undefined ? synthetic() : fromFiles(vectorsFile, queriesFile);
const rows = vectors.length / dim;
const truths = queries.slice(0, JUDGED).map((query) => nearest(query));
const labels = Uint32Array.from({ length: rows }, (_, row) => row);

const dir = await mkdtemp(join(tmpdir(), 'readback-bench-'));
const entry = new URL('../src/threads/shard-thread.ts', import.meta.url);
const shards = Array.from({ length: SHARDS }, (_, number) =>
  openThreadPool<ShardTasks>({ entry, name: `shard-${number}`, threads: 1, maxQueue: 10_000 }),
);
const report = (fields: object, message: string) => console.error(message, fields);
const log = { info: () => undefined, warn: report, error: report };
const options = {
  modelId: 'bench',
  dim,
  dir,
  storeId: 'bench',
  shards,
  namespace: 'bench',
  log,
  onMissing: () => undefined,
};
try {
  const live = createBitmap(rows);
  const { space } = await VectorSpace.open(options, live);
  for (const query of queries) await space.search(query, 1);
  const rssBefore = residentMb();

  const cpu = process.cpuUsage();
  const addS = await secondsOf(async () => {
    for (let from = 0; from < rows; from += BATCH) {
      const to = Math.min(rows, from + BATCH);
      await space.add(labels.subarray(from, to), vectors.subarray(from * dim, to * dim));
    }
  });
  const addCpuS = cpuSeconds(cpu);
  await space.settled();
  const search = await timeSearches(space);
  const stats = await space.stats();
  const rssMb = residentMb() - rssBefore;
  const saveS = await secondsOf(() => space.save());
  const fileMb = await folderMb();
  await space.close();
  addBitRange(live, 0, rows);
  let missing = 0;
  let reopened: VectorSpace | undefined;
  const loadS = await secondsOf(async () => {
    const opened = await VectorSpace.open(options, live);
    reopened = opened.space;
    missing = opened.missing.length;
  });
  if (missing > 0) throw new Error(`${missing} labels are missing after a restart`);
  await reopened?.drop();

  console.log(
    JSON.stringify(
      {
        bench: 'dense',
        seed: vectorsFile === undefined ? SEED : null,
        vectors: vectorsFile ?? 'workload',
        rows,
        dim,
        shards: SHARDS,
        machine: describeMachine(),
        add: { perS: Math.round(rows / addS), cpuS: addCpuS },
        search,
        space: { ...stats, rssMb: Math.round(rssMb), fileMb },
        save: { s: round(saveS) },
        load: { s: round(loadS) },
        oneShard: searchOneShard(),
      },
      null,
      2,
    ),
  );
} finally {
  await Promise.all(shards.map((pool) => pool.close()));
  await rm(dir, { recursive: true, force: true });
}

function synthetic(): { vectors: Float32Array; queries: Float32Array[] } {
  const workload = openWorkload({ seed: SEED, dim });
  const made = new Float32Array(rowsAsked * dim);
  for (let row = 0; row < rowsAsked; row++) made.set(workload.chunkVector(row), row * dim);
  return { vectors: made, queries: Array.from({ length: QUERIES }, (_, number) => workload.queryVector(number)) };
}

function fromFiles(vectorsPath: string, queriesPath: string): { vectors: Float32Array; queries: Float32Array[] } {
  const read = (path: string) => {
    const { buffer, byteOffset, byteLength } = readFileSync(path);
    return new Float32Array(buffer, byteOffset, byteLength / 4);
  };
  const asked = read(queriesPath);
  const count = Math.min(QUERIES, asked.length / dim);
  const step = Math.floor(asked.length / dim / count);
  return {
    vectors: read(vectorsPath).subarray(0, rowsAsked * dim),
    queries: Array.from({ length: count }, (_, i) => asked.slice(i * step * dim, (i * step + 1) * dim)),
  };
}

/** The TOP nearest rows of a query in double precision. */
function nearest(query: Float32Array, among = vectors.length / dim): Set<number> {
  const top = new TopK(new Float32Array(TOP));
  for (let row = 0; row < among; row++) {
    let dot = 0;
    let squares = 0;
    for (let i = 0, at = row * dim; i < dim; i++, at++) {
      dot += query[i] * vectors[at];
      squares += vectors[at] * vectors[at];
    }
    top.offer(row, dot / Math.sqrt(squares));
  }
  return new Set(top.take().labels);
}

async function timeSearches(space: VectorSpace): Promise<object> {
  const times: number[] = [];
  let recall = 0;
  for (const [number, query] of queries.entries()) {
    const started = performance.now();
    const found = await space.search(query, TOP);
    times.push(performance.now() - started);
    if (number < JUDGED) recall += recallOf(found.labels, truths[number]) / JUDGED;
  }
  return { ...percentiles(times), recallAt100: round(recall) };
}

/** The rows of one shard, without threads. */
function searchOneShard(): object {
  const count = Math.floor(rows / SHARDS);
  const store = new VectorRows(dim);
  const appendS = secondsOfSync(() => {
    for (let row = 0; row < count; row++) store.append(row, vectors, row * dim);
  });
  const judged = queries.slice(0, JUDGED);
  const expected = judged.map((query) => nearest(query, count));
  const everyRow = labels.subarray(0, count);
  const measure = () => {
    let recall = 0;
    const times = judged.map((query, i) => {
      const started = performance.now();
      store.setQuery(query);
      const top = new TopK(new Float32Array(TOP));
      offerNearest(store, everyRow, { minScore: -1, rough: false }, top);
      const ms = performance.now() - started;
      recall += recallOf(top.take().labels, expected[i]) / judged.length;
      return ms;
    });
    return { ...percentiles(times), recallAt100: round(recall) };
  };
  measure();
  return { rows: count, appendPerS: Math.round(count / appendS), kernel: timeKernels(), ...measure() };
}

/** Nanoseconds per row of 1,024 components that lie in the cache. */
function timeKernels(): object {
  const memory = new WebAssembly.Memory({ initial: 20 });
  const addresses = new Uint32Array(memory.buffer, 20_000, 1000).map((_, i) => 65_536 + i * 1024);
  new Uint32Array(memory.buffer, 20_000, 1000).set(addresses);
  const nsPerRow = (open: typeof openDots) => {
    const dots = open(memory);
    const times = Array.from({ length: 50 }, () => secondsOfSync(() => dots(20_000, 1000, 1024, 0, 30_000)));
    return round((times.sort((a, b) => a - b)[25] * 1e9) / 1000);
  };
  return { simdNsPerRow: nsPerRow(openDots), plainNsPerRow: nsPerRow(plainDots) };
}

function recallOf(found: Uint32Array, truth: Set<number>): number {
  return found.filter((label) => truth.has(label)).length / truth.size;
}

function percentiles(times: number[]): { p50Ms: number; p95Ms: number } {
  const sorted = [...times].sort((a, b) => a - b);
  return { p50Ms: round(sorted[sorted.length >> 1]), p95Ms: round(sorted[Math.floor(sorted.length * 0.95)]) };
}

async function secondsOf(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1000;
}

function secondsOfSync(run: () => void): number {
  const started = performance.now();
  run();
  return (performance.now() - started) / 1000;
}

/** Of all threads. */
function cpuSeconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return round((user + system) / 1e6);
}

function residentMb(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}

async function folderMb(): Promise<number> {
  const sizes = await Promise.all((await readdir(dir)).map(async (name) => (await stat(join(dir, name))).size));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20);
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
