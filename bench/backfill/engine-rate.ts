/**
 * What the engine does of a backfill, by itself: the same stored chunks embedded on the service's work threads and taken in by a
 * vector space on its shard threads, without the store's writes, the cursor, HTTP and searches. Beside it the space alone, with the
 * vectors given. A backfill can at best be as fast as the first.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PageToEmbed, slicesFrom } from '../../src/actors/models/backfill-slices.ts';
import { createBitmap } from '../../src/compute/structures/bitmap.ts';
import { loadWordVectors } from '../../src/engine/load-word-vectors.ts';
import { type ShardTasks, VectorSpace } from '../../src/engine/vectors/vector-space.ts';
import { StoreView } from '../../src/store/store-view.ts';
import { openThreadPool } from '../../src/threads/thread-pool.ts';

export interface EngineRate {
  /** Chunks a second from stored text until searches find them, and with the vectors given. */
  embed_and_insert_per_s: number;
  insert_per_s: number;
}

/** As the service has them on two cores. */
const threads = 2;
/** A number that no model has: nothing is stored of it, so every page is to be embedded. */
const noSpace = 4_000_000_000;

const entry = (thread: string) => new URL(`../../src/threads/${thread}.ts`, import.meta.url);
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

export async function measureEngine(dataDir: string, dim: number): Promise<EngineRate> {
  const work = openThreadPool<typeof import('../../src/threads/work-thread.ts')>({
    ...{ entry: entry('work-thread'), name: 'work', threads, maxQueue: 1000, nice: 10 },
    data: {
      chunking: { target_tokens: 448, overlap_tokens: 64, hard_max_tokens: 512 },
      wordVectors: loadWordVectors(),
    },
  });
  const shards = Array.from({ length: threads }, (_, number) =>
    openThreadPool<ShardTasks>({ entry: entry('shard-thread'), name: `shard-${number}`, threads: 1, maxQueue: 1000 }),
  );
  const view = StoreView.open(dataDir);
  const home = mkdtempSync(join(tmpdir(), 'readback-engine-'));
  const openSpace = async (name: string) => {
    const options = {
      modelId: name,
      dim,
      dir: join(home, name),
      storeId: 'bench',
      shards,
      namespace: 'bench',
      log: silent,
      onMissing: () => {},
    };
    return (await VectorSpace.open(options, createBitmap(0))).space;
  };
  const slices = function* () {
    for (const { pages } of slicesFrom(view.reader, noSpace, 0, view.reader.counters.peek('page') - 1)) yield pages;
  };
  const embed = (pages: PageToEmbed[]) =>
    work.run('embedChunkedTexts', { pages: pages.map(({ title, text, chunks }) => ({ title, text, chunks })), dim });

  try {
    const fed = await openSpace('fed');
    const alone = await openSpace('alone');
    const [warm] = slices();
    for (let thread = 0; thread < 2 * threads; thread++) await embed(warm);

    let chunks = 0;
    let aloneMs = 0;
    const began = performance.now();
    const ahead: { labels: Uint32Array; rows: Promise<Float32Array> }[] = [];
    const given: { labels: Uint32Array; rows: Float32Array }[] = [];
    const takeIn = async () => {
      const next = ahead.shift();
      if (next === undefined) return;
      const rows = await next.rows;
      await fed.add(next.labels, rows, { passOverZeros: true });
      given.push({ labels: next.labels, rows });
      chunks += next.labels.length;
    };
    for (const pages of slices()) {
      ahead.push({ labels: labelsOf(pages), rows: embed(pages) });
      if (ahead.length > threads) await takeIn();
    }
    while (ahead.length > 0) await takeIn();
    await fed.save();
    const fedMs = performance.now() - began;

    for (const { labels, rows } of given) {
      const from = performance.now();
      await alone.add(labels, rows, { passOverZeros: true });
      aloneMs += performance.now() - from;
    }
    const saving = performance.now();
    await alone.save();
    aloneMs += performance.now() - saving;
    await Promise.all([fed.drop(), alone.drop()]);
    const perSecond = (ms: number) => Math.round((chunks / ms) * 1000);
    return { embed_and_insert_per_s: perSecond(fedMs), insert_per_s: perSecond(aloneMs) };
  } finally {
    await Promise.all([work, ...shards].map((pool) => pool.close()));
    await view.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function labelsOf(pages: readonly PageToEmbed[]): Uint32Array {
  return Uint32Array.from(pages.flatMap(({ first, ordinals }) => ordinals.map((ordinal) => first + ordinal)));
}
