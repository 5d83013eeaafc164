/**
 * The search engine without the service: documents by words (BM25F) and vectors, fused by score.
 * The service uses the same `retrieve`, with a vector space per model (ARCHITECTURE.md, "Retrieval").
 *
 * The folder has manifest.json (identity, dimensions, live labels), words/ and vectors/ (index-folder.ts). It is the
 * only copy. A folder of another index, or with an unreadable manifest, is refused and not changed.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { embeddingText } from '../compute/embedding/embedding-text.ts';
import { hasContent } from '../compute/embedding/encoder-windows.ts';
import { fuseScores } from '../compute/ranking/fuse-scores.ts';
import { bitmapOf, bitsNotIn, createBitmap, GrowingBitmap } from '../compute/structures/bitmap.ts';
import { builtInModel, graphFrom } from '../domain/model.ts';
import type { Chunk } from '../domain/page.ts';
import { Encoder, EncoderUnusableError } from '../encoder/encoder.ts';
import { programFile } from '../files/program-files.ts';
import { openThreadPool, statelessIdleMs } from '../threads/thread-pool.ts';
import { readManifest, writeManifest } from './index-folder.ts';
import type { IndexLog } from './index-log.ts';
import { openIndexThreads } from './index-threads.ts';
import { slotFor } from './query-slot.ts';
import { Searchers } from './searchers.ts';
import { VectorSpace } from './vectors/vector-space.ts';
import { SparseIndex } from './words/sparse-index.ts';
import { loadWordList } from './words/word-list.ts';

export interface Document {
  /** 1 to 2³⁰ - 1, without large gaps: each takes four bytes of memory. Do not reuse a label for another text. */
  label: number;
  /** One passage, not split. Only its words and vector are stored. */
  text: string;
  title?: string;
  /** Required if the index was opened with `dim`. */
  vector?: Float32Array;
}

export interface SearchOptions {
  /** Number of results, default 10. */
  k?: number;
  /** The query's vector if the index was opened with `dim`; without it only words match. */
  vector?: Float32Array;
  allow?: Iterable<number>;
}

export interface Hit {
  label: number;
  /** Comparable within one list only. */
  score: number;
}

export interface SearchIndexOptions {
  /** Created if missing. The caller makes sure that only one process uses it. */
  dir: string;
  /** Dimensions of your own vectors. If absent, the built-in model computes them. Must be the same at every opening. */
  dim?: number;
  log?: IndexLog;
  /** Folder of the built-in model's files, if not the package's. */
  encoderDir?: string;
}

const manifestSchema = z.object({
  format: z.literal(2),
  id: z.string(),
  /** Null: the built-in model. */
  dim: z.int().min(1).nullable(),
  /** The built-in model's name; null for your own vectors. */
  model: z.string().nullable(),
  /** Bitmaps, base64: live labels, and those with a vector (a text without words has none). */
  live: z.base64(),
  embedded: z.base64(),
});
type Manifest = z.infer<typeof manifestSchema>;

/** Per side: twice the service's default. */
const candidatesOfSide = 200;
const batchSize = 128;
const maxLabel = 2 ** 30 - 1;
const silent: IndexLog = { info: () => {}, warn: () => {}, error: () => {} };

export class SearchIndex {
  readonly #parts: Awaited<ReturnType<typeof openParts>>;
  readonly #adding = new Set<number>();

  private constructor(parts: Awaited<ReturnType<typeof openParts>>) {
    this.#parts = parts;
  }

  /**
   * Open the index in a folder as last persisted, or create one. Errors: RangeError for other dimensions; Error for an unreadable index,
   * which is left as is; of the folder; OperatorError `word_list`.
   */
  static async open(options: SearchIndexOptions): Promise<SearchIndex> {
    return new SearchIndex(await openParts(options));
  }

  get size(): number {
    return this.#parts.live.size;
  }

