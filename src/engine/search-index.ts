/**
 * The search engine by itself, without the service: documents by words (BM25F) and by vectors, both sides fused and, with the built-in
 * model, reranked. The service retrieves by the same `retrieve`, with a vector space for each of its models (ARCHITECTURE.md, "Retrieval").
 *
 *   manifest.json   identity, dimensions, shards, live labels: what is in the index, as of the last `persist`
 *   words/, vectors/   segments and shards (index-folder.ts)
 *
 * Here the folder is the only copy: one that is another index's, or whose manifest cannot be read, is left as it is and not opened.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { LOCAL_MODEL_VERSION } from '../compute/embedding/embed-local.ts';
import { openWordVectors } from '../compute/embedding/word-vectors.ts';
import { fuseRrf } from '../compute/ranking/fuse-rrf.ts';
import { addBit, type Bitmap, bitsNotIn, createBitmap, GrowingBitmap } from '../compute/structures/bitmap.ts';
import type { Chunk } from '../domain/page.ts';
import { programFile } from '../files/program-files.ts';
import { openThreadPool, statelessIdleMs, type ThreadPool } from '../threads/thread-pool.ts';
import { readManifest, writeManifest } from './index-folder.ts';
import type { IndexLog } from './index-log.ts';
import { openIndexThreads } from './index-threads.ts';
import { loadWordVectors } from './load-word-vectors.ts';
import { rerankedOrder, retrieve } from './retrieve.ts';
import { VectorSpace } from './vectors/vector-space.ts';
import { SparseIndex } from './words/sparse-index.ts';

export interface Document {
  /**
   * A whole number from 1 to 2³⁰, without large gaps: memory and files have a bit for each up to the largest. It names this text for ever;
   * never give one that was removed to another text.
   */
  label: number;
  /** One passage: it is not split. Only its words and its vector are kept, not the text. */
  text: string;
  title?: string;
  /** Required where the index was opened with `dim`. */
  vector?: Float32Array;
}

export interface SearchOptions {
  /** Documents that are wanted, 10 unless given. */
  k?: number;
  /** The query's vector, where the index was opened with `dim`; without it words alone are compared. */
  vector?: Float32Array;
  /** Only these labels may be found. */
  allow?: Iterable<number>;
}

export interface Hit {
  label: number;
  /** Comparable within one list only. */
  score: number;
}

export interface SearchIndexOptions {
  /** Made where it is lacking. One process at a time; see to that yourself. */
  dir: string;
  /** Dimensions of vectors that you bring; without it the built-in model makes them. The same at every opening. */
  dim?: number;
  /** Threads that hold vectors, one for each core unless given; of a new index only. */
  shards?: number;
  log?: IndexLog;
}

const manifestSchema = z.strictObject({
  format: z.literal(1),
  id: z.string(),
  /** Null: of the built-in model. */
  dim: z.int().min(1).nullable(),
  /** Which word vectors that model is made of; null where vectors are brought. */
  vocabulary: z.int().nullable(),
  /** Version of that model. */
  model: z.int().default(4),
  shards: z.int().min(1),
  /** Bitmaps, base64: the live labels, and those of them that have a vector (a text without words has none). */
  live: z.base64(),
  embedded: z.base64(),
});
type Manifest = z.infer<typeof manifestSchema>;

type Work = ThreadPool<typeof import('../threads/work-thread.ts')>;

/** As the service has it by default. */
const builtInDim = 1024;
/** Candidates of each side: twice as many as the service takes by default. */
const candidates = 200;
const rrfK = 60;
/** Documents taken in at a time. */
const batchSize = 128;
const maxLabel = 2 ** 30;
const silent: IndexLog = { info: () => {}, warn: () => {}, error: () => {} };

export class SearchIndex {
  readonly #dir: string;
  readonly #manifest: Manifest;
  readonly #live: GrowingBitmap;
  readonly #embedded: GrowingBitmap;
  readonly #work: Work;
  readonly #words: SparseIndex;
  readonly #vectors: VectorSpace;
  readonly #log: IndexLog;
  readonly #closeThreads: () => Promise<unknown>;
  readonly #missing: Set<number>;
  /** Labels whose documents are on their way into the index. */
  readonly #adding = new Set<number>();

  private constructor(parts: Awaited<ReturnType<typeof openParts>>) {
    this.#dir = parts.dir;
    this.#manifest = parts.manifest;
    this.#live = parts.live;
    this.#embedded = parts.embedded;
    this.#work = parts.work;
    this.#words = parts.words;
    this.#vectors = parts.vectors;
    this.#log = parts.log;
    this.#closeThreads = parts.closeThreads;
    this.#missing = parts.missing;
  }

