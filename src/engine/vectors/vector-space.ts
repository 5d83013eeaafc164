/**
 * Owner and only writer of a model's vectors: rows that searchers read (vector-rows.ts), and their file. LMDB is the
 * truth and no label changes its vector, so recovery is a set difference: `open` reports labels to add again.
 * Invariants:
 * - Searches started after `add` resolves find its labels; searches started after a call of `remove` do not.
 * - A batch with a bad vector is refused as a whole.
 * - A label removed before it is added (page forgotten during indexing) is remembered and never added.
 */
import pLimit from 'p-limit';
import { type BadRow, findBadRows } from '../../compute/embedding/pool-vectors.ts';
import { type Bitmap, bitsNotIn } from '../../compute/structures/bitmap.ts';
import type { ScoredLabels } from '../../compute/structures/top-k.ts';
import type { RelatedTask } from '../../threads/search-thread.ts';
import type { SharedPool } from '../../threads/thread-pool.ts';
import { IndexClosedError } from '../index-folder.ts';
import type { Searchers } from '../searchers.ts';
import { openSpaceFiles, type SpaceFiles, type SpaceFilesOptions } from './space-files.ts';
import { type Graphs, type SpaceGraph, spaceGraph } from './space-graph.ts';
import { VectorRows } from './vector-rows.ts';

export type RowTasks = typeof import('./row-tasks.ts');
export interface VectorSpaceOptions extends SpaceFilesOptions {
  searchers: Searchers;
  worker: SharedPool<RowTasks>;
  /** Null: every search compares all rows. */
  graphs?: Graphs | null;
  /** Number of changes between two background saves. */
  saveEvery?: number;
}

export interface SpaceSearchOptions {
  allow?: Bitmap | undefined;
  minScore?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Erased rows are dropped if their share is larger, and if they are more than a few. */
const MAX_DELETED_SHARE = 0.3;
const MIN_DELETED = 256;

export class VectorSpace {
  readonly #options: VectorSpaceOptions;
  readonly #files: SpaceFiles;
  #rows: VectorRows;
  /** The number of the rows at the searchers. */
  #id: number;
  readonly #removedAhead = new Set<number>();
  /** Labels erased while the live rows are copied; null otherwise. */
  #erasedMeanwhile: number[] | null = null;
  /** Appending and copying run one at a time. */
  readonly #writes = pLimit(1);
  /** The running background work, and whether it must run again. */
  #tending: Promise<void> | undefined;
  #isAsked = false;
  /** Unsaved changes when a save failed. The next background save waits for as many more. */
  #unsavedAtFailure = 0;
  #closing = false;
  readonly #graph: SpaceGraph;
  /** Changes that the graph does not know yet. */
  #news = { added: 0, removed: 0 };

  private constructor(options: VectorSpaceOptions, files: SpaceFiles, rows: VectorRows, id: number) {
    this.#options = options;
    this.#files = files;
    this.#rows = rows;
    this.#id = id;
    const { graphs = null, noteLabels = async () => {}, ...shared } = options;
    this.#graph = spaceGraph({ ...shared, graphs, noteLabels, rows: () => ({ rows: this.#rows, id: this.#id }) });
  }

  /**
   * Load the space. Damaged or foreign files are set aside. A folder without a manifest gets one if nothing is live, so that later a
   * missing one means a loss.
   * `missing`: live labels without a row, ascending: add them again. `lost`: files existed and are missing or unusable: more is missing
   * than unsaved changes. `dropped`: dead rows in the files, until a purge or save.
   * Errors: of the folder (not of its files) and of the threads.
   */
  static async open(options: VectorSpaceOptions, live: Bitmap) {
    const { dim, worker, searchers } = options;
    const files = await openSpaceFiles(options);
    const rows = VectorRows.create(dim);
    const file = files.rows();
    const report = file === null ? null : await worker.run('loadRows', { shared: rows.shared, file, keep: live });
    if (report !== null && report.fault !== null) await files.refuse(report.fault);
    const dropped = report?.dropped ?? 0;
    files.changed(dropped);
    const fresh = !files.adopted && live.every((word) => word === 0);
    if (fresh) await files.begin();
    else await files.sweep();
    const space = new VectorSpace(options, files, rows, await searchers.openRows(rows.shared));
    space.#graph.open();
    space.#tend();
    return {
      space,
      missing: report === null ? bitsNotIn(live, new Uint32Array(0)) : bitsNotIn(live, report.held),
      lost: files.rowsLost() || !(files.adopted || fresh),
      dropped,
    };
  }

  /** The number of the rows for searches, valid until the next await. */
  get rows(): number {
    return this.#id;
  }

