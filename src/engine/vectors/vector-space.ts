/**
 * Owner of one model's vectors in memory: K shards by `label % K`, each on a pinned thread shared by all models. Runs on the main thread
 * without heavy work. LMDB's vectors are the truth and no label changes its vector, so recovery is a set difference: `open` and
 * `onMissing` report labels to add again; labels that are not live are removed.
 *
 * Invariants:
 * - Searches started after `add` resolves find its labels; searches started after a call of `remove` do not.
 * - A batch with a bad vector is refused as a whole (check-vectors.ts).
 * - A label removed before it is added (page forgotten during indexing) is remembered and never added.
 *
 * Parts: space-shards.ts (dispatch, replaced threads), space-files.ts (files).
 */

import { type BadRow, findBadRows } from '../../compute/embedding/bad-rows.ts';
import { type Bitmap, bitsNotIn, GrowingBitmap } from '../../compute/structures/bitmap.ts';
import { mergeTop, type ScoredLabels } from '../../compute/structures/top-k.ts';
import type { IndexLog } from '../index-log.ts';
import type { CandidateRows, CandidateSearch, ShardStats } from './shard.ts';
import { SpaceFiles, type WriteShard } from './space-files.ts';
import { type ShardPool, SpaceShards } from './space-shards.ts';

export type { ShardTasks } from './space-shards.ts';

export interface VectorSpaceOptions {
  modelId: string;
  dim: number;
  dir: string;
  /** Identity of the store whose labels these are. */
  storeId: string;
  /** One pinned thread each; shard i lives on thread i. */
  shards: readonly ShardPool[];
  /** The index's name on the threads. Without a slash. */
  namespace: string;
  log: IndexLog;
  /** Labels lost with a thread and not in the files: add them again from the store. */
  onMissing: (labels: Uint32Array) => void;
  /** Changes between two background saves. */
  saveEvery?: number;
  /** Called before files become valid, so the mark covers their labels. */
  noteLabels?: () => Promise<void>;
}

export interface AddOptions {
  /** Skip rows of zeros (chunks without terms) instead of refusing the batch. */
  passOverZeros?: boolean;
}

export interface OpenedSpace {
  space: VectorSpace;
  /** Live labels in no shard, ascending: add them again. */
  missing: Uint32Array;
  /** Files existed and are missing or unusable: more is missing than unsaved changes. */
  lost: boolean;
  /** Dead rows in the files, until a purge or save. */
  dropped: number;
}

export interface SpaceSearchOptions {
  /** Only these labels. */
  allow?: Bitmap;
  /** Minimum cosine. */
  minScore?: number;
  signal?: AbortSignal | undefined;
}

