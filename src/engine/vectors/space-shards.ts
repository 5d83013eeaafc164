/**
 * Dispatches a vector space's tasks: shard `label % K` lives on pinned thread i of K; every task names namespace and space. A shard's
 * tasks run in order, so no lock is needed.
 *
 * A replaced thread has lost its shards. The first task to find out reloads the shard from its files, without labels removed since;
 * missing ones are reported by `onMissing`; then the task runs again. Searches continue without the missing labels and never see a
 * removed one.
 */
import { addBit, type Bitmap, bitsNotIn, createBitmap, type GrowingBitmap } from '../../compute/structures/bitmap.ts';
import type { LoadReport, Reply } from '../../threads/shard-thread.ts';
import type { SharedPool } from '../../threads/thread-pool.ts';
import type { IndexLog } from '../index-log.ts';
import type { ShardStats } from './shard.ts';
import type { SpaceFiles } from './space-files.ts';

export type ShardTasks = typeof import('../../threads/shard-thread.ts');
export type ShardPool = SharedPool<ShardTasks>;

export interface SpaceShardsOptions {
  /** One pinned thread each. */
  pools: readonly ShardPool[];
  namespace: string;
  modelId: string;
  dim: number;
  files: SpaceFiles;
  /** Labels that the space should contain. */
  held: GrowingBitmap;
  onMissing: (labels: Uint32Array) => void;
  log: IndexLog;
}

export type ShardTask<Value> = (pool: ShardPool, space: string, shard: number) => Promise<Reply<Value>>;

/** A shard's thread was replaced again during the reload. The task may be retried. */
class ShardLostError extends Error {
  readonly code = 'shard_lost';
  readonly retryable = true;

  constructor(modelId: string, shard: number) {
    super(`shard ${shard} of model ${modelId} is not on its thread`);
    this.name = 'ShardLostError';
  }
}

export class SpaceShards {
  readonly #options: SpaceShardsOptions;
  readonly #space: string;
  readonly #reloads = new Map<number, Promise<void>>();

  constructor(options: SpaceShardsOptions) {
    this.#options = options;
    this.#space = `${options.namespace}/${options.modelId}`;
  }

  get count(): number {
    return this.#options.pools.length;
  }

  /** Labels by shard, each list in the order given. */
  split(labels: Iterable<number>): Uint32Array[] {
    const lists: number[][] = Array.from({ length: this.count }, () => []);
    for (const label of labels) lists[label % this.count].push(label);
    return lists.map((list) => Uint32Array.from(list));
  }

  /** Load every shard, keeping only `keep` of the files. Returns each shard's labels. */
  async loadAll(keep: Bitmap): Promise<LoadReport[]> {
    return Promise.all(this.#options.pools.map((_, shard) => this.#load(shard, keep)));
  }

  /** Errors: those of the task and its thread; ShardLostError if the shard is lost again. */
  async ask<Value>(shard: number, task: ShardTask<Value>): Promise<Value> {
    const { pools, modelId } = this.#options;
    const reply = await task(pools[shard], this.#space, shard);
    if (!reply.lost) return reply.value;
    await this.#reloadOnce(shard);
    const again = await task(pools[shard], this.#space, shard);
    if (again.lost) throw new ShardLostError(modelId, shard);
    return again.value;
  }

  /** Bulk work on one shard, queued so that searches run in between. Errors: as of `ask`. */
  inTurn<Value>(shard: number, task: ShardTask<Value>): Promise<Value> {
    return this.#options.pools[shard].inTurn(() => this.ask(shard, task));
  }

  async askAll<Value>(task: ShardTask<Value>): Promise<Value[]> {
    return Promise.all(this.#options.pools.map((_, shard) => this.ask(shard, task)));
  }

  async stats(): Promise<ShardStats> {
    const each = await this.askAll((pool, space) => pool.run('stats', { space }));
    const sum = (of: keyof ShardStats) => each.reduce((total, one) => total + one[of], 0);
    return {
      live: sum('live'),
      deleted: sum('deleted'),
      rowBytes: sum('rowBytes'),
    };
  }

  async release(): Promise<void> {
    await Promise.all(this.#options.pools.map((pool) => pool.run('release', { space: this.#space })));
  }

  /** Reload a shard, once for all tasks that found it lost. */
  #reloadOnce(shard: number): Promise<void> {
    const running = this.#reloads.get(shard);
    if (running !== undefined) return running;
    const reload = this.#reload(shard).finally(() => this.#reloads.delete(shard));
    this.#reloads.set(shard, reload);
    return reload;
  }

  async #reload(shard: number): Promise<void> {
    const { modelId, held, files, log, onMissing } = this.#options;
    log.error({ model: modelId, shard }, 'vector space: a thread was replaced, its shard is loaded again');
    const { labels } = await this.#load(shard, held.set);
    files.changed(shard);
    const loaded = createBitmap(held.set.length * 32);
    for (const label of labels) addBit(loaded, label);
    const missing = bitsNotIn(held.set, loaded).filter((label) => label % this.count === shard);
    if (missing.length > 0) onMissing(missing);
  }

  async #load(shard: number, keep: Bitmap): Promise<LoadReport> {
    const { pools, dim, files } = this.#options;
    const report = await pools[shard].run('open', {
      space: this.#space,
      dim,
      keep: { labels: keep, shard, shards: this.count },
      rows: files.rowsOf(shard),
    });
    await files.loaded(shard, report);
    return report;
  }
}
