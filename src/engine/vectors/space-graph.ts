/**
 * The neighbour graph of a vector space: when it is built, its file, its searcher. It is a cache of the rows and may be
 * deleted at any time; searches are then exact. Opening, deleting and copying of rows run one at a time (`inTurn`). A
 * build, which takes minutes, runs next to them and can be stopped.
 *   graph/graph.hnsw (graph-file.ts), graph/next.hnsw while it is written
 *   graph/graph.json: checksum and labels of graph.hnsw, which is deleted if they are missing or wrong
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
import type { GrownGraph } from './graph-file.ts';
import type * as rowTasks from './row-tasks.ts';
import type { SpaceFilesOptions } from './space-files.ts';
import type { VectorRows } from './vector-rows.ts';

export type GraphTasks = typeof import('./graph-file.ts');

export interface Graphs {
  pool: SharedPool<Pick<GraphTasks, 'growGraph'>>;
  /** Min live rows of a space with a graph. */
  from: number;
}

export interface SpaceGraphOptions extends Pick<SpaceFilesOptions, 'dir' | 'modelId' | 'log'> {
  graphs: Graphs | null;
  searchers: Searchers;
  worker: SharedPool<Pick<typeof rowTasks, 'isIntact'>>;
  noteLabels: () => Promise<void>;
  /** The current rows, and their number at the searchers. */
  rows: () => { rows: VectorRows; id: number };
}

/** A graph grows if this share of rows is outside it, and more than this number, which takes under a millisecond. */
const MAX_OUTSIDE_SHARE = 0.05;
const MAX_OUTSIDE = 2048;
/** It is rebuilt if more than this share of its labels has no row. */
const MAX_STALE_SHARE = 0.2;
/** After a failure, or without the package, the next attempt waits for this number of changes. */
const CHANGES_AFTER_FAILURE = 50_000;

const factsSchema = z.object({
  sha256: z.string(),
  /** Bitmap, base64. */
  labels: z.base64(),
  /** Number of rows left out because they equal others. */
  left: z.int().min(0),
});

type GraphFacts = Omit<GrownGraph, 'sha256'>;

interface LoadedGraph extends GraphFacts {
  count: number;
  /** Max number of labels without a row. */
  stale: number;
}

const none: Bitmap = new Uint32Array(0);

/** Work on a graph that can be stopped, both while it waits for its thread and while it runs. */
function startGrowth() {
  const controller = new AbortController();
  /** [0]: stop if nonzero; [1]: 1 while the thread works on it. */
  const flags = new Int32Array(new SharedArrayBuffer(8));
  return {
    flags,
    signal: controller.signal,
    stop(): void {
      Atomics.store(flags, 0, 1);
      controller.abort(new Error('the graph is no longer needed'));
    },
    /** Resolves when no thread writes the file any more. */
    async ended(): Promise<void> {
      const running = Atomics.waitAsync(flags, 1, 1);
      if (running.async) await running.value;
    },
  };
}
type Growth = ReturnType<typeof startGrowth>;

export type SpaceGraph = ReturnType<typeof spaceGraph>;

