/**
 * The owner of one embedding model's vectors in memory: K shards by `label % K`, each on its own pinned thread (the same K
 * threads serve all models). It runs on the main thread and does no heavy work there. LMDB's vectors are the truth; what is
 * here can be made again from them at any time, and no label ever changes its vector. So whatever happened, recovery is set
 * difference: `open` and `onMissing` name the labels that are to be added again, and labels that are not live are removed.
 *
 * What holds:
 * - When `add` resolves every search that starts afterwards finds the labels; when `remove` is called none finds them.
 *   Tasks of a shard run in the order they were asked for, so no lock is needed.
 * - A batch with a bad vector is refused before anything of it is stored.
 * - A label removed before it is added (a page forgotten while it was indexed) is remembered and never comes in.
 * - A thread that was replaced has lost its shard: the first task to find out has it loaded from its files, reports through
 *   `onMissing` what they lack, and is then run again. Until the missing labels are back, searches do without them.
 * - Files change by whole generations (space-files.ts). One save at a time; a failed one leaves the old generation valid.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type BadRow, findBadRows } from '../compute/bad-rows.ts';
import { addLabel, createLabelSet, hasLabel, type LabelSet, labelsNotIn } from '../compute/label-set.ts';
import type { LoadReport, Reply } from '../threads/shard-thread.ts';
import type { ThreadPool } from '../threads/thread-pool.ts';
import { mergeTop, type ScoredLabels } from '../threads/top-list.ts';
import { HeldLabels } from './held-labels.ts';
import type { IndexLog } from './index-log.ts';
import {
  dropSetAside,
  keepFile,
  readManifest,
  type ShardFiles,
  type SpaceManifest,
  setAside,
  setManifestAside,
  sweep,
  temporaryPath,
  writeManifest,
} from './space-files.ts';
import { BadVectorError, ShardLostError, SpaceClosedError } from './vector-errors.ts';

export type ShardTasks = typeof import('../threads/shard-thread.ts');

export interface VectorSpaceOptions {
  modelId: string;
  dim: number;
  /** The space's own folder. */
  dir: string;
  /** Identity of the store whose labels these are. */
  storeId: string;
  /** Pools of one pinned thread each; shard i lives on thread i. */
  shards: readonly ThreadPool<ShardTasks>[];
  log: IndexLog;
  /** Labels that were lost with a thread and are not in the files: to be added again from the store. */
  onMissing: (labels: Uint32Array) => void;
  /** A shard has a graph from so many live rows on. */
  graphFromRows?: number;
  /** Labels added or removed between two saves in the background. */
  saveEvery?: number;
}

export interface AddOptions {
  /** Leave out rows of zeros, which belong to chunks without terms, instead of refusing the batch. */
  passOverZeros?: boolean;
}

export interface OpenedSpace {
  space: VectorSpace;
  /** Live labels that no shard holds, ascending: to be added again. */
  missing: Uint32Array;
  /** Files were there once and are not, or cannot be used: more is missing than was not saved yet. */
  lost: boolean;
}

export interface SpaceSearchOptions {
  /** Only these labels. */
  allow?: LabelSet;
  /** Cosine below which nothing is of interest. */
  minScore?: number;
}

export interface VectorSpaceStats {
  shards: number;
  /** Live rows; holes of removed ones; rows that wait for their graph; nodes of the graphs. */
  live: number;
  holes: number;
  behind: number;
  nodes: number;
  rowBytes: number;
  generation: number;
  /** Changes since the last save: labels added and removed, slices of upkeep. */
  unsaved: number;
}

/** From so many rows per shard on a graph beats the scan, up to GRAPH_MAX_DIM dimensions; above, the scan wins. */
const GRAPH_FROM_ROWS = 24_000;
const GRAPH_MAX_DIM = 256;
/** Bytes of vectors sent to one shard at a time: a few ms of work, so that searches come in between. */
const BATCH_BYTES = 2 ** 20;
/** Bytes of rows that wait for their graph before `add` waits for it: half a millisecond of scanning. */
const MAX_BEHIND_BYTES = 8 * 2 ** 20;
/** Length of a slice of background work, ms. */
const SLICE_MS = 2;
/** Pause between two slices, ms: half of each thread is left to other work. */
const PAUSE_MS = 2;
/** So many pauses a slice waits for searches to end before it comes in between. */
const PATIENCE = 10;
const SAVE_EVERY = 20_000;
/**
 * A save writes whole shards, whatever changed, while a start adds 24,000 rows/s of 1,024 d from the store. So in quiet times
 * it must be worth it: more changes than a start brings back in a tenth of a second, and no row written more than twenty times.
 */