  /**
   * Open the index of a folder, as it was persisted last, or begin one. Errors: RangeError for one of other dimensions, Error for one that
   * cannot be read or is of other word vectors, which stays as it is; of the folder; OperatorError `word_vectors`.
   */
  static async open(options: SearchIndexOptions): Promise<SearchIndex> {
    return new SearchIndex(await openParts(options));
  }

  /** Documents in the index. */
  get size(): number {
    return this.#live.size;
  }

  /**
   * Labels that were in the index at the last `persist` and that its files do not hold: damaged or lost, or removed after it and before a
   * crash. Add again those that you still want.
   */
  get missing(): number[] {
    return [...this.#missing].sort((a, b) => a - b);
  }

  /**
   * Add documents; when this resolves, searches find them. Those whose label is in the index stay as they are. If it rejects, some may
   * have been added; adding the same again is safe.
   * Errors: RangeError for a bad label, or a document without a vector where one is required; BadVectorError; QueueFullError where too
   * much waits.
   */
  async add(documents: readonly Document[]): Promise<void> {
    const bad = documents.find(({ label }) => !Number.isInteger(label) || label < 1 || label > maxLabel);
    if (bad !== undefined)
      throw new RangeError(`${bad.label} is no label: it must be a whole number from 1 to ${maxLabel}`);
    const fresh = new Map(documents.map((each) => [each.label, each] as const));
    const all = [...fresh.values()].filter(({ label }) => !this.#live.has(label)).sort((a, b) => a.label - b.label);
    for (let at = 0; at < all.length; at += batchSize) await this.#addBatch(all.slice(at, at + batchSize));
  }

  async #addBatch(documents: readonly Document[]): Promise<void> {
    const { dim } = this.#manifest;
    const texts = documents.map(({ title = null, text }) => ({ title, text, chunks: [wholeOf(text)] }));
    const labels = Uint32Array.from(documents, ({ label }) => label);
    const brought = dim === null ? null : rowsOf(documents, dim);
    for (const label of labels) this.#adding.add(label);
    const atOnce = pLimit(availableParallelism());
    const addWords = documents.map(({ label }, at) =>
      atOnce(async () => this.#words.add(await this.#work.run('segmentOfChunks', texts[at]), Uint32Array.of(label))),
    );
    const addVectors = async () => {
      const vectors = brought ?? (await this.#work.run('embedChunkedTexts', { pages: texts, dim: builtInDim }));
      await this.#vectors.add(labels, vectors, { passOverZeros: true });
      const length = vectors.length / labels.length;
      const hasVector = (row: number) => vectors.subarray(row * length, (row + 1) * length).some((each) => each !== 0);
      return new Set([...labels].filter((_, row) => hasVector(row)));
    };
    const addingVectors = addVectors();
    const settled = await Promise.allSettled([...addWords, addingVectors]);
    // Those that were removed meanwhile are not among them any more.
    const added = [...labels].filter((label) => this.#adding.delete(label));
    const failed = settled.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const withVector = await addingVectors;
    for (const label of added) {
      this.#live.add(label);
      if (withVector.has(label)) this.#embedded.add(label);
      this.#missing.delete(label);
    }
  }

  /** Remove documents; no search that starts afterwards finds them. */
  async remove(labels: Iterable<number>): Promise<void> {
    const known = [...new Set(labels)].filter((label) => this.#live.has(label) || this.#adding.has(label));
    for (const label of known) {
      this.#live.delete(label);
      this.#adding.delete(label);
      this.#embedded.delete(label);
    }
    this.#words.remove(known);
    await this.#vectors.remove(known);
  }

  /** The best documents for a text, best first; none where no word of it is known. Errors: those of the threads; BadVectorError. */
  async search(text: string, { k = 10, vector, allow }: SearchOptions = {}): Promise<Hit[]> {
    const { dim } = this.#manifest;
    const [searchers, vectors, log] = [this.#words.searchers, this.#vectors, this.#log];
    const parts = { searchers, vectors, log, monotonic: () => performance.now() };
    const { sparse, dense, denseWeight, reranked } = await retrieve(parts, {
      query: text,
      spelling: true,
      dim: dim === null ? builtInDim : null,
      outside: vector === undefined ? undefined : Promise.resolve(vector),
      k: Math.max(k, candidates),
      allow: allow === undefined ? undefined : bitmapOf(allow, this.#live.set.length * 32),
      floor: null,
      rrfK,
      wants: { order: dim === null, relevance: false },
    });
    const fused = fuseRrf([sparse.labels, dense.labels], rrfK, [1, denseWeight]);
    const found = reranked === null ? fused : rerankedOrder(reranked, fused);
    // An add that failed, or is under way, may have come to one side alone.
    return found.filter(({ label }) => this.#live.has(label)).slice(0, k);
  }

  /** Save the index; after a crash it opens as it was saved last. Errors: those of the file system; what was persisted before still opens. */
  async persist(): Promise<void> {
    const [live, embedded] = [written(this.#live), written(this.#embedded)];
    await Promise.all([this.#words.save(), this.#vectors.save()]);
    await writeManifest(this.#dir, { ...this.#manifest, live, embedded } satisfies Manifest);
  }

  /** Persist, and end the threads. Errors: as of `persist`; the threads end all the same. */
  async close(): Promise<void> {
    try {
      await this.persist();
      await Promise.all([this.#words.close(), this.#vectors.close()]);
    } finally {
      await this.#closeThreads();
    }
  }
}

async function openParts({ dir, dim: given, shards: wanted, log = silent }: SearchIndexOptions) {
  const dim = given ?? null;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const found = await readManifest(dir, manifestSchema);
  if (typeof found === 'string') throw new Error(`${dir}: ${found}`);
  const wordVectors = dim === null ? loadWordVectors() : null;
  const vocabulary = wordVectors === null ? null : openWordVectors(wordVectors).fingerprint;
  if (found !== null && found.dim !== dim) {
    const dims = (of: number | null) => (of === null ? 'the built-in model' : `${of} dimensions`);
    throw new RangeError(`${dir} is an index of ${dims(found.dim)}, not of ${dims(dim)}`);
  }
  const isOther = found?.vocabulary !== vocabulary || (dim === null && found.model !== LOCAL_MODEL_VERSION);
  if (found !== null && isOther) {
    throw new Error(`${dir} was made with another built-in model than this version has: make the index anew`);
  }
  const cores = availableParallelism();
  const fresh = {
    format: 1 as const,
    id: randomUUID(),
    dim,
    vocabulary,
    model: LOCAL_MODEL_VERSION,
    shards: wanted ?? cores,
    live: '',
    embedded: '',
  };
  const manifest = found ?? fresh;
  const threads = openIndexThreads({
    searchers: Math.max(1, Math.floor(cores / 2)),
    shards: manifest.shards,
    searchData: { wordVectors },
  });
  const work: Work = openThreadPool({
    entry: programFile('threads/work-thread'),
    name: 'work',
    threads: cores,
    idleMs: statelessIdleMs,
    maxQueue: 4 * batchSize,
    data: { chunking: { target_tokens: 448, overlap_tokens: 64, hard_max_tokens: 512 }, wordVectors },
  });
  const closeThreads = () => Promise.all([threads.close(), work.close()]);
  try {
    const { namespace, searchers, shards } = threads.of(manifest.id);
    const [live, embedded] = [read(manifest.live), read(manifest.embedded)];
    const common = { storeId: manifest.id, namespace, log };
    const missing = new Set<number>();
    const noteMissing = (labels: Iterable<number>) => {
      for (const label of labels) {
        live.delete(label);
        embedded.delete(label);
        missing.add(label);
      }
    };
    const [words, vectors] = await Promise.all([
      SparseIndex.open(
        { ...common, dir: join(dir, 'words'), searchers, worker: work, ...(vocabulary !== null && { vocabulary }) },
        live.set,
      ),
      VectorSpace.open(
        {
          ...common,
          dir: join(dir, 'vectors'),
          modelId: dim === null ? 'built-in' : 'brought',
          dim: dim ?? builtInDim,
          shards,
          onMissing: noteMissing, // a thread that died before its vectors were saved
        },
        embedded.set,
      ),
    ]);
    noteMissing([...words.missing, ...vectors.missing]);
    return {
      ...{ dir, manifest, live, embedded, work, missing, log, closeThreads },
      ...{ words: words.index, vectors: vectors.space },
    };
  } catch (error) {
    await closeThreads();
    throw error;
  }
}

function written({ set }: GrowingBitmap): string {
  return Buffer.from(Uint32Array.from(set).buffer).toString('base64');
}

function read(text: string): GrowingBitmap {
  const words = Uint32Array.from({ length: Buffer.byteLength(text, 'base64') / 4 });
  new Uint8Array(words.buffer).set(Buffer.from(text, 'base64'));
  const labels = new GrowingBitmap();
  for (const label of bitsNotIn(words, createBitmap(0))) labels.add(label);
  return labels;
}

/** The one chunk of a document. */
function wholeOf(text: string): Chunk {
  return { char_start: 0, char_end: text.length, token_count: 0, section_title: null, section_start_s: null };
}

function rowsOf(documents: readonly Document[], dim: number): Float32Array {
  const rows = new Float32Array(documents.length * dim);
  for (const [row, { label, vector }] of documents.entries()) {
    if (vector?.length !== dim) throw new RangeError(`document ${label} has no vector of ${dim} dimensions`);
    rows.set(vector, row * dim);
  }
  return rows;
}

function bitmapOf(labels: Iterable<number>, bits: number): Bitmap {
  const bitmap = createBitmap(bits);
  for (const label of labels) if (label < bits) addBit(bitmap, label);
  return bitmap;
}
