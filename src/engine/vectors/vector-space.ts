/**
 * The owner of one embedding model's vectors in memory: K shards by `label % K`, each on its own pinned thread (the same K
 * threads serve all models). It runs on the main thread and does no heavy work there. LMDB's vectors are the truth; what is
 * here can be made again from them at any time, and no label ever changes its vector. So whatever happened, recovery is set
 * difference: `open` and `onMissing` name the labels that are to be added again, and labels that are not live are removed.
 *
 * What holds:
 * - When `add` resolves every search that starts afterwards finds the labels; when `remove` is called none finds them.
 * - A batch with a bad vector is refused before anything of it is stored (check-vectors.ts).
 * - A label removed before it is added (a page forgotten while it was indexed) is remembered and never comes in.
 *
 * Its parts: the way to the shards, and what happens when a thread is replaced, space-shards.ts; files and what they lack,
 * space-files.ts; the measured rules, space-policy.ts.
 */
import { type Bitmap, bitsNotIn, GrowingBitmap } from '../../compute/structures/bitmap.ts';
import { mergeTop, type ScoredLabels } from '../../compute/structures/top-k.ts';
import type { IndexLog } from '../index-log.ts';
import { BadVectorError, refuseBadVectors } from './check-vectors.ts';
import type { CandidateRows, CandidateSearch, ShardStats } from './shard.ts';
import { SpaceFiles, type WriteShard } from './space-files.ts';
import { batchRows, isSaveDue, isSavedOnClosing, isWorthSaving } from './space-policy.ts';
import { type ShardPool, SpaceShards } from './space-shards.ts';

export type { ShardTasks } from './space-shards.ts';

export interface VectorSpaceOptions {
  modelId: string;
  dim: number;
  /** The space's own folder. */
  dir: string;
  /** Identity of the store whose labels these are. */
  storeId: string;
  /** Pools of one pinned thread each; shard i lives on thread i. */
  shards: readonly ShardPool[];
  /** Names the index on the threads, which may hold several. Without a slash. */
  namespace: string;
  log: IndexLog;
  /** Labels that were lost with a thread and are not in the files: to be added again from the store. */
  onMissing: (labels: Uint32Array) => void;
  /** Labels added or removed between two saves in the background. */
  saveEvery?: number;
  /** Called before files become valid, with whatever labels were added until then. */
  noteLabels?: () => Promise<void>;
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
  /** Rows of the files that are not live: they stay there until a purge or a save. */
  dropped: number;
}

export interface SpaceSearchOptions {
  /** Only these labels. */
  allow?: Bitmap;
  /** Cosine below which nothing is of interest. */
  minScore?: number;
  /** Whether a rough answer does: most of the nearest, for a fraction of the time. */
  rough?: boolean;
}

/** The counts are those of all shards. */
export interface VectorSpaceStats extends ShardStats {
  shards: number;
  generation: number;
  /** Changes since the last save: labels added and removed, shards tidied. */
  unsaved: number;
}

/** The space is closing and takes nothing more. */
export class SpaceClosedError extends Error {
  readonly code = 'space_closed';
  readonly retryable = false;

  constructor(modelId: string) {
    super(`the vector space of model ${modelId} is closing`);
    this.name = 'SpaceClosedError';
  }
}

export class VectorSpace {
  readonly #options: VectorSpaceOptions;
  readonly #files: SpaceFiles;
  readonly #shards: SpaceShards;
  readonly #held = new GrowingBitmap();
  readonly #removedAhead = new Set<number>();
  /** Whether shards may have deleted rows to drop. */
  #isUntidy = true;
  /** Background work that goes on, and whether there is more by now. */
  #tending: Promise<void> | undefined;
  #isAsked = false;
  /** What was unsaved when a save failed: the next one in the background waits for as many changes again. */
  #unsavedAtFailure = 0;
  #closing = false;

