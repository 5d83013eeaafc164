/**
 * readback's own index as the engine bench measures it: the service's SparseIndex and VectorSpace with its pinned searcher
 * threads, its work threads and its files, without HTTP, actors and store. Labels are the chunks' numbers.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fuseRrf } from '../../src/compute/ranking/fuse-rrf.ts';
import { addBit, addBitRange, type Bitmap, createBitmap } from '../../src/compute/structures/bitmap.ts';
import { graphFrom } from '../../src/domain/model.ts';
import { slotFor } from '../../src/engine/query-slot.ts';
import { Searchers } from '../../src/engine/searchers.ts';
import { VectorSpace } from '../../src/engine/vectors/vector-space.ts';
import { SparseIndex } from '../../src/engine/words/sparse-index.ts';
import { openThreadPool, statelessIdleMs } from '../../src/threads/thread-pool.ts';
import { bucketOf, bucketsOf } from './allowed.ts';
import type { BenchEngine, BuildReport, Search } from './bench-engine.ts';
import { type BenchData, type BenchQuery, RRF_K, TOP, textBatches, vectorBatches } from './data-folder.ts';
import { ThreadClock } from './process-memory.ts';
import { rounded } from './statistics.ts';

export const name = 'readback';

type SearchTasks = typeof import('../../src/threads/search-thread.ts');
type WorkTasks = typeof import('../../src/threads/work-thread.ts');

/** The service has one on two cores. */
const SEARCHERS = 2;
const WORKERS = 2;
/** Chunks modelled as one text, and vectors handed over at once. */
const CHUNKS_PER_TEXT = 128;
const VECTORS_AT_ONCE = 1000;
/** Texts under way: each work thread has one to go on with. */
const TEXTS_AT_ONCE = 2 * WORKERS;

