/**
 * Measures a vector space as the service runs it, on real threads and files: adds until searchable, searches with the way to the thread and back,
 * recall@10 and @100 against double precision, memory, saving, loading; then the same search in this process.
 * Prints one JSON object.
 * `node --import ./scripts/tsx-in-threads.mjs bench/dense.ts [rows] [dim]` uses the workload's clusters. With `--vectors <folder>` the vectors
 * are those of NAME.docs.f32 and NAME.queries.f32 there (float32 rows of `dim`). Where they are fewer than `rows`, the rest is made of them:
 * weighted means of two or three rows of one collection, with noise.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { addBitRange, createBitmap } from '../src/compute/structures/bitmap.ts';
import { TopK } from '../src/compute/structures/top-k.ts';
import { Searchers } from '../src/engine/searchers.ts';
import { openDots, plainDots } from '../src/engine/vectors/dot-kernel.ts';
import { nearestTo } from '../src/engine/vectors/row-search.ts';
import { VectorRows } from '../src/engine/vectors/vector-rows.ts';
import { type RowTasks, VectorSpace } from '../src/engine/vectors/vector-space.ts';
import { MAX_PAGES } from '../src/engine/vectors/wasm-module.ts';
import { openThreadPool } from '../src/threads/thread-pool.ts';
import { describeMachine } from './machine.ts';
import { gaussians, openWorkload, randomStream } from './workload.ts';

const SEED = 42;
const TOP = 100;
const QUERIES = 300;
/** Queries whose true nearest are computed: 100,000 × 384 products each take 0.04 s. */
const JUDGED = 150;
const BATCH = 500;
/** Per dimension, of made rows: a made row then has a cosine of .987 with the mean that it is made of, at 384 dimensions. */
const NOISE = 0.008;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { vectors: { type: 'string' } } });
const rows = Number(positionals[0] ?? 10_000);
const dim = Number(positionals[1] ?? 384);

const { vectors, queries, ...source } = values.vectors === undefined ? clusters() : fromFolder(values.vectors);
const truths = queries.slice(0, JUDGED).map((query) => nearest(query));
const labels = Uint32Array.from({ length: rows }, (_, row) => row);

const dir = await mkdtemp(join(tmpdir(), 'readback-bench-'));
const pinned = { threads: 1, maxQueue: 10_000, uninterrupted: true };
const searcher = openThreadPool<typeof import('../src/threads/search-thread.ts')>({
  ...pinned,
  entry: new URL('../src/threads/search-thread.ts', import.meta.url),
  name: 'searcher',
  maxYoungMb: 8,
  data: { wordList: null },
});
const worker = openThreadPool<RowTasks>({
  ...pinned,
  entry: new URL('../src/engine/vectors/row-tasks.ts', import.meta.url),
  name: 'rows',
});
const report = (fields: object, message: string) => console.error(message, fields);
const log = { info: () => undefined, warn: report, error: report };
const options = {
  modelId: 'bench',
  dim,
  dir,
  storeId: 'bench',
  searchers: new Searchers([searcher], 'bench', log),
  worker,
  log,
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
  const stats = space.stats();
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
        seed: SEED,
        ...source,
        rows,
        dim,
        machine: describeMachine(),
        add: { perS: Math.round(rows / addS), cpuS: addCpuS },
        search,
        space: { ...stats, rssMb: Math.round(rssMb), fileMb },
        save: { s: round(saveS) },
        load: { s: round(loadS) },
        scan: scanHere(),
      },
      null,
      2,
    ),
  );
} finally {
  await Promise.all([searcher.close(), worker.close()]);
  await rm(dir, { recursive: true, force: true });
}

interface Source {
  vectors: Float32Array;
  queries: Float32Array[];
  from: string;
  /** Rows that come from the files; the others are made. */
  realRows: number;
}

function clusters(): Source {
  const workload = openWorkload({ seed: SEED, dim });
  const made = new Float32Array(rows * dim);
  for (let row = 0; row < rows; row++) made.set(workload.chunkVector(row), row * dim);
  const asked = Array.from({ length: QUERIES }, (_, number) => workload.queryVector(number));
  return { vectors: made, queries: asked, from: 'workload', realRows: 0 };
}

