/**
 * The neighbour graph of one vector space: when it is built, its file, and the searcher that uses it. A graph is a cache of the rows: it
 * may be deleted at any time, and searches are exact without it.
 *
 *   graph/graph.hnsw   the package's file (graph-file.ts)
 *   graph/next.hnsw    being written
 *   graph/graph.json   checksum and labels of graph.hnsw; a graph without it, or of another checksum, is deleted
 *
 * Opening, leaving and a copy of the rows take turns (`inTurn`); a build, which takes minutes, does not, and can be stopped.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { type Bitmap, bitsNotIn } from '../../compute/structures/bitmap.ts';
import { replaceText, syncFile } from '../../files/durable-file.ts';
import type { SharedPool } from '../../threads/thread-pool.ts';
import type { Searchers } from '../searchers.ts';
import type * as rowTasks from './row-tasks.ts';
import type { SpaceFilesOptions } from './space-files.ts';
import type { VectorRows } from './vector-rows.ts';

export type GraphTasks = typeof import('./graph-file.ts');

export interface Graphs {
  pool: SharedPool<Pick<GraphTasks, 'growGraph'>>;
  /** Live rows from which on a space has a graph. */
  from: number;
}

export interface SpaceGraphOptions extends Pick<SpaceFilesOptions, 'dir' | 'modelId' | 'log'> {
  graphs: Graphs | null;
  searchers: Searchers;
  worker: SharedPool<Pick<typeof rowTasks, 'isIntact'>>;
  noteLabels: () => Promise<void>;
  /** The rows, and their number at the searchers, as they are now. */
  rows: () => { rows: VectorRows; id: number };
}

/** A graph grows above this share of rows outside of it, and more than some, which take a fraction of a millisecond to compare. */
const MAX_OUTSIDE_SHARE = 0.05;
const MAX_OUTSIDE = 2048;
/** It is rebuilt above this share of its labels without a row. */
const MAX_STALE_SHARE = 0.2;
/** After a failure, or without the package, the next attempt comes after so many changes. */
const CHANGES_AFTER_FAILURE = 50_000;

const factsSchema = z.object({
  sha256: z.string(),
  /** Bitmap, base64. */
  labels: z.base64(),
  /** Rows left out as equal to others. */
  left: z.int().min(0),
});

interface GraphFacts {
  labels: Bitmap;
  left: number;
}

interface LoadedGraph extends GraphFacts {
  count: number;
  /** Labels without a row, at most. */
  stale: number;
}

const none: Bitmap = new Uint32Array(0);

/** Work on a graph that may be stopped: while it waits for its thread, and there. */
class Growth {
  readonly #controller = new AbortController();
  /** Stop if nonzero; then 1 while the thread works on it. */
  readonly flags = new Int32Array(new SharedArrayBuffer(8));

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    Atomics.store(this.flags, 0, 1);
    this.#controller.abort(new Error('the graph is not wanted any more'));
  }

  /** Resolves when no thread writes its file any more. */
  async ended(): Promise<void> {
    const running = Atomics.waitAsync(this.flags, 1, 1);
    if (running.async) await running.value;
  }
}

export class SpaceGraph {
  readonly #options: SpaceGraphOptions;
  readonly #dir: string;
  readonly #turns = pLimit(1);
  #loaded: LoadedGraph | null = null;
  #growth: Growth | null = null;
  #growing: Promise<void> = Promise.resolve();
  /** Changes until a build is tried. */
  #dueIn = 0;
  #closing = false;
  /** Calls of `purge` and `leave` under way: no build begins. */
  #leaving = 0;

  constructor(options: SpaceGraphOptions) {
    this.#options = options;
    this.#dir = join(options.dir, 'graph');
  }

  open(): void {
    if (this.#options.graphs === null || !existsSync(this.#dir)) return;
    this.#begin(async ({ signal }) => {
      const facts = await this.#readFacts();
      const { worker, modelId, log } = this.#options;
      if (facts === null) return this.#deleteFiles();
      const file = { path: this.#path, sha256: facts.sha256 };
      if (await worker.run('isIntact', file, { signal })) return this.#use(facts, signal);
      log.warn({ model: modelId }, 'vector space: a damaged graph is built again');
      await this.#deleteFiles();
    });
  }