  /**
   * Searches find these `labels.length` rows when this resolves. Existing labels stay. `passOverZeros`: skip zero rows.
   * Errors: BadVectorError (nothing stored); IndexClosedError; RangeError without memory: a part may be stored.
   */
  async add(labels: Uint32Array, vectors: Float32Array, { passOverZeros = false } = {}): Promise<void> {
    this.#refuseIfClosing();
    const { dim } = this.#options;
    const zeros = await refuseBadVectors(vectors, labels.length, passOverZeros, this.#options);
    const step = Math.max(1, Math.floor(APPENDED_NUMBERS / dim));
    for (let from = 0; from < labels.length; from += step) {
      if (from > 0) await new Promise(setImmediate);
      await this.#writes(() => {
        for (let at = from; at < Math.min(labels.length, from + step); at++) {
          const label = labels[at];
          if (this.#removedAhead.has(label) || zeros.has(at) || this.#rows.has(label)) continue;
          this.#rows.append(label, vectors, at * dim);
          this.#files.changed();
          this.#news.added++;
        }
      });
    }
    this.#tend();
  }

  /** Call before labels get other vectors. Deletes the graph. Errors: file system errors; those of the threads. */
  leaveGraph(): Promise<void> {
    return this.#graph.leave();
  }

  holds(label: number): boolean {
    return this.#rows.has(label);
  }

  /** Searches that begin later do not find them. Unknown labels are remembered. */
  remove(labels: Iterable<number>): void {
    this.#refuseIfClosing();
    for (const label of labels) {
      if (!this.#rows.erase(label)) {
        this.#removedAhead.add(label);
        continue;
      }
      this.#erasedMeanwhile?.push(label);
      this.#files.changed();
      this.#news.removed++;
    }
    this.#tend();
  }

  /** The k live labels nearest to a vector or to a mean of rows, best first, ties by label. Errors: BadVectorError. */
  async search(
    to: Float32Array | Uint32Array,
    k: number,
    { allow, minScore = -1, signal }: SpaceSearchOptions = {},
  ): Promise<ScoredLabels<Float32Array>> {
    if (to instanceof Float32Array) this.checkQuery(to);
    return this.#options.searchers.nearest({ rows: this.rows, to, k, minScore, allow }, signal);
  }

  related({ minScore = -1, signal, ...task }: Omit<RelatedTask, 'rows' | 'minScore'> & SpaceSearchOptions) {
    return this.#options.searchers.related({ rows: this.rows, minScore, ...task }, signal);
  }

  /** Errors: BadVectorError if the vector cannot be compared. */
  checkQuery(vector: Float32Array): void {
    const { dim, modelId } = this.#options;
    const bad = findBadRows(vector, dim, 1);
    if (bad.length > 0) throw new BadVectorError(modelId, bad);
  }

  /** Resolves when no background work is left. */
  async settled(): Promise<void> {
    while (this.#tending !== undefined) await this.#tending;
    await this.#graph.settled();
  }

  /** Errors: file system errors; the old files then still load. */
  async save(): Promise<void> {
    const unsaved = this.#files.unsaved();
    try {
      await this.#files.save((path) => this.#options.worker.run('saveRows', { shared: this.#rows.shared, path }));
      this.#unsavedAtFailure = 0;
    } catch (error) {
      this.#unsavedAtFailure = unsaved;
      throw error;
    }
  }

  async saveIfWorthIt(): Promise<void> {
    if (this.#files.unsaved() > Math.max(QUIET_CHANGES, QUIET_SHARE * this.#rows.live)) await this.save();
  }

  /** Drops erased rows, a graph with erased rows, and `*.bad` files, then saves: no byte of a removed vector stays. */
  async purge(): Promise<void> {
    await this.#graph.purge();
    if (this.#rows.count > this.#rows.live) await this.#copyLive();
    this.#files.changed();
    await this.save();
    this.#tend();
  }

  /** Numbers of live rows, of erased rows not yet dropped, and of unsaved adds, removals and compactions. */
  stats() {
    const { live, count, bytes } = this.#rows;
    const [generation, unsaved] = [this.#files.number(), this.#files.unsaved()];
    return { live, deleted: count - live, rowBytes: bytes, generation, unsaved };
  }

  /** Saves first, unless the next start recovers faster. Errors: as of `save`; the threads drop the rows anyway. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#graph.close();
    await this.#tending;
    const isSmall = this.#rows.live * this.#options.dim <= SMALL_BYTES;
    try {
      if (isSmall || this.#files.unsaved() > CLOSE_CHANGES) await this.save();
      else await this.#files.settled();
    } finally {
      await this.#options.searchers.closeRows(this.#id);
    }
  }

  async drop(): Promise<void> {
    this.#closing = true;
    await this.#graph.close();
    await this.#tending;
    await this.#files.settled();
    await this.#options.searchers.closeRows(this.#id);
    await this.#files.drop();
  }

  /** Background work after each change: drop erased rows if there are many, save if due. */
  #tend(): void {
    this.#isAsked = true;
    if (this.#closing) return;
    this.#tending ??= this.#tendAll().finally(() => {
      this.#tending = undefined;
      if (this.#isAsked) this.#tend();
    });
  }

  async #tendAll(): Promise<void> {
    const { log, modelId } = this.#options;
    while (this.#isAsked && !this.#closing) {
      this.#isAsked = false;
      try {
        await this.#tidyIfNeeded();
        await this.#saveIfDue();
        const news = this.#news;
        this.#news = { added: 0, removed: 0 };
        this.#graph.changed(news);
      } catch (error) {
        log.error({ model: modelId, err: error }, 'vector space: upkeep failed');
      }
    }
  }

  async #tidyIfNeeded(): Promise<void> {
    const { count, live } = this.#rows;
    if (count - live <= Math.max(MIN_DELETED, count * MAX_DELETED_SHARE)) return;
    await this.#copyLive();
    this.#files.changed();
  }

  /** Copy the live rows to new memory on a work thread, and let the searchers use it. */
  #copyLive(): Promise<void> {
    return this.#graph.inTurn(() => this.#writes(() => this.#copyLiveNow()));
  }