const QUIET_CHANGES = 2000;
const QUIET_SHARE = 0.05;
/** Changes that a start makes good in half a second: rows as above; 2,500 a second where a graph has to grow by them. */
const CLOSE_CHANGES = 12_000;
const CLOSE_GRAPH_CHANGES = 1250;
/** Rows of so many bytes are written in 10 ms: when it closes, a small space is always saved. */
const SMALL_BYTES = 4 * 2 ** 20;
/** Numbers checked between two turns of the event loop: half a millisecond. */
const CHECKED_NUMBERS = 2 ** 18;

export class VectorSpace {
  readonly #options: VectorSpaceOptions;
  readonly #held = new HeldLabels();
  readonly #removedAhead = new Set<number>();
  /** Labels added to and removed from each shard, and how many of them its files have. */
  readonly #changes: number[];
  readonly #saved: number[];
  readonly #reloads = new Map<number, Promise<void>>();
  #manifest: SpaceManifest;
  #lost = false;
  #saves: Promise<void> = Promise.resolve();
  #upkeep: Promise<void> | undefined;
  #upkeepAsked = false;
  #searching = 0;
  #closing = false;

  private constructor(options: VectorSpaceOptions) {
    this.#options = options;
    this.#changes = options.shards.map(() => 0);
    this.#saved = options.shards.map(() => 0);
    this.#manifest = emptyManifest(options);
  }