  /** Call after rows were added or removed: a graph is built or grown if it is time. */
  changed({ added, removed }: { added: number; removed: number }): void {
    this.#dueIn -= added + removed;
    if (this.#loaded !== null) this.#loaded.stale += removed;
    this.#growIfDue();
  }

  #growIfDue(): void {
    const { graphs, rows } = this.#options;
    if (graphs === null || this.#closing || this.#leaving > 0 || this.#growth !== null || this.#dueIn > 0) return;
    const { live } = rows().rows;
    if (live < graphs.from) return;
    const loaded = this.#loaded;
    const isStale = loaded !== null && loaded.stale > MAX_STALE_SHARE * loaded.count;
    if (loaded !== null && !isStale) {
      const outside = live - (loaded.count - loaded.stale) - loaded.left;
      if (outside <= Math.max(MAX_OUTSIDE, MAX_OUTSIDE_SHARE * live)) return;
    }
    const from = loaded === null || isStale ? null : this.#path;
    this.#begin((growth) => this.#grow(graphs.pool, from, growth));
  }

  /** Nothing opens, closes or uses a graph meanwhile. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns(work);
  }

  /** Delete a graph that has a label without a row, in files and memory. Errors: file system errors; those of the threads. */
  async purge(): Promise<void> {
    if (!existsSync(this.#dir)) return;
    await this.#withoutBuilds(async () => {
      const facts = await this.#readFacts();
      const isClean = facts !== null && [facts, this.#loaded].every((each) => this.#stale(each?.labels ?? none) === 0);
      if (!isClean) await this.#leave();
      else await rm(this.#next, { force: true });
    });
  }

  /** Delete the graph: another is built. Errors: as of `purge`. */
  async leave(): Promise<void> {
    if (this.#growth !== null || existsSync(this.#dir)) await this.#withoutBuilds(() => this.#leave());
  }

  #leave(): Promise<void> {
    return this.#turns(async () => {
      this.#loaded = null;
      this.#dueIn = 0;
      await this.#deleteFiles();
      await this.#options.searchers.closeGraph(this.#options.rows().id);
    });
  }

  async #withoutBuilds(work: () => Promise<void>): Promise<void> {
    this.#leaving++;
    try {
      await this.#stop();
      await work();
    } finally {
      this.#leaving--;
      this.#growIfDue();
    }
  }

  /** Resolves when nothing is opened or built. */
  async settled(): Promise<void> {
    while (this.#growth !== null) await this.#growing;
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#stop();
  }

  get #path(): string {
    return join(this.#dir, 'graph.hnsw');
  }

  get #facts(): string {
    return join(this.#dir, 'graph.json');
  }

  get #next(): string {
    return join(this.#dir, 'next.hnsw');
  }

  #begin(work: (growth: Growth) => Promise<void>): void {
    const growth = new Growth();
    const { log, modelId } = this.#options;
    this.#growth = growth;
    this.#growing = work(growth)
      .catch((error) => {
        if (growth.signal.aborted) return;
        this.#dueIn = CHANGES_AFTER_FAILURE;
        log.error({ model: modelId, err: error }, 'vector space: the graph cannot be built or used');
      })
      .finally(() => {
        if (this.#growth === growth) this.#growth = null;
      })
      .then(() => this.#growIfDue());
  }

  async #stop(): Promise<void> {
    const growth = this.#growth;
    growth?.stop();
    await this.#growing;
    await growth?.ended();
  }

  async #grow(pool: Graphs['pool'], from: string | null, { signal, flags }: Growth): Promise<void> {
    const { rows, log, modelId, noteLabels } = this.#options;
    const began = performance.now();
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const to = this.#next;
    const task = { shared: rows().rows.shared, from, to, flags: flags.buffer as SharedArrayBuffer };
    const grown = await pool.run('growGraph', task, { signal });
    signal.throwIfAborted();
    if (grown === null) {
      this.#dueIn = CHANGES_AFTER_FAILURE; // without the package
      return;
    }
    await syncFile(to);
    await noteLabels();
    // Without labels it is deleted: a crash leaves no graph under the labels of another.
    await rm(this.#facts, { force: true });
    await rename(to, this.#path);
    const { labels, left, sha256 } = grown;
    const text = { sha256, left, labels: Buffer.from(Uint32Array.from(labels).buffer).toString('base64') };
    await replaceText(this.#facts, JSON.stringify(text satisfies z.input<typeof factsSchema>));
    await this.#use({ labels, left }, signal);
    const s = Math.round((performance.now() - began) / 1000);
    log.info({ model: modelId, vectors: countOf(labels), s }, 'vector graph built');
  }

  /** Errors: those of the threads, and of a file that is cut short; then it is deleted. */
  #use({ labels, left }: GraphFacts, signal: AbortSignal): Promise<void> {
    const { searchers, rows } = this.#options;
    return this.#turns(async () => {
      signal.throwIfAborted();
      const { id } = rows();
      try {
        const isUsed = await searchers.openGraph(id, this.#path);
        this.#loaded = isUsed ? { labels, left, count: countOf(labels), stale: this.#stale(labels) } : null;
      } catch (error) {
        this.#loaded = null;
        await searchers.closeGraph(id);
        await this.#deleteFiles();
        throw error;
      }
      if (!this.#loaded) this.#dueIn = CHANGES_AFTER_FAILURE; // without the package
    });
  }

  async #readFacts(): Promise<(GraphFacts & { sha256: string }) | null> {
    try {
      const { labels, ...facts } = factsSchema.parse(JSON.parse(await readFile(this.#facts, 'utf8')));
      const bytes = Uint8Array.from(Buffer.from(labels, 'base64'));
      return { ...facts, labels: new Uint32Array(bytes.buffer, 0, bytes.length >>> 2) };
    } catch {
      return null;
    }
  }

  async #deleteFiles(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
  }

  #stale(labels: Bitmap): number {
    const { rows } = this.#options.rows();
    return bitsNotIn(labels, none).filter((label) => !rows.has(label)).length;
  }
}

function countOf(labels: Bitmap): number {
  return bitsNotIn(labels, none).length;
}