  async #copyLiveNow(): Promise<void> {
    const { searchers, worker, dim } = this.#options;
    const old = { rows: this.#rows, id: this.#id };
    const rows = VectorRows.create(dim, old.rows.live);
    this.#erasedMeanwhile = [];
    try {
      await worker.run('copyLiveRows', { from: old.rows.shared, to: rows.shared });
      const id = await searchers.openRows(rows.shared, old.id);
      for (const label of this.#erasedMeanwhile) rows.erase(label);
      this.#rows = rows;
      this.#id = id;
    } finally {
      this.#erasedMeanwhile = null;
    }
    await searchers.closeRows(old.id);
  }

  async #saveIfDue(): Promise<void> {
    const { saveEvery = SAVE_EVERY } = this.#options;
    const unsaved = this.#files.unsaved() - this.#unsavedAtFailure;
    if (unsaved >= Math.max(saveEvery, QUIET_SHARE * this.#rows.live)) await this.save();
  }

  #refuseIfClosing(): void {
    if (this.#closing) throw new IndexClosedError(`the vector space of model ${this.#options.modelId} is closing`);
  }
}

/** Numbers checked per turn of the event loop: 0.5 ms. */
const CHECKED_NUMBERS = 2 ** 18;

/** Invalid vectors, refused with their whole batch. A retry fails in the same way. */
export class BadVectorError extends Error {
  readonly code = 'bad_vector';
  readonly rows: readonly BadRow[];

  constructor(modelId: string, rows: readonly BadRow[]) {
    const shown = rows.slice(0, 5).map(({ row, reason }) => `row ${row}: ${reason}`);
    super(`model ${modelId} gave ${rows.length} vectors that cannot be indexed (${shown.join(', ')})`);
    this.name = 'BadVectorError';
    this.rows = rows;
  }
}

/** Returns the indexes of skipped zero rows. Errors: BadVectorError. */
async function refuseBadVectors(
  vectors: Float32Array,
  count: number,
  passOverZeros: boolean,
  { modelId, dim }: Pick<VectorSpaceOptions, 'modelId' | 'dim'>,
): Promise<ReadonlySet<number>> {
  const step = Math.max(1, Math.floor(CHECKED_NUMBERS / dim));
  const found: BadRow[] = [];
  for (let row = 0; row === 0 || row < count; row += step) {
    const rows = Math.min(step, count - row);
    const end = row + rows === count ? vectors.length : (row + rows) * dim;
    for (const bad of findBadRows(vectors.subarray(row * dim, end), dim, rows))
      found.push({ ...bad, row: row + bad.row });
    if (row + step < count) await new Promise(setImmediate);
  }
  const zeros = new Set(passOverZeros ? found.filter(({ reason }) => reason === 'zero').map(({ row }) => row) : []);
  const refused = found.filter(({ row }) => !zeros.has(row));
  if (refused.length > 0) throw new BadVectorError(modelId, refused);
  return zeros;
}

/** Numbers appended per turn of the event loop: 1 ms. */
const APPENDED_NUMBERS = 2 ** 19;
const SAVE_EVERY = 20_000;
/**
 * A save writes all rows; a start adds 24,000 rows/s of 1,024 d from the store. So a save in quiet times needs more
 * changes than a start recovers in 0.1 s, and writes no row more than twenty times.
 */
const QUIET_CHANGES = 2000;
const QUIET_SHARE = 0.05;
/** Changes that a start recovers in 0.5 s. */
const CLOSE_CHANGES = 12_000;
/** Written in 10 ms: a space of this size is always saved on close. */
const SMALL_BYTES = 4 * 2 ** 20;
