/**
 * Readers without `put`, and one way to write: `transact`, only for the writer. Commands run in one LMDB child
 * transaction, which rolls back if one throws; then they run one by one, so that only the failing one fails.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { FatalError } from '../domain/errors.ts';
import { BackfillReader, BackfillTransactor } from './backfills.ts';
import { BlacklistReader, BlacklistTransactor, TombstoneReader, TombstoneTransactor } from './blacklist.ts';
import { ClockReader, ClockTransactor } from './clock.ts';
import { ClusterReader, ClusterTransactor } from './clusters.ts';
import { type CommandResult, type Commit, type CommitStep, causeOf, noChanges, storeUnavailable } from './commit.ts';
import { Counters } from './counters.ts';
import { requireRoomToMigrate } from './data-folder.ts';
import { EntityReader, EntityTransactor } from './entities.ts';
import { type Databases, type Environment, openEnvironment } from './environment.ts';
import { ImportReader, ImportTransactor } from './imports.ts';
import { JobReader, JobTransactor } from './jobs.ts';
import { openApart } from './look-apart.ts';
import { MetricReader, MetricTransactor, ReplayReader, ReplayTransactor } from './metric-snapshots.ts';
import { migrate } from './migrations.ts';
import { ModelReader, ModelTransactor } from './models.ts';
import { PageReader, PageTransactor } from './pages.ts';
import { QueryLogReader, QueryLogTransactor } from './query-log.ts';
import { type CommitLog, KeySum, type Position, type RowBlock, WriteRecorder } from './stored-rows.ts';
import { RefusedTextReader, RefusedTextTransactor, VectorReader, VectorTransactor } from './vectors.ts';
import { WatchReader, WatchTransactor } from './watches.ts';

const records = {
  pages: [PageReader, PageTransactor],
  jobs: [JobReader, JobTransactor],
  blacklist: [BlacklistReader, BlacklistTransactor],
  models: [ModelReader, ModelTransactor],
  backfills: [BackfillReader, BackfillTransactor],
  vectors: [VectorReader, VectorTransactor],
  refusedTexts: [RefusedTextReader, RefusedTextTransactor],
  queryLog: [QueryLogReader, QueryLogTransactor],
  replays: [ReplayReader, ReplayTransactor],
  tombstones: [TombstoneReader, TombstoneTransactor],
  clock: [ClockReader, ClockTransactor],
  clusters: [ClusterReader, ClusterTransactor],
  watches: [WatchReader, WatchTransactor],
  imports: [ImportReader, ImportTransactor],
  metrics: [MetricReader, MetricTransactor],
  entities: [EntityReader, EntityTransactor],
} as const;

type Opened<Which extends 0 | 1> = {
  readonly [Kind in keyof typeof records]: InstanceType<(typeof records)[Kind][Which]>;
};

export type StoreReader = Opened<0> & { readonly counters: Pick<Counters, 'peek'> };

export type Transaction = Opened<1> & { readonly counters: Counters };

function openRecords<Which extends 0 | 1>(environment: Databases, which: Which): Opened<Which> {
  const kinds = Object.entries(records).map(([kind, classes]) => [kind, new classes[which](environment)]);
  return Object.fromEntries(kinds) as Opened<Which>;
}

export function readersOf(environment: Databases): StoreReader {
  return { ...openRecords(environment, 0), counters: new Counters(environment) };
}

/** A decision over stored state: reads, decides, writes and returns its reply. It has no other effects. */
export type Command<Reply> = (transaction: Transaction) => Reply;

/**
 * The transaction would overwrite the last commit. LMDB keeps the last transaction's number in shared memory; a process that opens the
 * store resets it to the number in the file, which is too old if a commit came in between.
 */
class SetBackError extends Error {}

interface StoreOptions {
  /** Checked before each write: another process took the folder. */
  isFolderLost?: () => boolean;
  say?: (line: string) => void;
  /** An external log that makes commits durable instead of this disk. The file must be at the log's position. */
  log?: CommitLog | null;
}

/** How often another process may disturb a batch by opening the store. */
const maxSetBacks = 5;

