/**
 * The store as the rest of the program sees it: readers that have no put, and one way to write. Only the writer actor calls
 * `transact`. Commands run one after the other inside one LMDB child transaction, which (unlike a plain one) rolls back when its
 * callback throws; a command that throws is taken out by running the batch again command by command, so that it fails alone.
 */
import { join } from 'node:path';
import { DomainError } from '../domain/errors.ts';
import type { Job } from '../domain/job.ts';
import type { Page } from '../domain/page.ts';
import { BlacklistReader, BlacklistTransactor } from './blacklist.ts';
import { Counters } from './counters.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { JobReader, JobTransactor } from './jobs.ts';
import { ModelReader, ModelTransactor } from './models.ts';
import { PageReader, PageTransactor } from './pages.ts';
import { VectorReader, VectorTransactor } from './vectors.ts';

export interface StoreReader {
  readonly pages: PageReader;
  readonly jobs: JobReader;
  readonly blacklist: BlacklistReader;
  readonly models: ModelReader;
  readonly vectors: VectorReader;
  readonly counters: Pick<Counters, 'peek'>;
}

/** What a command may touch. Reads see the writes of the same transaction. */
export interface Transaction extends StoreReader {
  readonly pages: PageTransactor;
  readonly jobs: JobTransactor;
  readonly blacklist: BlacklistTransactor;
  readonly models: ModelTransactor;
  readonly vectors: VectorTransactor;
  readonly counters: Counters;
}

/** A decision over stored state: reads, decides, writes, returns its reply. Pure but for the transaction. */
export type Command<Reply> = (transaction: Transaction) => Reply;

export type CommandResult = { ok: true; reply: unknown } | { ok: false; error: unknown };

/** The rows that a commit changed, in order: what projections of the store and the event stream are told. */
export interface Changes {
  /** Only those whose status changed. */
  jobs: Job[];
  pages: Page[];
}

export interface Commit {
  /** Increases by one with each commit. */
  opstamp: number;
  results: CommandResult[];
  changes: Changes;
  /** Resolves when the commit is on the disk. */
  flushed: Promise<unknown>;
}

export class Store {
  readonly storeId: string;
  readonly reader: StoreReader;
  readonly #environment: Environment;
  readonly #transaction: Transaction;

  private constructor(environment: Environment) {
    this.#environment = environment;
    this.storeId = environment.storeId;
    const counters = new Counters(environment);
    this.reader = {
      pages: new PageReader(environment),
      jobs: new JobReader(environment),
      blacklist: new BlacklistReader(environment),
      models: new ModelReader(environment),
      vectors: new VectorReader(environment),
      counters,
    };
    this.#transaction = {
      pages: new PageTransactor(environment),
      jobs: new JobTransactor(environment),
      blacklist: new BlacklistTransactor(environment),
      models: new ModelTransactor(environment),
      vectors: new VectorTransactor(environment),
      counters,
    };
  }

  /** Open or create the store below `dataDir`. Errors: StoreFormatError. */
  static open(dataDir: string, newStoreId: () => string): Store {
    return new Store(openEnvironment(join(dataDir, 'store'), newStoreId));
  }

  /** Commit a batch of commands. Errors: only the environment's (disk full, damaged file); a command's own error is its result. */
  async transact(commands: readonly Command<unknown>[]): Promise<Commit> {
    const { root } = this.#environment;
    const results: CommandResult[] = [];
    let opstamp = 0;
    const runAll = (batch: readonly Command<unknown>[]) =>
      root.childTransaction(() => {
        opstamp = this.#transaction.counters.take('opstamp');
        this.#transaction.jobs.changed = [];
        this.#transaction.pages.changed = [];
        for (const command of batch) results.push({ ok: true, reply: command(this.#transaction) });
      });
    const changes: Changes = { jobs: [], pages: [] };
    try {
      await runAll(commands);
      changes.jobs = this.#transaction.jobs.changed;
      changes.pages = this.#transaction.pages.changed;
    } catch (error) {
      if (results.length === commands.length) throw error; // every command ran: it was the commit that failed
      results.length = 0;
      if (commands.length === 1) results.push({ ok: false, error });
      else {
        for (const command of commands) {
          try {
            const alone = await this.transact([command]);
            opstamp = alone.opstamp;
            results.push(...alone.results);
            changes.jobs.push(...alone.changes.jobs);
            changes.pages.push(...alone.changes.pages);
          } catch (error) {
            results.push({ ok: false, error: storeUnavailable(error) }); // those before it are committed: they are told
          }
        }
      }
    }
    return { opstamp, results, changes, flushed: root.flushed };
  }

  async close(): Promise<void> {
    await this.#environment.root.close();
  }
}

/** How a failure of the environment looks to those who asked for the write. */
export function storeUnavailable(cause: unknown): DomainError {
  return new DomainError('store_unavailable', 'the store cannot be written', { retryAfterS: 5, cause });
}