export function spaceGraph({
  graphs,
  searchers,
  worker,
  noteLabels,
  rows,
  modelId,
  log,
  ...options
}: SpaceGraphOptions) {
  const dir = join(options.dir, 'graph');
  const [path, next, factsPath] = ['graph.hnsw', 'next.hnsw', 'graph.json'].map((name) => join(dir, name));
  const turns = pLimit(1);
  let loaded: LoadedGraph | null = null;
  let growth: Growth | null = null;
  let growing: Promise<void> = Promise.resolve();
  /** Changes until the next attempt to build. */
  let dueIn = 0;
  let isClosing = false;
  /** Running calls of `purge` and `leave`. Meanwhile no build begins. */
  let leaving = 0;

  const deleteFiles = () => rm(dir, { recursive: true, force: true });
  const staleIn = (labels: Bitmap) => bitsNotIn(labels, none).filter((label) => !rows().rows.has(label)).length;

  const readFacts = async (): Promise<(GraphFacts & { sha256: string }) | null> => {
    try {
      const { labels, ...facts } = factsSchema.parse(JSON.parse(await readFile(factsPath, 'utf8')));
      const bytes = Uint8Array.from(Buffer.from(labels, 'base64'));
      return { ...facts, labels: new Uint32Array(bytes.buffer, 0, bytes.length >>> 2) };
    } catch {
      return null;
    }
  };

  /** Errors: those of the threads, and of a truncated file, which is then deleted. */
  const use = ({ labels, left }: GraphFacts, signal: AbortSignal): Promise<void> =>
    turns(async () => {
      signal.throwIfAborted();
      const { id } = rows();
      try {
        const isUsed = await searchers.openGraph(id, path);
        loaded = isUsed ? { labels, left, count: countOf(labels), stale: staleIn(labels) } : null;
      } catch (error) {
        loaded = null;
        await searchers.closeGraph(id);
        await deleteFiles();
        throw error;
      }
      if (loaded === null) dueIn = CHANGES_AFTER_FAILURE; // without the package
    });

  const grow = async (pool: Graphs['pool'], from: string | null, { signal, flags }: Growth): Promise<void> => {
    const began = performance.now();
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const task = { shared: rows().rows.shared, from, to: next, flags: flags.buffer as SharedArrayBuffer };
    const grown = await pool.run('growGraph', task, { signal });
    signal.throwIfAborted();
    if (grown === null) {
      dueIn = CHANGES_AFTER_FAILURE; // without the package
      return;
    }
    await syncFile(next);
    await noteLabels();
    // If the labels are missing, the graph is deleted: a crash must not leave a graph with the labels of another.
    await rm(factsPath, { force: true });
    await rename(next, path);
    const { labels, left, sha256 } = grown;
    const text = { sha256, left, labels: Buffer.from(Uint32Array.from(labels).buffer).toString('base64') };
    await replaceText(factsPath, JSON.stringify(text satisfies z.input<typeof factsSchema>));
    await use({ labels, left }, signal);
    const s = Math.round((performance.now() - began) / 1000);
    log.info({ model: modelId, vectors: countOf(labels), s }, 'vector graph built');
  };

  const begin = (work: (growth: Growth) => Promise<void>): void => {
    const begun = startGrowth();
    growth = begun;
    growing = work(begun)
      .catch((error) => {
        if (begun.signal.aborted) return;
        dueIn = CHANGES_AFTER_FAILURE;
        log.error({ model: modelId, err: error }, 'vector space: the graph cannot be built or used');
      })
      .finally(() => {
        if (growth === begun) growth = null;
      })
      .then(growIfDue);
  };

  const growIfDue = (): void => {
    if (graphs === null || isClosing || leaving > 0 || growth !== null || dueIn > 0) return;
    const { live } = rows().rows;
    if (live < graphs.from) return;
    const isStale = loaded !== null && loaded.stale > MAX_STALE_SHARE * loaded.count;
    if (loaded !== null && !isStale) {
      const outside = live - (loaded.count - loaded.stale) - loaded.left;
      if (outside <= Math.max(MAX_OUTSIDE, MAX_OUTSIDE_SHARE * live)) return;
    }
    const from = loaded === null || isStale ? null : path;
    begin((begun) => grow(graphs.pool, from, begun));
  };

  const stop = async (): Promise<void> => {
    const stopped = growth;
    stopped?.stop();
    await growing;
    await stopped?.ended();
  };

  const withoutBuilds = async (work: () => Promise<void>): Promise<void> => {
    leaving++;
    try {
      await stop();
      await work();
    } finally {
      leaving--;
      growIfDue();
    }
  };

  const leave = (): Promise<void> =>
    turns(async () => {
      loaded = null;
      dueIn = 0;
      await deleteFiles();
      await searchers.closeGraph(rows().id);
    });

  return {
    open(): void {
      if (graphs === null || !existsSync(dir)) return;
      begin(async ({ signal }) => {
        const facts = await readFacts();
        if (facts === null) return deleteFiles();
        if (await worker.run('isIntact', { path, sha256: facts.sha256 }, { signal })) return use(facts, signal);
        log.warn({ model: modelId }, 'vector space: rebuilding a damaged graph');
        await deleteFiles();
      });
    },
    /** Call after rows were added or removed. Builds or grows a graph if it is due. */
    changed({ added, removed }: { added: number; removed: number }): void {
      dueIn -= added + removed;
      if (loaded !== null) loaded.stale += removed;
      growIfDue();
    },
    /** Meanwhile no graph is opened, closed or used. */
    inTurn: <Result>(work: () => Promise<Result>): Promise<Result> => turns(work),
    /** Deletes a graph that has a label without a row. Errors: file system errors; those of the threads. */
    async purge(): Promise<void> {
      if (!existsSync(dir)) return;
      await withoutBuilds(async () => {
        const facts = await readFacts();
        const isClean = facts !== null && [facts, loaded].every((each) => staleIn(each?.labels ?? none) === 0);
        if (!isClean) await leave();
        else await rm(next, { force: true });
      });
    },
    /** Delete the graph, so that another is built. Errors: as of `purge`. */
    async leave(): Promise<void> {
      if (growth !== null || existsSync(dir)) await withoutBuilds(leave);
    },
    /** Resolves when no graph is being opened or built. */
    async settled(): Promise<void> {
      while (growth !== null) await growing;
    },
    async close(): Promise<void> {
      isClosing = true;
      await stop();
    },
  };
}

function countOf(labels: Bitmap): number {
  return bitsNotIn(labels, none).length;
}
