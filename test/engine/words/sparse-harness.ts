/**
 * For the tests of the sparse index: a real index in a temporary folder with real searcher and work threads, the documents
 * it should hold, and the comparison of every searcher's answers with scoring those documents one by one.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addBit, type Bitmap, createBitmap } from '../../../src/compute/structures/bitmap.ts';
import { type SearcherPool, Searchers } from '../../../src/engine/searchers.ts';
import { type OpenedIndex, SparseIndex, type SparseIndexOptions } from '../../../src/engine/words/sparse-index.ts';
import { programFile } from '../../../src/files/program-files.ts';
import { openThreadPool, type ThreadPool } from '../../../src/threads/thread-pool.ts';
import { buildSegment, firstHits, referenceHits, type SparseDocument } from './small-corpus.ts';

export type SearchTasks = typeof import('../../../src/threads/search-thread.ts');
export type WorkTasks = typeof import('../../../src/engine/words/segment-tasks.ts');

/** As what the searchers hold the index. */
export const namespace = 'one';

/** A query by words. */
export const wordsOnly = { prefix: false, spelling: false, vectors: null, relevance: false };

export interface Threads {
  searchers: ThreadPool<SearchTasks>[];
  worker: ThreadPool<WorkTasks>;
}

export function openThreads(): Threads {
  const pool = { threads: 1, maxQueue: 1000 };
  const searcher = (number: number) =>
    openThreadPool<SearchTasks>({
      ...{ ...pool, entry: programFile('threads/search-thread'), name: `searcher ${number}` },
      data: { wordList: null },
    });
  return {
    searchers: [searcher(0), searcher(1)],
    worker: openThreadPool<WorkTasks>({ ...pool, entry: programFile('threads/work-thread'), name: 'work' }),
  };
}

export async function closeThreads({ searchers, worker }: Threads): Promise<void> {
  await Promise.all([...searchers, worker].map((pool) => pool.close()));
}

/** A temporary folder that goes when the block that awaits it ends. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'readback-sparse-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export interface LogLine {
  level: 'info' | 'warn' | 'error';
  fields: object;
  message: string;
}

/** One life of an index: from open to close. */
export class SparseHarness {
  readonly index: SparseIndex;
  readonly searchers: Searchers;
  readonly missing: Uint32Array;
  readonly lost: boolean;
  readonly documents: Map<number, SparseDocument>;
  readonly lines: LogLine[];
  readonly #pools: readonly SearcherPool[];

  private constructor(
    { index, missing, lost }: OpenedIndex,
    { documents, lines, searchers }: Pick<SparseHarness, 'documents' | 'lines' | 'searchers'>,
    pools: readonly SearcherPool[],
  ) {
    this.index = index;
    this.searchers = searchers;
    this.missing = missing;
    this.lost = lost;
    this.documents = documents;
    this.lines = lines;
    this.#pools = pools;
  }

  /** Open an index of the folder for a store that holds these documents. */
  static async open(
    { searchers: pools, worker }: { searchers: readonly SearcherPool[]; worker: Threads['worker'] },
    dir: string,
    documents: Map<number, SparseDocument>,
    options: Partial<SparseIndexOptions> = {},
  ): Promise<SparseHarness> {
    const lines: LogLine[] = [];
    const write = (level: LogLine['level']) => (fields: object, message: string) =>
      void lines.push({ level, fields, message });
    const log = { info: write('info'), warn: write('warn'), error: write('error') };
    const searchers = new Searchers(pools, namespace, log);
    const opened = await SparseIndex.open(
      { dir, storeId: 'store 1', searchers, worker, log, ...options },
      labelSetOf(documents.keys()),
    );
    return new SparseHarness(opened, { documents, lines, searchers }, pools);
  }

  /** Model and add documents under labels from `first` on. */
  async add(first: number, added: readonly SparseDocument[]): Promise<void> {
    const labels = Uint32Array.from(added, (_, i) => first + i);
    added.forEach((document, i) => {
      this.documents.set(first + i, document);
    });
    await this.index.add(buildSegment(added).buffer, labels);
  }

  remove(labels: readonly number[]): void {
    for (const label of labels) this.documents.delete(label);
    this.index.remove(labels);
  }

  /** Model again what the index reported missing. */
  async addMissing(): Promise<void> {
    for (const label of this.missing) {
      const document = this.documents.get(label);
      assert.ok(document, `label ${label} is reported missing and not live`);
      await this.index.add(buildSegment([document]).buffer, Uint32Array.of(label));
    }
  }

  /** Every searcher answers each one-word query, and one of several words, as the reference does. */
  async assertExact(words: readonly string[], k = 50): Promise<void> {
    for (const searcher of this.#pools) {
      for (const terms of [...words.map((word) => [word]), [...words]]) {
        const answer = await searcher.run('find', { ...wordsOnly, namespace, query: terms.join(' '), k });
        const found = answer?.sparse && { labels: answer.sparse.labels, scores: answer.sparse.scores };
        assert.deepEqual(found, firstHits(referenceHits(this.documents, terms), k));
      }
    }
  }
}

function labelSetOf(labels: Iterable<number>): Bitmap {
  const all = [...labels];
  const set = createBitmap(Math.max(0, ...all) + 1);
  for (const label of all) addBit(set, label);
  return set;
}

/** A document whose body is these words. */
export function documentOf(...body: string[]): SparseDocument {
  return { title: [], section: [], body };
}