/** Sums over all shards. */
export interface VectorSpaceStats extends ShardStats {
  shards: number;
  generation: number;
  /** Unsaved adds, removals and compactions. */
  unsaved: number;
}

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
  /** Running background work, and whether more is needed. */
  #tending: Promise<void> | undefined;
  #isAsked = false;
  /** Unsaved changes at a failed save: the next background save waits for as many more. */
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
   * Load the space. Damaged or foreign files are set aside. A folder without a manifest gets one if nothing is live, so that later a
   * missing one means a loss.
   * Errors: of the folder (not of its files) and of the threads.
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
   * Add vectors; searches find them when this resolves. Existing labels stay.
   * Shapes: `labels.length` rows of `dim` numbers.
   * Errors: BadVectorError (nothing stored); QueueFullError, ShardLostError: part may be stored, retry; SpaceClosedError.
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

  /** Whether a label was, or is being, added and not removed. */
  holds(label: number): boolean {
    return this.#held.has(label);
  }

  /** Searches started later do not find them. Unknown labels are remembered. */
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
   * The k nearest live labels by cosine, best first, ties by label.
   * Errors: BadVectorError for the query; those of the threads.
   */
  async search(vector: Float32Array, k: number, options: SpaceSearchOptions = {}): Promise<ScoredLabels<Float32Array>> {
    const [found] = await this.searchEach([vector], k, options);
    return found;
  }

  /** The same for several vectors, in one round trip. Errors: as of `search`. */
  async searchEach(
    vectors: readonly Float32Array[],
    k: number,
    { allow, minScore = -1, signal }: SpaceSearchOptions = {},
  ): Promise<ScoredLabels<Float32Array>[]> {
    for (const vector of vectors) await this.#check(vector, 1);
    const search = { vectors, k, minScore, ...(allow === undefined ? {} : { allow }) };
    const found = await this.#shards.askAll((pool, space) => pool.run('search', { space, ...search }, { signal }));
    return vectors.map((_, which) =>
      mergeTop(
        found.map((each) => each[which]),
        k,
      ),
    );
  }

  /**
   * The k nearest to the first vector in each set of labels (null: all), and every vector's cosines with these and `labels`, in one
   * round trip. Errors: as of `search`.
   */
  async candidates({ labels, ...search }: CandidateSearch, signal?: AbortSignal): Promise<CandidateRows> {
    for (const vector of search.vectors) await this.#check(vector, 1);
    const split = this.#shards.split(labels);
    const each = await this.#shards.askAll((pool, space, shard) =>
      pool.run('candidates', { space, ...search, labels: split[shard] }, { signal }),
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

  /** Resolves when no background work is left. */
  async settled(): Promise<void> {
    while (this.#tending !== undefined) await this.#tending;
  }

  /** Errors: file system errors; the old files then still load. */
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

  /** In quiet times. Errors: as of `save`. */
  async saveIfWorthIt(): Promise<void> {
    if (isWorthSaving({ unsaved: this.#files.unsaved, held: this.#held.size })) await this.save();
  }

  /** Drop all deleted rows and save, which also deletes `*.bad` files: no byte of a removed vector stays. */
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
   * Free the threads' memory; saves first unless the next start recovers faster. The pools stay open. Errors: as of `save`; memory is
   * freed in any case.
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

  /** Close without saving and delete the folder. */
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
      // Only now: some may have been removed while others waited.
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

  /** Background work after each change: drop deleted rows if many, save if due. */
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

/** Numbers checked per turn of the event loop: half a millisecond. */
const CHECKED_NUMBERS = 2 ** 18;

/** Invalid vectors were refused with their whole batch. A retry fails the same way. */
export class BadVectorError extends Error {
  readonly code = 'bad_vector';
  readonly retryable = false;
  /** Bad rows by position, in order. */
  readonly rows: readonly BadRow[];

  constructor(modelId: string, rows: readonly BadRow[]) {
    const shown = rows.slice(0, 5).map(({ row, reason }) => `row ${row}: ${reason}`);
    super(`model ${modelId} gave ${rows.length} vectors that cannot be indexed (${shown.join(', ')})`);
    this.name = 'BadVectorError';
    this.rows = rows;
  }
}

interface VectorCheck {
  modelId: string;
  dim: number;
  count: number;
  /** Return the positions of zero rows instead of refusing them. */
  passOverZeros?: boolean;
}

/** Returns the positions of skipped zero rows. Errors: BadVectorError. */
async function refuseBadVectors(
  vectors: Float32Array,
  { modelId, dim, count, passOverZeros = false }: VectorCheck,
): Promise<ReadonlySet<number>> {
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

/** Bytes of vectors per shard task: a millisecond, so searches run in between. */
const BATCH_BYTES = 2 ** 17;
/** Changes between two background saves. */
const SAVE_EVERY = 20_000;
/**
 * A save writes whole shards, while a start adds 24,000 rows/s of 1,024 d from the store. So a save in quiet times needs more changes
 * than a start recovers in a tenth of a second, and writes no row more than twenty times.
 */
const QUIET_CHANGES = 2000;
const QUIET_SHARE = 0.05;
/** Changes that a start recovers in half a second. */
const CLOSE_CHANGES = 12_000;
/** Written in 10 ms: a small space is always saved on close. */
const SMALL_BYTES = 4 * 2 ** 20;

function batchRows(dim: number): number {
  return Math.max(1, Math.floor(BATCH_BYTES / (4 * dim)));
}

/** Unsaved changes and live labels. */
interface Unsaved {
  unsaved: number;
  held: number;
}

/** Whether to save during operation. */
function isSaveDue({ unsaved, held }: Unsaved, saveEvery = SAVE_EVERY): boolean {
  return unsaved >= Math.max(saveEvery, QUIET_SHARE * held);
}

/** Whether to save in quiet times. */
function isWorthSaving({ unsaved, held }: Unsaved): boolean {
  return unsaved > Math.max(QUIET_CHANGES, QUIET_SHARE * held);
}

/** Whether recovering at the next start would take longer than saving now. */
function isSavedOnClosing({ unsaved, held }: Unsaved, dim: number): boolean {
  return unsaved > CLOSE_CHANGES || held * dim <= SMALL_BYTES;
}