  private constructor(options: VectorSpaceOptions, files: SpaceFiles) {
    const { modelId, dim, shards: pools, onMissing, log, namespace } = options;
    this.#options = options;
    this.#files = files;
    const held = this.#held;
    this.#shards = new SpaceShards({
      ...{ pools, namespace, modelId, dim },
      ...{ files, held, onMissing, log },
    });
  }

  /**
   * Load the space from its folder. Files that are not what the manifest says, or another space's, are set aside.
   * A folder without a manifest gets one if there is nothing live, so that from then on a missing one is a lost one.
   * Errors: of the folder (not of files in it) and of the threads.
   */
  static async open(options: VectorSpaceOptions, live: Bitmap): Promise<OpenedSpace> {
    const files = await SpaceFiles.open({ ...options, shards: options.shards.length });
    const space = new VectorSpace(options, files);
    const fresh = !files.adopted && live.every((word) => word === 0);
    const reports = await space.#shards.loadAll(live);
    for (const { labels } of reports) for (const label of labels) space.#held.add(label);
    if (fresh) await files.begin();
    else await files.sweep();
    space.#tend();
    const lost = files.rowsLost || !(files.adopted || fresh);
    return {
      space,
      missing: bitsNotIn(live, space.#held.set),
      lost,
      dropped: reports.reduce((sum, each) => sum + each.dropped, 0),
    };
  }

  /**
   * Add vectors under their labels; resolves when searches find them. Labels that are present stay as they are.
   * Shapes: rows of `dim` numbers, one after the other, as many as labels.
   * Errors: BadVectorError (nothing is stored); QueueFullError of the threads, ShardLostError: part may be stored, adding
   * the same again is right; SpaceClosedError.
   */
  async add(labels: Uint32Array, vectors: Float32Array, { passOverZeros = false }: AddOptions = {}): Promise<void> {
    this.#refuseIfClosing();
    const zeros = await this.#check(vectors, labels.length, passOverZeros);
    const places: number[] = [];
    labels.forEach((label, place) => {
      if (this.#removedAhead.has(label) || zeros.has(place)) return;
      this.#held.add(label);
      places.push(place);
    });
    const { count } = this.#shards;
    const step = batchRows(this.#options.dim) * count;
    for (let done = 0; done < places.length; done += step) {
      const window = places.slice(done, done + step);
      await Promise.all(
        Array.from({ length: count }, (_, shard) => {
          const ofShard = window.filter((place) => labels[place] % count === shard);
          return this.#addTo(shard, ofShard, labels, vectors);
        }),
      );
    }
    this.#tend();
  }

  /** Whether a label was added, or is being added, and not removed. */
  holds(label: number): boolean {
    return this.#held.has(label);
  }

  /** Remove labels; no search that starts afterwards finds them. Unknown ones are remembered. */
  async remove(labels: Iterable<number>): Promise<void> {
    this.#refuseIfClosing();
    const removed = [...labels];
    for (const label of removed) {
      if (!this.#held.has(label)) this.#removedAhead.add(label);
      this.#held.delete(label);
    }
    this.#isUntidy = true;
    await Promise.all(
      this.#shards.split(removed).map(async (ofShard, shard) => {
        if (ofShard.length === 0) return;
        this.#files.changed(shard, ofShard.length);
        await this.#shards.ask(shard, (pool, space) => pool.run('remove', { space, labels: ofShard }));
      }),
    );
    this.#tend();
  }

  /**
   * The k nearest live labels by cosine, best first, equal ones by label.
   * Errors: BadVectorError for the query's vector; those of the threads.
   */
  async search(vector: Float32Array, k: number, options: SpaceSearchOptions = {}): Promise<ScoredLabels<Float32Array>> {
    const [found] = await this.searchEach([vector], k, options);
    return found;
  }

  /** The same for each of several vectors, in one trip to the threads. Errors: as of `search`. */
  async searchEach(
    vectors: readonly Float32Array[],
    k: number,
    { allow, minScore = -1, rough = false }: SpaceSearchOptions = {},
  ): Promise<ScoredLabels<Float32Array>[]> {
    for (const vector of vectors) await this.#check(vector, 1);
    const search = { vectors, k, minScore, rough, ...(allow === undefined ? {} : { allow }) };
    const found = await this.#shards.askAll((pool, space) => pool.run('search', { space, ...search }));
    return vectors.map((_, which) =>
      mergeTop(
        found.map((each) => each[which]),
        k,
      ),
    );
  }

  /**
   * The k nearest to the first vector among each of several sets of labels (null: among all), and the cosines of every vector with these and
   * with further labels, in one trip to the threads. Errors: as of `search`.
   */
  async candidates({ labels, ...search }: CandidateSearch): Promise<CandidateRows> {
    for (const vector of search.vectors) await this.#check(vector, 1);
    const split = this.#shards.split(labels);
    const each = await this.#shards.askAll((pool, space, shard) =>
      pool.run('candidates', { space, ...search, labels: split[shard] }),
    );
    return {
      found: search.among.map((_, which) =>
        mergeTop(
          each.map(({ found }) => found[which]),
          search.k,
        ),
      ),
      labels: Uint32Array.from(each.flatMap((shard) => Array.from(shard.labels))),
      cosines: search.vectors.map((_, which) =>
        Float32Array.from(each.flatMap(({ cosines }) => Array.from(cosines[which]))),
      ),
    };
  }

  /** Resolves when no background work is left: deleted rows are dropped where they were many, and what was due is saved. */
  async settled(): Promise<void> {
    while (this.#tending !== undefined) await this.#tending;
  }

  /** Make the files agree with the space as it is now. Errors: those of the file system; the old files then still load. */
  async save(): Promise<void> {
    const write: WriteShard = (shard, path) =>
      this.#shards.ask(shard, (pool, space) => pool.run('save', { space, path }));
    const { unsaved } = this.#files;
    try {
      await this.#files.save(write);
      this.#unsavedAtFailure = 0;
    } catch (error) {
      this.#unsavedAtFailure = unsaved;
      throw error;
    }
  }

  /** For quiet times: save if that is worth what it writes. Errors: as of `save`. */
  async saveIfWorthIt(): Promise<void> {
    if (isWorthSaving({ unsaved: this.#files.unsaved, held: this.#held.size })) await this.save();
  }

  /** No byte of a removed vector stays in memory or on disk: drop all deleted rows and save, with which goes what had been set aside. */
  async purge(): Promise<void> {
    await this.#shards.askAll((pool, space) => pool.run('compact', { space }));
    for (let shard = 0; shard < this.#shards.count; shard++) this.#files.changed(shard);
    await this.save();
  }

  async stats(): Promise<VectorSpaceStats> {
    const counts = await this.#shards.stats();
    const { number: generation, unsaved } = this.#files;
    return { shards: this.#shards.count, ...counts, generation, unsaved };
  }

  /**
   * Free the threads' memory; takes nothing more. Saves first, unless the next start makes good what is unsaved in less time.
   * The pools stay open. Errors: as of `save`; the memory is free all the same.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#tending;
    const behind = { unsaved: this.#files.unsaved, held: this.#held.size };
    try {
      if (isSavedOnClosing(behind, this.#options.dim)) await this.save();
      else await this.#files.settled();
    } finally {
      await this.#shards.release();
    }
  }

  /** Close without saving and delete the folder: the model is gone. */
  async drop(): Promise<void> {
    this.#closing = true;
    await this.#tending;
    await this.#files.settled();
    await this.#shards.release();
    await this.#files.drop();
  }

  async #addTo(shard: number, places: readonly number[], labels: Uint32Array, vectors: Float32Array): Promise<void> {
    const { dim, modelId } = this.#options;
    if (places.length === 0) return;
    const { bad } = await this.#shards.inTurn(shard, (pool, space) => {
      // Only now: some may have been removed while others had their turn.
      const wanted = places.filter((place) => this.#held.has(labels[place]));
      this.#files.changed(shard, wanted.length);
      const batch = new Float32Array(wanted.length * dim);
      for (let i = 0; i < wanted.length; i++) {
        batch.set(vectors.subarray(wanted[i] * dim, (wanted[i] + 1) * dim), i * dim);
      }
      const batchLabels = Uint32Array.from(wanted, (place) => labels[place]);
      return pool.run('add', { space, labels: batchLabels, vectors: batch }, { transfer: [batch.buffer] });
    });
    if (bad.length > 0) throw new BadVectorError(modelId, bad);
  }

  /** Background work, asked for after each change: drop deleted rows where they are many, save where that is due. */
  #tend(): void {
    this.#isAsked = true;
    if (this.#closing) return;
    this.#tending ??= this.#tendAll().finally(() => {
      this.#tending = undefined;
    });
  }

  async #tendAll(): Promise<void> {
    const { log, modelId } = this.#options;
    while (this.#isAsked && !this.#closing) {
      this.#isAsked = false;
      try {
        await this.#tidyIfNeeded();
        await this.#saveIfDue();
      } catch (error) {
        log.error({ model: modelId, err: error }, 'vector space: upkeep failed');
      }
    }
  }

  async #tidyIfNeeded(): Promise<void> {
    if (!this.#isUntidy) return;
    this.#isUntidy = false;
    const tidyShard = async (_: unknown, shard: number) => {
      if (await this.#shards.inTurn(shard, (pool, space) => pool.run('tidy', { space }))) this.#files.changed(shard);
    };
    try {
      await Promise.all(Array.from({ length: this.#shards.count }, tidyShard));
    } catch (error) {
      this.#isUntidy = true;
      throw error;
    }
  }

  async #saveIfDue(): Promise<void> {
    const { unsaved } = this.#files;
    const since = { unsaved: unsaved - this.#unsavedAtFailure, held: this.#held.size };
    if (isSaveDue(since, this.#options.saveEvery)) await this.save();
  }

  #check(vectors: Float32Array, count: number, passOverZeros = false): Promise<ReadonlySet<number>> {
    const { dim, modelId } = this.#options;
    return refuseBadVectors(vectors, { modelId, dim, count, passOverZeros });
  }

  #refuseIfClosing(): void {
    if (this.#closing) throw new SpaceClosedError(this.#options.modelId);
  }
}