/** After so long without work its threads have ended, as in the service; memory is measured then, ms. */
const workersEndMs = 25_000;
/** This bench runs as TypeScript and compiled. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const entry = (thread: string) => new URL(`../../src/threads/${thread}.${extension}`, import.meta.url);
const say = (fields: object, message: string) => console.error(message, fields);
const log = { info: () => undefined, warn: say, error: say };

export async function open(dir: string, data: BenchData): Promise<BenchEngine> {
  const clock = new ThreadClock();
  const pools = Array.from({ length: SEARCHERS }, (_, number) =>
    openThreadPool<SearchTasks>({
      entry: entry('search-thread'),
      name: `searcher-${number}`,
      threads: 1,
      tasksPerThread: 16,
      maxQueue: 10_000,
      uninterrupted: true,
      maxYoungMb: 8,
      data: { wordList: null },
    }),
  );
  await Promise.all(pools.map((searcher) => searcher.run('warmUp', undefined)));
  clock.name('searchers');
  const limits = { threads: WORKERS, idleMs: statelessIdleMs, maxQueue: 10_000, maxYoungMb: 24, nice: 10 };
  const work = openThreadPool<WorkTasks>({ ...limits, entry: entry('work-thread'), name: 'work' });
  const texts = openThreadPool<typeof import('../../src/threads/text-thread.ts')>({
    ...limits,
    entry: entry('text-thread'),
    name: 'texts',
    data: { chunking: { target_tokens: 300, overlap_tokens: 0, hard_max_tokens: 500 } },
  });

  const graphs = openThreadPool<typeof import('../../src/threads/graph-thread.ts')>({
    entry: entry('graph-thread'),
    name: 'graphs',
    threads: 1,
    idleMs: statelessIdleMs,
    maxQueue: 1,
    nice: 10,
    uninterrupted: true,
  });

  const searchers = new Searchers(pools, 'bench', log);
  const live = await indexedBefore(dir, data);
  const [sparse, dense] = await Promise.all([
    SparseIndex.open({ dir: join(dir, 'sparse'), storeId: 'bench', searchers, worker: work, log }, live),
    VectorSpace.open(
      {
        modelId: 'bench',
        dim: data.dim,
        dir: join(dir, 'dense'),
        storeId: 'bench',
        searchers,
        worker: work,
        graphs: { pool: graphs, from: graphFrom },
        log,
      },
      live,
    ),
  ]);
  const { index } = sparse;
  const { space } = dense;
  if (sparse.missing.length + dense.missing.length > 0) throw new Error('chunks are missing after a restart');

  async function addTexts(): Promise<number> {
    const batches = textBatches(data, CHUNKS_PER_TEXT);
    const caller = async () => {
      for (;;) {
        const { done, value } = await batches.next();
        if (done) return;
        const segment = await texts.run('segmentOfChunks', joined(value.texts));
        await index.add(
          segment,
          Uint32Array.from(value.texts, (_, i) => value.first + i),
        );
      }
    };
    return secondsOf(() => Promise.all(Array.from({ length: TEXTS_AT_ONCE }, caller)));
  }

  async function addVectors(): Promise<number> {
    return secondsOf(async () => {
      for await (const { first, count, vectors } of vectorBatches(data, VECTORS_AT_ONCE)) {
        await space.add(
          Uint32Array.from({ length: count }, (_, i) => first + i),
          vectors,
        );
      }
    });
  }

  const among = (allow?: Bitmap) => (allow === undefined ? {} : { allow });
  const plain = { prefix: false, spelling: false, relevance: false };
  const text = async (query: BenchQuery, k: number, allow?: Bitmap) =>
    (await searchers.find({ ...plain, query: query.text, k, allow, vectors: null })).sparse.labels;
  const nearest = async ({ vector }: BenchQuery, k: number, allow?: Bitmap) =>
    (await space.search(Float32Array.from(vector), k, among(allow))).labels;
  const fused = (lists: Uint32Array[]) =>
    fuseRrf(lists, RRF_K)
      .slice(0, TOP)
      .map(({ label }) => label);
  const searches = (allow?: Bitmap): Record<'hybrid' | 'hybrid_at_once' | 'sparse' | 'dense', Search> => ({
    hybrid: async (query) => {
      const vector = slotFor(Promise.resolve(Float32Array.from(query.vector)), data.dim);
      const vectors = { rows: space.rows, vector, floor: null };
      const { sparse, dense } = await searchers.find({ ...plain, query: query.text, k: TOP, allow, vectors });
      return fused([sparse.labels, dense.labels]);
    },
    hybrid_at_once: async (query) => fused(await Promise.all([text(query, TOP, allow), nearest(query, TOP, allow)])),
    sparse: (query) => text(query, TOP, allow),
    dense: (query) => nearest(query, TOP, allow),
  });

  return {
    searches: searches(),
    filtered(share) {
      const allow = createBitmap(data.chunks);
      for (let chunk = 0; chunk < data.chunks; chunk++) if (bucketOf(chunk) < bucketsOf(share)) addBit(allow, chunk);
      return searches(allow);
    },
    denseRanking: (query) => nearest(query, data.chunks),
    async build(): Promise<BuildReport> {
      // The first text of each thread loads the language model: the service does that at start.
      await Promise.all(Array.from({ length: WORKERS * 4 }, () => texts.run('preparePages', [])));
      clock.name('work');
      clock.start();
      const began = performance.now();
      const since = () => rounded((performance.now() - began) / 1000);
      const [texts_s, vectors_s] = await Promise.all([addTexts(), addVectors()]);
      const searchable_s = since();
      const cpu_s = clock.seconds();
      const { segments } = index.stats();
      await Promise.all([index.consolidate(), space.settled()]);
      await Promise.all([index.save(), space.save()]);
      // As the service does when it has been idle for some seconds.
      await searchers.releaseMemory();
      const measured = {
        searchable_s,
        settled_s: since(),
        texts_s,
        vectors_s,
        cpu_s,
        settled_cpu_s: clock.seconds(),
        segments_when_searchable: segments,
      };
      await delay(workersEndMs);
      return measured;
    },
    async remove(chunks) {
      index.remove(chunks);
      space.remove(chunks);
    },
    async footprint() {
      const { segments, bytes } = index.stats();
      const { rowBytes } = space.stats();
      const [sparseMb, denseMb] = await Promise.all([folderMb(join(dir, 'sparse')), folderMb(join(dir, 'dense'))]);
      return {
        segments,
        segment_mb: Math.round(bytes / 1e6),
        row_mb: Math.round(rowBytes / 1e6),
        sparse_files_mb: sparseMb,
        dense_files_mb: denseMb,
      };
    },
    async close() {
      await Promise.all([index.close(), space.close()]);
      await Promise.all([...pools, work, texts, graphs].map((pool) => pool.close()));
    },
  };
}

/** All chunks if the folder has an index, none if it is empty. */
async function indexedBefore(dir: string, { chunks }: BenchData): Promise<Bitmap> {
  const live = createBitmap(chunks);
  if ((await readdir(dir)).length > 0) addBitRange(live, 0, chunks);
  return live;
}

/** Chunks as one text, each with its place in it. */
function joined(texts: readonly string[]) {
  let from = 0;
  const chunks = texts.map(({ length }) => {
    const char_start = from;
    from += length + 1;
    return { char_start, char_end: char_start + length, token_count: 0, section_title: null, section_start_s: null };
  });
  return { title: null, text: texts.join('\n'), chunks };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return rounded((performance.now() - began) / 1000);
}

async function folderMb(dir: string): Promise<number> {
  const sizes = await Promise.all((await readdir(dir)).map(async (file) => (await stat(join(dir, file))).size));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1e6);
}