/** Queries are taken evenly from each collection, in an order that mixes the collections. */
function fromFolder(folder: string): Source {
  const read = (name: string) => {
    const { buffer, byteOffset, byteLength } = readFileSync(join(folder, name));
    return new Float32Array(buffer, byteOffset, byteLength / 4);
  };
  const names = readdirSync(folder).filter((name) => name.endsWith('.docs.f32'));
  const all = new Float32Array(rows * dim);
  const collections: { first: number; count: number }[] = [];
  let realRows = 0;
  for (const name of names) {
    const docs = read(name).subarray(0, (rows - realRows) * dim);
    all.set(docs, realRows * dim);
    const count = docs.length / dim;
    if (count > 0) collections.push({ first: realRows, count });
    realRows += count;
  }
  makeRows(all, realRows, collections);
  const perCollection = Math.ceil(QUERIES / names.length);
  const asked = names.map((name) => {
    const file = read(name.replace('.docs.', '.queries.'));
    const count = file.length / dim;
    const used = Math.min(count, perCollection);
    return Array.from({ length: used }, (_, i) => {
      const row = Math.floor((i * count) / used);
      return file.slice(row * dim, (row + 1) * dim);
    });
  });
  const mixed = Array.from({ length: perCollection }, (_, i) => asked.flatMap((each) => each.slice(i, i + 1))).flat();
  return { vectors: all, queries: mixed.slice(0, QUERIES), from: folder, realRows };
}

/** Fill the rows after the real ones. */
function makeRows(all: Float32Array, realRows: number, collections: { first: number; count: number }[]): void {
  const random = randomStream(SEED, 1, 0);
  for (let row = realRows; row < rows; row++) {
    const one = Math.floor(random() * realRows);
    const collection = collections.find(({ first, count }) => one < first + count) ?? collections[0];
    const made = new Float32Array(dim);
    for (let parts = random() < 0.5 ? 2 : 3; parts > 0; parts--) {
      const part = (collection.first + Math.floor(random() * collection.count)) * dim;
      const weight = 0.3 + random();
      for (let i = 0; i < dim; i++) made[i] += weight * all[part + i];
    }
    const noise = gaussians(random, dim);
    const length = Math.hypot(...made);
    for (let i = 0; i < dim; i++) made[i] = made[i] / length + NOISE * noise[i];
    const whole = Math.hypot(...made);
    all.set(
      made.map((value) => value / whole),
      row * dim,
    );
  }
}

/** The TOP nearest rows of a query in double precision, nearest first. */
function nearest(query: Float32Array, among = rows): Uint32Array {
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
  return top.take().labels;
}

async function timeSearches(space: VectorSpace): Promise<object> {
  const times: number[] = [];
  const found: Uint32Array[] = [];
  for (const query of queries) {
    const started = performance.now();
    const { labels: each } = await space.search(query, TOP);
    times.push(performance.now() - started);
    found.push(each);
  }
  return { ...percentiles(times), ...recalls(found, truths) };
}

/** The same rows, without threads. */
function scanHere(): object {
  const all = VectorRows.create(dim, rows);
  const appendS = secondsOfSync(() => {
    for (let row = 0; row < rows; row++) all.append(row, vectors, row * dim);
  });
  const search = (vector: Float32Array) => {
    all.setQuery(vector);
    return nearestTo(all, { k: TOP, minScore: -1 });
  };
  for (const query of queries) search(query);
  const times = queries.map((query) => 1000 * secondsOfSync(() => search(query)));
  return { appendPerS: Math.round(rows / appendS), kernel: timeKernels(), ...percentiles(times) };
}

/** Nanoseconds per row of 1,024 components that lie in the cache. */
function timeKernels(): object {
  const memory = new WebAssembly.Memory({ initial: 20, maximum: MAX_PAGES, shared: true });
  const addresses = new Uint32Array(memory.buffer, 20_000, 1000).map((_, i) => 65_536 + i * 1024);
  new Uint32Array(memory.buffer, 20_000, 1000).set(addresses);
  const nsPerRow = (open: typeof openDots) => {
    const dots = open(memory);
    const times = Array.from({ length: 50 }, () => secondsOfSync(() => dots(20_000, 1000, 1024, 0, 30_000)));
    return round((times.sort((a, b) => a - b)[25] * 1e9) / 1000);
  };
  return { simdNsPerRow: nsPerRow(openDots), plainNsPerRow: nsPerRow(plainDots) };
}

/** Mean over the judged queries. */
function recalls(found: readonly Uint32Array[], truth: readonly Uint32Array[]): object {
  const recall = (k: number) => {
    const shares = truth.map((labels, query) => {
      const wanted = new Set(labels.subarray(0, k));
      return found[query].subarray(0, k).filter((label) => wanted.has(label)).length / wanted.size;
    });
    return round(shares.reduce((sum, share) => sum + share, 0) / shares.length);
  };
  return { recallAt10: recall(10), recallAt100: recall(TOP) };
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