  /** Labels of the last `persist` that the files lack (damaged, lost, removed before a crash). Add them again. */
  get missing(): number[] {
    return [...this.#parts.missing].sort((a, b) => a - b);
  }

  /**
   * Searches find the documents when this resolves. Existing labels do not change. After a rejection some documents may
   * have been added; repeat the call.
   * Errors: RangeError for a bad label or a missing vector; BadVectorError; QueueFullError when overloaded.
   */
  async add(documents: readonly Document[]): Promise<void> {
    const bad = documents.find(({ label }) => !Number.isInteger(label) || label < 1 || label > maxLabel);
    if (bad !== undefined)
      throw new RangeError(`${bad.label} is not a label: it must be a whole number from 1 to ${maxLabel}`);
    const fresh = new Map(documents.map((each) => [each.label, each] as const));
    const all = [...fresh.values()]
      .filter(({ label }) => !this.#parts.live.has(label))
      .sort((a, b) => a.label - b.label);
    for (let at = 0; at < all.length; at += batchSize) await this.#addBatch(all.slice(at, at + batchSize));
  }

  async #addBatch(documents: readonly Document[]): Promise<void> {
    const { manifest, words, vectors: space, live, embedded, missing, analysis } = this.#parts;
    const { dim } = manifest;
    const texts = documents.map(({ title = null, text }) => ({ title, text, chunks: [wholeOf(text)] }));
    const labels = Uint32Array.from(documents, ({ label }) => label);
    const brought = dim === null ? null : rowsOf(documents, dim);
    for (const label of labels) this.#adding.add(label);
    const atOnce = pLimit(availableParallelism());
    const addWords = documents.map(({ label }, at) =>
      atOnce(async () => words.add(await analysis.run('segmentOfChunks', texts[at]), Uint32Array.of(label))),
    );
    const addVectors = async () => {
      const vectors = brought ?? (await this.#encode(documents));
      await space.add(labels, vectors, { passOverZeros: true });
      const length = vectors.length / labels.length;
      const hasVector = (row: number) => vectors.subarray(row * length, (row + 1) * length).some((each) => each !== 0);
      return new Set([...labels].filter((_, row) => hasVector(row)));
    };
    const addingVectors = addVectors();
    const settled = await Promise.allSettled([...addWords, addingVectors]);
    // Labels that were not removed meanwhile.
    const added = [...labels].filter((label) => this.#adding.delete(label));
    const failed = settled.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const withVector = await addingVectors;
    for (const label of added) {
      live.add(label);
      if (withVector.has(label)) embedded.add(label);
      missing.delete(label);
    }
  }

  /** Searches that begin later do not find these labels. */
  async remove(labels: Iterable<number>): Promise<void> {
    const { live, embedded, words, vectors } = this.#parts;
    const known = [...new Set(labels)].filter((label) => live.has(label) || this.#adding.has(label));
    for (const label of known) {
      live.delete(label);
      this.#adding.delete(label);
      embedded.delete(label);
    }
    words.remove(known);
    vectors.remove(known);
  }

  /** Best first. Errors: those of the threads; BadVectorError. */
  async search(text: string, { k = 10, vector, allow }: SearchOptions = {}): Promise<Hit[]> {
    const made = vector === undefined ? this.#queryVector(text) : Promise.resolve(vector);
    const checked = made.then((each) => {
      if (each !== null) this.#parts.vectors.checkQuery(each);
      return each;
    });
    const request = {
      query: text,
      prefix: false,
      spelling: true,
      k: Math.max(k, candidatesOfSide),
      allow: allow === undefined ? undefined : bitmapOf(allow, this.#parts.live.set.length * 32),
      relevance: false,
      vectors: {
        rows: this.#parts.vectors.rows,
        vector: slotFor(checked, this.#parts.manifest.dim ?? builtInModel.dim),
        floor: this.#floor,
      },
    };
    const [candidates] = await Promise.all([this.#parts.searchers.find(request), checked]);
    const found = fuseScores(candidates, this.#floor);
    // A failed or running add may have reached only one side.
    return found.filter(({ label }) => this.#parts.live.has(label)).slice(0, k);
  }

  /** Null without a built-in model: then only words match. */
  async #queryVector(text: string): Promise<Float32Array | null> {
    if (this.#parts.encoder === null || !hasContent(text)) return null;
    return this.#parts.encoder.query(text).catch((error) => {
      if (error instanceof EncoderUnusableError) return null;
      throw error;
    });
  }

  /** Unknown for vectors of the caller. */
  get #floor(): number | null {
    return this.#parts.encoder === null ? null : builtInModel.floor;
  }

  /** Rows of the built-in model, zeros for a text without a vector. Errors: EncoderUnusableError. */
  async #encode(documents: readonly Document[]): Promise<Float32Array> {
    if (this.#parts.encoder === null) throw new Error('unreachable: the caller provides vectors');
    const rows = new Float32Array(documents.length * builtInModel.dim);
    const told = [...documents.keys()].filter((at) => hasContent(documents[at].text));
    const texts = told.map((at) => embeddingText(documents[at].title ?? null, null, documents[at].text));
    const encoded = (await this.#parts.encoder.encode(texts, 'passage')).rows;
    for (const [from, at] of told.entries()) {
      rows.set(encoded.subarray(from * builtInModel.dim, (from + 1) * builtInModel.dim), at * builtInModel.dim);
    }
    return rows;
  }

  /** Saves the index; after a crash it opens as last saved. Errors: file system errors; the old state then opens. */
  async persist(): Promise<void> {
    const [live, embedded] = [written(this.#parts.live), written(this.#parts.embedded)];
    await Promise.all([this.#parts.words.save(), this.#parts.vectors.save()]);
    await writeManifest(this.#parts.dir, { ...this.#parts.manifest, live, embedded } satisfies Manifest);
  }

  /** Persist and end the threads, also after an error. Errors: as of `persist`. */
  async close(): Promise<void> {
    try {
      await this.persist();
      await Promise.all([this.#parts.words.close(), this.#parts.vectors.close()]);
    } finally {
      await this.#parts.closeThreads();
    }
  }
}

async function openParts({ dir, dim: given, log = silent, encoderDir }: SearchIndexOptions) {
  const dim = given ?? null;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const found = await readManifest(dir, manifestSchema);
  if (typeof found === 'string') throw new Error(`${dir}: ${found}`);
  const wordList = dim === null ? loadWordList() : null;
  if (found !== null && found.dim !== dim) {
    const dims = (of: number | null) => (of === null ? 'the built-in model' : `${of} dimensions`);
    throw new RangeError(`${dir} is an index of ${dims(found.dim)}, not of ${dims(dim)}`);
  }
  const model = dim === null ? builtInModel.model_name : null;
  if (found !== null && found.model !== model)
    throw new Error(`${dir} was made with another built-in model: rebuild the index`);
  const manifest = found ?? { format: 2 as const, id: randomUUID(), dim, model, live: '', embedded: '' };
  const threads = openIndexThreads({ searchData: { wordList }, graphFrom });
  const limits = { threads: availableParallelism(), idleMs: statelessIdleMs, maxQueue: 4 * batchSize };
  const work = openThreadPool<typeof import('../threads/work-thread.ts')>({
    ...limits,
    entry: programFile('threads/work-thread'),
    name: 'work',
  });
  const analysis = openThreadPool<typeof import('../threads/text-thread.ts')>({
    ...limits,
    entry: programFile('threads/text-thread'),
    name: 'texts',
    data: { chunking: { target_tokens: 448, overlap_tokens: 64, hard_max_tokens: 512 } },
  });
  const encoder = dim === null ? new Encoder({ dim: builtInModel.dim, log, dir: encoderDir }) : null;
  const closeThreads = () => Promise.all([threads.close(), work.close(), analysis.close(), encoder?.close()]);
  try {
    const { namespace, searchers: pools, graphs } = threads.of(manifest.id);
    const searchers = new Searchers(pools, namespace, log);
    const [live, embedded] = [read(manifest.live), read(manifest.embedded)];
    const common = { storeId: manifest.id, searchers, worker: work, log };
    const [words, vectors] = await Promise.all([
      SparseIndex.open({ ...common, dir: join(dir, 'words') }, live.set),
      VectorSpace.open(
        {
          ...common,
          dir: join(dir, 'vectors'),
          modelId: dim === null ? 'built-in' : 'brought',
          dim: dim ?? builtInModel.dim,
          graphs,
        },
        embedded.set,
      ),
    ]);
    const missing = new Set([...words.missing, ...vectors.missing]);
    for (const label of missing) {
      live.delete(label);
      embedded.delete(label);
    }
    return {
      ...{ dir, manifest, live, embedded, analysis, missing, encoder, closeThreads, searchers },
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