export class Store {
  readonly storeId: string;
  readonly reader: StoreReader;
  readonly #environment: Environment;
  readonly #transaction: Transaction;
  readonly #isFolderLost: () => boolean;
  readonly #replication: { log: CommitLog; recorder: WriteRecorder } | null;
  /** No more writes: a visible commit was not flushed, LMDB cannot continue, or another process took the folder. */
  #failure: FatalError | null = null;
  #lastCommit: number;
  /** One write at a time. After a failure a write may never end. */
  readonly #writing = pLimit(1);
  /** Resolves when all commits are verified as flushed, or known to have failed. */
  #flushing: Promise<void> = Promise.resolve();
  #tellFailure!: () => void;
  readonly #failed = new Promise<void>((resolve) => {
    this.#tellFailure = resolve;
  });

  private constructor(
    environment: Environment,
    isFolderLost: () => boolean,
    replication: { log: CommitLog; recorder: WriteRecorder } | null,
  ) {
    this.#environment = environment;
    this.#isFolderLost = isFolderLost;
    this.#replication = replication;
    this.storeId = environment.storeId;
    const { reader, transaction } = environment.openAll(() => {
      const counters = new Counters(environment);
      return {
        reader: { ...openRecords(environment, 0), counters },
        transaction: { ...openRecords(environment, 1), counters },
      };
    });
    this.reader = reader;
    this.#transaction = transaction;
    this.#lastCommit = lastCommitOf(environment);
  }

  /** Open or create the store and migrate an older format. Errors: OperatorError `store_format`; `disk_full`. */
  static async open(
    dataDir: string,
    newStoreId: () => string,
    { isFolderLost = () => false, say = () => {}, log = null }: StoreOptions = {},
  ): Promise<Store> {
    const replication = log === null ? null : { log, recorder: new WriteRecorder() };
    const environment = openEnvironment(join(dataDir, 'store'), newStoreId, replication?.recorder);
    let store: Store;
    try {
      store = new Store(environment, isFolderLost, replication);
    } catch (error) {
      environment.abandon();
      throw error;
    }
    try {
      const commit = (step: () => void) => {
        requireRoomToMigrate(dataDir);
        return store.commit(step);
      };
      // Writes without the log leave the library's history, so the position is removed.
      if (log === null && environment.position() !== null) await store.commit(() => environment.putPosition(null));
      await migrate(environment, { commit, say });
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /**
   * Commit a batch of commands; a command's own error is its result. Errors: the environment's, with nothing changed (disk full, failed
   * write, file not in place); FatalError, permanently, after a failed flush or a lost folder.
   */
  transact(commands: readonly Command<unknown>[]): Promise<Commit> {
    return this.#writing(() => this.#transact(commands));
  }

  /** Commit one command and wait for the flush. Errors: its own and those of `transact`. For processes without a writer. */
  async commit<Reply>(command: Command<Reply>): Promise<Reply> {
    const { results, flushed } = await this.transact([command]);
    await flushed;
    const [result] = results;
    if (!result.ok) throw result.error;
    return result.reply as Reply;
  }

  /** Rewrite the file without free space and deleted data. Reads continue, writes wait. Errors: as of `rewrite`. */
  compact(): Promise<{ bytesBefore: number; bytesAfter: number }> {
    return this.#writing(async () => {
      await this.#assertOurs();
      const bytesBefore = this.usedBytes();
      try {
        await this.#environment.rewrite();
      } finally {
        this.#lastCommit = lastCommitOf(this.#environment); // even after a failure, the file may be another one
      }
      return { bytesBefore, bytesAfter: this.usedBytes() };
    });
  }

  /** Errors: those of Environment.assertInPlace; FatalError when writing has ended. */
  async #assertOurs(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    await this.#environment.assertInPlace();
    if (this.#isFolderLost())
      throw this.#end(new FatalError('another process has taken the data folder', { isFinal: true }));
  }

  async #transact(commands: readonly Command<unknown>[]): Promise<Commit> {
    for (let setBacks = 0; ; setBacks++) {
      try {
        return await this.#transactOnce(commands);
      } catch (error) {
        if (!(error instanceof SetBackError) || setBacks === maxSetBacks) throw error;
        await openApart(dirname(this.#environment.dataFile));
        // If another process disturbed the opening, the last commit is later than assumed.
        this.#lastCommit = Math.max(this.#lastCommit, lastCommitOf(this.#environment));
      }
    }
  }

  async #transactOnce(commands: readonly Command<unknown>[]): Promise<Commit> {
    await this.#assertOurs();
    await this.#replication?.log.ready();
    const { root } = this.#environment;
    let logged: { rows: RowBlock; position: Position } | null = null;
    let number = 0;
    const results: CommandResult[] = [];
    let opstamp = 0;
    let aCommandFailed = false;
    const changes = noChanges();
    const runAll = () => {
      number = root.getWriteTxnId();
      if (number !== this.#lastCommit + 1) {
        throw new SetBackError(`the store is at transaction ${number} after commit ${this.#lastCommit}`);
      }
      const { counters } = this.#transaction;
      this.#transaction.jobs.changed = changes.jobs;
      this.#transaction.pages.changed = changes.pages;
      this.#transaction.pages.removed = changes.removedPages;
      this.#transaction.blacklist.changed = changes.rules;
      this.#transaction.tombstones.changed = changes.tombstones;
      this.#replication?.recorder.begin();
      aCommandFailed = true;
      counters.during(() => {
        opstamp = counters.take('opstamp');
        for (const command of commands) results.push({ ok: true, reply: command(this.#transaction) });
      });
      aCommandFailed = false;
      logged = this.#takeRecorded();
    };
    try {
      await root.childTransaction(runAll);
    } catch (error) {
      if (!aCommandFailed) throw await this.#commitFailure(opstamp, error);
      if (commands.length > 1) return this.#transactOneByOne(commands);
      return { results: [{ ok: false, error }], steps: [], flushed: Promise.resolve() };
    }
    this.#lastCommit = number;
    // Read now: later, the promise would belong to a later commit, and never settles if that fails.
    const onDisk = root.flushed.then(() => this.#assertMarked());
    const flushed = logged === null ? onDisk : this.#append(logged, onDisk);
    const before = this.#flushing;
    this.#flushing = flushed.then(
      () => before,
      () => before,
    );
    return { results, steps: [{ opstamp, changes }], flushed };
  }

  #takeRecorded(): { rows: RowBlock; position: Position } | null {
    if (this.#replication === null) return null;
    const { log, recorder } = this.#replication;
    const sum = new KeySum(log.position);
    const rows = recorder.take(sum);
    const position = { ...log.position, seq: log.position.seq + 1, keys: sum.keys, key_sum: sum.text };
    this.#environment.putPosition(position);
    return { rows, position };
  }

  /** Append a commit to the log without waiting for this disk, as the log can rebuild the file. Errors: FatalError. */
  #append({ rows, position }: { rows: RowBlock; position: Position }, onDisk: Promise<void>): Promise<void> {
    if (this.#replication === null) throw new TypeError('this store has no external log');
    const { log } = this.#replication;
    log.position = position;
    onDisk.catch(() => {}); // after a failure nothing more is written, and the next write fails
    return log.append(rows, position);
  }

  /**
   * A visible commit was written, not flushed: the kernel may have dropped its pages, and the next flush would succeed
   * without them (docs/decisions/stop-when-a-flush-fails.md).
   */
  async #commitFailure(opstamp: number, error: unknown): Promise<unknown> {
    const cause = await causeOf(error);
    return this.#isVisible(opstamp) ? this.#fail(cause) : cause;
  }

  /**
   * LMDB reports success even if it could not write its flush mark, and the next start would go back behind it. Sign: it returns no
   * snapshots from then on, and a transaction begun then never ends. Errors: FatalError.
   */
  #assertMarked(): void {
    try {
      this.#environment.root.resetReadTxn();
      this.reader.counters.peek('opstamp');
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #fail(cause: unknown): FatalError {
    return this.#end(new FatalError('a commit could not be flushed to disk', { cause }));
  }

  #end(failure: FatalError): FatalError {
    this.#failure ??= failure;
    this.#tellFailure();
    return this.#failure;
  }

  #isVisible(opstamp: number): boolean {
    if (opstamp === 0) return false; // it failed before any command ran
    try {
      this.#environment.root.resetReadTxn();
      return this.reader.counters.peek('opstamp') > opstamp;
    } catch {
      return true; // LMDB refuses to read, because it could not undo its own commit; that is as bad
    }
  }

  /** Commands that ran before the environment failed stay committed and acknowledged. */
  async #transactOneByOne(commands: readonly Command<unknown>[]): Promise<Commit> {
    const steps: CommitStep[] = [];
    const whole: Commit = { results: [], steps, flushed: Promise.resolve() };
    for (const command of commands) {
      try {
        const { results, steps: own, flushed } = await this.#transact([command]);
        steps.push(...own);
        whole.results.push(...results);
        whole.flushed = Promise.all([whole.flushed, flushed]);
        whole.flushed.catch(() => {}); // `whole.flushed` reports the error to its callers
      } catch (error) {
        if (error instanceof FatalError) throw error;
        whole.results.push({ ok: false, error: storeUnavailable(error) });
      }
    }
    return whole;
  }

  /** No more writes are possible; the file may differ from the written state. */
  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** The file never shrinks on its own; free space is reused. */
  usedBytes(): number {
    return statSync(this.#environment.dataFile).size;
  }

  async close(): Promise<void> {
    const settled = this.#writing(async () => undefined).then(() => this.#flushing);
    await Promise.race([settled, this.#failed]);
    if (this.#failure === null) await this.#environment.close();
    else this.#environment.abandon();
  }
}

function lastCommitOf({ root }: Environment): number {
  return (root.getStats() as { lastTxnId: number }).lastTxnId;
}
