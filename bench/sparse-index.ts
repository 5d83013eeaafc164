/**
 * Measures the sparse index as the service runs it, on real threads and files: pages of 5 chunks modelled on work threads and
 * added by many callers at once, how long an add takes to become searchable, searches meanwhile and afterwards (with the way
 * to the thread and back), saving, and starting again. Prints one JSON object.
 * `node --import ./scripts/tsx-in-threads.mjs bench/sparse-index.ts [chunks]` (workload seed 42)
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addBitRange, createBitmap } from '../src/compute/structures/bitmap.ts';
import { Searchers } from '../src/engine/searchers.ts';
import { SparseIndex } from '../src/engine/words/sparse-index.ts';
import { openThreadPool } from '../src/threads/thread-pool.ts';
import { buildSegment } from '../test/engine/words/small-corpus.ts';
import { describeMachine } from './machine.ts';
import { openWorkload } from './workload.ts';

const SEED = 42;
const CHUNKS_PER_PAGE = 5;
const PAGES_AT_ONCE = 64;
const QUERIES = 300;
const TOP = 100;

const chunks = Number(process.argv[2] ?? 100_000);
const workload = openWorkload({ seed: SEED });
const entry = (name: string) => new URL(`../src/${name}.ts`, import.meta.url);
const pools = [0, 1].map((number) =>
  openThreadPool<typeof import('../src/threads/search-thread.ts')>({
    entry: entry('threads/search-thread'),
    name: `searcher ${number}`,
    threads: 1,
    maxQueue: 10_000,
    data: { wordList: null },
  }),
);
const worker = openThreadPool<typeof import('../src/engine/words/segment-tasks.ts')>({
  entry: entry('engine/words/segment-tasks'),
  name: 'work',
  threads: 1,
  maxQueue: 10_000,
});
const log = {
  info: () => undefined,
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
};
const dir = await mkdtemp(join(tmpdir(), 'readback-bench-'));
const searchers = new Searchers(pools, 'bench', log);
const options = { dir, storeId: 'bench', searchers, worker, log };

try {
  const live = createBitmap(chunks);
  const { index } = await SparseIndex.open(options, live);
  const added = await timeAdds(index);
  const during = index.stats();
  const consolidateMs = await timeOf(() => index.consolidate());
  const search = await timeSearches();
  const saved = index.stats();
  const closeMs = await timeOf(() => index.close());
  addBitRange(live, 0, chunks);
  const openStarted = performance.now();
  const reopened = await SparseIndex.open(options, live);
  const openMs = performance.now() - openStarted;
  if (reopened.missing.length > 0) throw new Error(`${reopened.missing.length} labels are missing after a restart`);
  console.log(
    JSON.stringify({
      seed: SEED,
      machine: describeMachine(),
      chunks,
      ...added,
      segments_after_adds: during.segments,
      consolidate_and_save_ms: Math.round(consolidateMs),
      segments: saved.segments,
      mb: Math.round(saved.bytes / 1e6),
      search_round_trip_ms: search,
      close_ms: Math.round(closeMs),
      open_ms: Math.round(openMs),
    }),
  );
} finally {
  await Promise.all([...pools, worker].map((pool) => pool.close()));
  await rm(dir, { recursive: true });
}

/** Add all pages with PAGES_AT_ONCE callers; modelling happens here, on the main thread, and is timed apart. */
async function timeAdds(index: SparseIndex) {
  const waits: number[] = [];
  let modelMs = 0;
  let next = 0;
  const started = performance.now();
  async function caller(): Promise<void> {
    while (next < chunks) {
      const first = next;
      next += CHUNKS_PER_PAGE;
      const modelStarted = performance.now();
      const { buffer } = buildSegment(
        Array.from({ length: CHUNKS_PER_PAGE }, (_, i) => ({
          title: [],
          section: [],
          body: workload.chunkWords(first + i),
        })),
      );
      const handed = performance.now();
      modelMs += handed - modelStarted;
      await index.add(
        buffer,
        Uint32Array.from({ length: CHUNKS_PER_PAGE }, (_, i) => first + i),
      );
      waits.push(performance.now() - handed);
    }
  }
  await Promise.all(Array.from({ length: PAGES_AT_ONCE }, caller));
  const totalMs = performance.now() - started;
  return {
    add_chunks_per_s: Math.round(chunks / (totalMs / 1000)),
    share_spent_modelling: round(modelMs / totalMs),
    searchable_after_ms: percentiles(waits),
  };
}

async function timeSearches() {
  const times: number[] = [];
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < QUERIES; i++) {
      const { words } = workload.query(i);
      const started = performance.now();
      await pools[i % 2].run('find', {
        namespace: 'bench',
        query: words.join(' '),
        prefix: false,
        spelling: false,
        k: TOP,
        vectors: null,
        relevance: false,
      });
      if (round > 0) times.push(performance.now() - started);
    }
  }
  return percentiles(times);
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function percentiles(times: number[]) {
  times.sort((a, b) => a - b);
  const at = (share: number) => round(times[Math.floor(share * (times.length - 1))]);
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