  /**
   * Load the space from its folder. Files that are not what the manifest says, or another space's, are set aside.
   * A folder without a manifest gets one if there is nothing live, so that from then on a missing one is a lost one.
   * Errors: of the folder (not of files in it) and of the threads.
   */
  static async open(options: VectorSpaceOptions, live: LabelSet): Promise<OpenedSpace> {
    const space = new VectorSpace(options);
    const adopted = await space.#adoptManifest();
    const fresh = !adopted && live.every((word) => word === 0);
    if (!adopted && !fresh) space.#lost = true;
    const reports = await Promise.all(options.shards.map((_, shard) => space.#load(shard)));
    const obsolete: number[] = [];
    reports.forEach(({ labels }, shard) => {
      for (const label of labels) {
        if (hasLabel(live, label) && label % options.shards.length === shard) space.#held.add(label);
        else obsolete.push(label);
      }
    });
    await space.#sendRemovals(obsolete);
    if (fresh) await writeManifest(options.dir, space.#manifest);
    await sweep(options.dir, adopted || fresh ? space.#manifest : null);
    space.#keepUp();
    return { space, missing: labelsNotIn(live, space.#held.set), lost: space.#lost };
  }

  /**
   * Add vectors under their labels; resolves when searches find them. Labels that are present stay as they are.
   * Shapes: rows of `dim` numbers, one after the other, as many as labels.
   * Errors: BadVectorError (nothing is stored); QueueFullError of the threads, ShardLostError: part may be stored, adding
   * the same again is right; SpaceClosedError.
   */
  async add(labels: Uint32Array, vectors: Float32Array, { passOverZeros = false }: AddOptions = {}): Promise<void> {
    this.#refuseIfClosing();
    const zeros = await this.#refuseBad(vectors, labels.length, passOverZeros);
    const places: number[] = [];
    labels.forEach((label, place) => {
      if (this.#removedAhead.has(label) || zeros.has(place)) return;
      this.#held.add(label);
      places.push(place);
    });
    const { dim, shards } = this.#options;
    const most = Math.max(1, Math.floor(BATCH_BYTES / (4 * dim)));
    for (let done = 0; done < places.length; done += most * shards.length) {
      const window = places.slice(done, done + most * shards.length);
      await Promise.all(
        shards.map((_, shard) => {
          const ofShard = window.filter((place) => labels[place] % shards.length === shard);
          return this.#addTo(shard, ofShard, labels, vectors);
        }),
      );
    }
    this.#keepUp();
  }

  /** Remove labels; no search that starts afterwards finds them. Unknown ones are remembered. */
  async remove(labels: Iterable<number>): Promise<void> {
    this.#refuseIfClosing();
    const removed = [...labels];
    for (const label of removed) {
      if (!this.#held.has(label)) this.#removedAhead.add(label);
      this.#held.delete(label);
    }
    await this.#sendRemovals(removed);
    this.#keepUp();
  }

  /**
   * The k nearest live labels by cosine, best first, equal ones by label.
   * Errors: BadVectorError for the query's vector; those of the threads.
   */
  async search(
    vector: Float32Array,
    k: number,
    { allow, minScore = -1 }: SpaceSearchOptions = {},
  ): Promise<ScoredLabels> {
    await this.#refuseBad(vector, 1);
    const search = { vector, k, minScore, ...(allow === undefined ? {} : { allow }) };
    this.#searching++;
    try {
      return mergeTop(await this.#askAll((pool, space) => pool.run('search', { space, ...search })), k);
    } finally {
      this.#searching--;
    }
  }

  /** Cosines of each vector with given labels, in their order; NaN for a label that is not there. Errors: as of `search`. */
  async score(vectors: readonly Float32Array[], labels: Uint32Array): Promise<Float32Array[]> {
    for (const vector of vectors) await this.#refuseBad(vector, 1);
    const found = await this.#askAll((pool, space) => pool.run('score', { space, vectors, labels }));
    return vectors.map((_, which) => Float32Array.from(labels, (label, i) => found[label % found.length][which][i]));
  }

  /**
   * One slice of background work on every shard: growing graphs, dropping holes. Gives the rows that wait for more. The space
   * does this by itself, with pauses; call it to have it done sooner. Nothing is missing from searches meanwhile.
   */
  async maintain(budgetMs = SLICE_MS): Promise<number> {
    const behind = await Promise.all(this.#changes.map((_, shard) => this.#maintainShard(shard, budgetMs)));
    return behind.reduce((sum, rows) => sum + rows, 0);
  }

  /** Make the files agree with the space as it is now. Errors: those of the file system; the old files then still load. */
  save(): Promise<void> {
    const saved = this.#saves.then(() => this.#writeGeneration());
    this.#saves = saved.catch(() => undefined);
    return saved;
  }

  /** For quiet times: save if that is worth what it writes. Errors: as of `save`. */
  async saveIfWorthIt(): Promise<void> {
    if (this.#unsaved > Math.max(QUIET_CHANGES, QUIET_SHARE * this.#held.size)) await this.save();
  }

  /** No byte of a removed vector stays in memory or on disk: drop all holes, save, delete what had been set aside. */
  async purge(): Promise<void> {
    await this.#askAll((pool, space) => pool.run('compact', { space }));
    for (let shard = 0; shard < this.#changes.length; shard++) this.#changes[shard]++;
    await this.save();
    await dropSetAside(this.#options.dir);
  }

  async stats(): Promise<VectorSpaceStats> {
    const each = await this.#askAll((pool, space) => pool.run('stats', { space }));
    const sum = (of: 'live' | 'holes' | 'behind' | 'nodes' | 'rowBytes') =>
      each.reduce((total, one) => total + one[of], 0);
    return {
      shards: each.length,
      live: sum('live'),
      holes: sum('holes'),
      behind: sum('behind'),
      nodes: sum('nodes'),
      rowBytes: sum('rowBytes'),
      generation: this.#manifest.generation,
      unsaved: this.#unsaved,
    };
  }

  /**
   * Free the threads' memory; takes nothing more. Saves first, unless the next start makes good what is unsaved in less time.
   * The pools stay open.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#upkeep;
    const { dim, graphFromRows = defaultGraphFromRows(dim) } = this.#options;
    const few = graphFromRows === Number.POSITIVE_INFINITY ? CLOSE_CHANGES : CLOSE_GRAPH_CHANGES;
    if (this.#unsaved > few || this.#held.size * dim <= SMALL_BYTES) await this.save();
    else await this.#saves;
    await this.#release();
  }

  /** Close without saving and delete the folder: the model is gone. */
  async drop(): Promise<void> {
    this.#closing = true;
    await this.#upkeep;
    await this.#saves;
    await this.#release();
    await rm(this.#options.dir, { recursive: true, force: true });
  }

  /** Whether there is a manifest for this space. */
  async #adoptManifest(): Promise<boolean> {
    const { dir, storeId, modelId, dim, shards, log } = this.#options;
    const found = await readManifest(dir);
    if (found === null) return false;
    let fault: string | undefined;
    if (typeof found === 'string') fault = found;
    else if (found.store_id !== storeId) fault = `of another store, ${found.store_id}`;
    else if (found.model_id !== modelId) fault = `of another model, ${found.model_id}`;
    else if (found.dim !== dim) fault = `of ${found.dim} dimensions, not ${dim}`;
    else if (found.shards.length !== shards.length) fault = `of ${found.shards.length} shards, not ${shards.length}`;
    else this.#manifest = found;
    if (fault === undefined) return true;
    log.warn({ model: modelId, dir, fault }, 'vector space: manifest set aside');
    await setManifestAside(dir);
    return false;
  }

  /** Have a shard's thread load its files, and set aside those that it refused. */
  async #load(shard: number): Promise<LoadReport> {
    const { dir, dim, modelId, graphFromRows = defaultGraphFromRows(dim), log } = this.#options;
    const { rows, graph } = this.#manifest.shards[shard];
    const report = await this.#options.shards[shard].run('open', {
      space: modelId,
      dim,
      graphFromRows,
      rows: rows === null ? null : { ...rows, path: join(dir, rows.name) },
      graph: graph === null ? null : { ...graph, path: join(dir, graph.name) },
    });
    const { rowsFault, graphFault } = report;
    if (rowsFault !== null || graphFault !== null) {
      log.warn({ model: modelId, shard, rowsFault, graphFault }, 'vector space: file set aside');
      if (rows !== null && rowsFault !== null) await setAside(dir, rows.name);
      if (graph !== null) await setAside(dir, graph.name);
      this.#manifest.shards[shard] = rowsFault === null ? { rows, graph: null } : { rows: null, graph: null };
      this.#changes[shard]++;
      if (rowsFault !== null) this.#lost = true;
    }
    return report;
  }

  async #addTo(shard: number, places: readonly number[], labels: Uint32Array, vectors: Float32Array): Promise<void> {
    const { dim, modelId } = this.#options;
    const wanted = places.filter((place) => this.#held.has(labels[place]));
    if (wanted.length === 0) return;
    this.#changes[shard] += wanted.length;
    const { bad, behind } = await this.#ask(shard, (pool, space) => {
      const batch = new Float32Array(wanted.length * dim);
      for (let i = 0; i < wanted.length; i++) {
        batch.set(vectors.subarray(wanted[i] * dim, (wanted[i] + 1) * dim), i * dim);
      }
      const batchLabels = Uint32Array.from(wanted, (place) => labels[place]);
      return pool.run('add', { space, labels: batchLabels, vectors: batch }, { transfer: [batch.buffer] });
    });
    if (bad.length > 0) throw new BadVectorError(modelId, bad);
    for (let waiting = behind; waiting * dim > MAX_BEHIND_BYTES; ) waiting = await this.#maintainShard(shard, SLICE_MS);
  }

  async #maintainShard(shard: number, budgetMs: number): Promise<number> {
    const { behind, worked } = await this.#ask(shard, (pool, space) => pool.run('maintain', { space, budgetMs }));
    if (worked) this.#changes[shard]++;
    return behind;
  }

  /** Have the background work done until there is none. */
  #keepUp(): void {
    this.#upkeepAsked = true;
    if (this.#upkeep !== undefined || this.#closing) return;
    this.#upkeep = this.#runUpkeep()
      .catch((error) => {
        this.#options.log.error({ model: this.#options.modelId, err: error }, 'vector space: upkeep failed');
      })
      .finally(() => {
        this.#upkeep = undefined;
      });
  }

  async #runUpkeep(): Promise<void> {
    const { saveEvery = SAVE_EVERY } = this.#options;
    while (this.#upkeepAsked && !this.#closing) {
      this.#upkeepAsked = false;
      if ((await this.maintain()) > 0) this.#upkeepAsked = true;
      if (this.#unsaved >= Math.max(saveEvery, QUIET_SHARE * this.#held.size)) await this.save();
      if (!this.#upkeepAsked) return;
      let pauses = 0;
      do await setTimeout(PAUSE_MS);
      while (this.#searching > 0 && ++pauses < PATIENCE);
    }
  }

  get #unsaved(): number {
    return this.#changes.reduce((total, changes, shard) => total + changes - this.#saved[shard], 0);
  }

  async #sendRemovals(labels: readonly number[]): Promise<void> {
    const { shards } = this.#options;
    await Promise.all(
      shards.map(async (_, shard) => {
        const of = Uint32Array.from(labels.filter((label) => label % shards.length === shard));
        if (of.length === 0) return;
        this.#changes[shard] += of.length;
        await this.#ask(shard, (pool, space) => pool.run('remove', { space, labels: of }));
      }),
    );
  }

  async #writeGeneration(): Promise<void> {
    const { dir, shards } = this.#options;
    const generation = this.#manifest.generation + 1;
    const changes = [...this.#changes];
    if (changes.every((count, shard) => count === this.#saved[shard]) && this.#manifest.generation > 0) return;
    const files: ShardFiles[] = [...this.#manifest.shards];
    const names: string[] = [];
    try {
      for (let shard = 0; shard < shards.length; shard++) {
        if (changes[shard] === this.#saved[shard] && this.#manifest.generation > 0) continue;
        const rowsName = `shard-${shard}.${generation}.rows`;
        const graphName = `shard-${shard}.${generation}.graph`;
        names.push(rowsName, graphName);
        const rowsPath = temporaryPath(dir, rowsName);
        const graphPath = temporaryPath(dir, graphName);
        const saved = await this.#ask(shard, (pool, space) => pool.run('save', { space, rowsPath, graphPath }));
        const rows = await keepFile(dir, rowsName, saved.rowsSha256);
        const graph = saved.graph && {
          ...(await keepFile(dir, graphName, saved.graph.sha256)),
          covered: saved.graph.covered,
        };
        files[shard] = { rows, graph };
      }
      const manifest = { ...this.#manifest, generation, shards: files };
      await writeManifest(dir, manifest);
      this.#manifest = manifest;
    } catch (error) {
      for (const name of names) {
        await rm(join(dir, name), { force: true });
        await rm(temporaryPath(dir, name), { force: true });
      }
      throw error;
    }
    changes.forEach((count, shard) => {
      this.#saved[shard] = count;
    });
    await sweep(dir, this.#manifest);
  }

  /** A task on one shard; if its thread has lost the shard, once more after loading it. */
  async #ask<Value>(
    shard: number,
    task: (pool: ThreadPool<ShardTasks>, space: string) => Promise<Reply<Value>>,
  ): Promise<Value> {
    const { shards, modelId } = this.#options;
    const reply = await task(shards[shard], modelId);
    if (!reply.lost) return reply.value;
    if (!this.#reloads.has(shard)) {
      this.#reloads.set(
        shard,
        this.#reload(shard).finally(() => this.#reloads.delete(shard)),
      );
    }
    await this.#reloads.get(shard);
    const again = await task(shards[shard], modelId);
    if (again.lost) throw new ShardLostError(modelId, shard);
    return again.value;
  }

  async #askAll<Value>(task: (pool: ThreadPool<ShardTasks>, space: string) => Promise<Reply<Value>>): Promise<Value[]> {
    return Promise.all(this.#options.shards.map((_, shard) => this.#ask(shard, task)));
  }

  async #reload(shard: number): Promise<void> {
    const { shards, modelId, log, onMissing } = this.#options;
    log.error({ model: modelId, shard }, 'vector space: a thread was replaced, its shard is loaded again');
    const { labels } = await this.#load(shard);
    const loaded = createLabelSet(this.#held.set.length * 32);
    const obsolete: number[] = [];
    for (const label of labels) {
      if (this.#held.has(label)) addLabel(loaded, label);
      else obsolete.push(label);
    }
    await shards[shard].run('remove', { space: modelId, labels: Uint32Array.from(obsolete) });
    const missing = labelsNotIn(this.#held.set, loaded).filter((label) => label % shards.length === shard);
    this.#changes[shard] += 1;
    if (missing.length > 0) onMissing(missing);
  }

  async #release(): Promise<void> {
    const { shards, modelId } = this.#options;
    await Promise.all(shards.map((pool) => pool.run('release', { space: modelId })));
  }

  /** Gives the places of rows of zeros, if those are to be passed over. */
  async #refuseBad(vectors: Float32Array, count: number, passOverZeros = false): Promise<ReadonlySet<number>> {
    const { dim, modelId } = this.#options;
    const step = Math.max(1, Math.floor(CHECKED_NUMBERS / dim));
    const found: BadRow[] = [];
    for (let row = 0; row === 0 || row < count; row += step) {
      const rows = Math.min(step, count - row);
      const end = row + rows === count ? vectors.length : (row + rows) * dim;
      for (const bad of findBadRows(vectors.subarray(row * dim, end), dim, rows)) {
        found.push({ ...bad, row: row + bad.row });
      }
      if (row + step < count) await new Promise(setImmediate);
    }
    const zeros = new Set(passOverZeros ? found.filter(({ reason }) => reason === 'zero').map(({ row }) => row) : []);
    const refused = found.filter(({ row }) => !zeros.has(row));
    if (refused.length > 0) throw new BadVectorError(modelId, refused);
    return zeros;
  }

  #refuseIfClosing(): void {
    if (this.#closing) throw new SpaceClosedError(this.#options.modelId);
  }
}

function defaultGraphFromRows(dim: number): number {
  return dim <= GRAPH_MAX_DIM ? GRAPH_FROM_ROWS : Number.POSITIVE_INFINITY;
}

function emptyManifest({ storeId, modelId, dim, shards }: VectorSpaceOptions): SpaceManifest {
  return {
    format: 1,
    generation: 0,
    store_id: storeId,
    model_id: modelId,
    dim,
    space: 'cosine',
    shards: shards.map(() => ({ rows: null, graph: null })),
  };
}
