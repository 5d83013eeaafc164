/** This host in a cluster: its leases (lease.ts), their renewal in one statement, and the hosts of other libraries. */
import { randomUUID } from 'node:crypto';
import type { Access } from '../access/access.ts';
import { errorMessage, LeaseEndedError } from '../domain/errors.ts';
import type { CommitHistory } from '../store/stored-rows.ts';
import { bringUpCopy } from './bring-up-copy.ts';
import { DatabaseLog } from './commit-log.ts';
import { Credentials } from './credentials.ts';
import { type Claim, type Database, LibraryRows, type OwnerRow, openDatabase } from './database.ts';
import { Lease, usableMs } from './lease.ts';
import { requireSchema } from './schema.ts';

/** A library that this host serves until its lease is lost or released. */
export interface HeldLibrary {
  name: string;
  claim: Claim;
  lease: Lease;
  commits: DatabaseLog;
  history: CommitHistory;
  /** Update the file below `path`. Errors: as of `bringUpCopy`. */
  bringUp(path: string, newStoreId: () => string, ending: AbortSignal): Promise<void>;
  /** When it must be opened again, ms since the epoch; null: never. Later commits make it invalid. */
  noteDue(at: number | null): void;
  /** Delete a batch of old deletion records after many commits. Errors: the database's. */
  prune(): Promise<void>;
  release(): Promise<void>;
}

export interface MemberOptions {
  url: string;
  address: string;
  leaseS: number;
  /** Newest store format that this version reads. */
  format: number;
  monotonic: () => number;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Time limit of a query with many rows, ms: a large commit over a slow line. */
const bulkTimeoutMs = 30_000;
/** Commits of a library between calls of `prune`. */
const prunedEvery = 500;
const renewals = 4;

export class ClusterMember {
  readonly credentials: Credentials;
  readonly served = new Set<string>();
  #access: Access | null = null;
  readonly #options: MemberOptions;
  /** Connections for commits and openings. */
  readonly #bulk: Database;
  /** Connections for everything else: a query never waits for a commit, and never longer than a lease. */
  readonly #prompt: Database;
  readonly #rows: LibraryRows;
  readonly #leased = new Map<string, HeldLibrary>();
  readonly #timer: NodeJS.Timeout;

  private constructor(options: MemberOptions, bulk: Database, prompt: Database) {
    this.#options = options;
    this.#bulk = bulk;
    this.#prompt = prompt;
    const { address, leaseS, format } = options;
    this.#rows = new LibraryRows(prompt, { host: { id: randomUUID(), address }, leaseS, format });
    this.credentials = new Credentials(prompt);
    // Renewals do not wait for each other: an early renewal is better than none.
    this.#timer = setInterval(() => void this.#renew(), (leaseS * 1000) / renewals).unref();
  }

  /** Errors: OperatorError `store_format` for tables of another version; the database's. */
  static async open(options: MemberOptions): Promise<ClusterMember> {
    const { url, leaseS, log } = options;
    const bulk = await openDatabase({ url, timeoutMs: bulkTimeoutMs, log });
    try {
      await requireSchema(bulk);
    } catch (error) {
      await bulk.close();
      throw error;
    }
    const prompt = await openDatabase({ url, timeoutMs: usableMs(leaseS), log });
    return new ClusterMember(options, bulk, prompt);
  }

  async claim(name: string, state?: Parameters<LibraryRows['claim']>[1]): Promise<HeldLibrary | null> {
    const { leaseS, monotonic, log } = this.#options;
    const sentAt = monotonic();
    const claim = await this.#rows.claim(name, state);
    if (claim === null) return null;
    const [database, rows] = [this.#bulk, this.#rows];
    const lease = new Lease({ leaseS, sentAt, now: monotonic });
    const commits = new DatabaseLog({ database, lease, leaseS, position: claim, log });
    const key = `${claim.library} ${claim.epoch}`;
    let noted: { at: number | null; seq: number } | null = null;
    let prunedAt = claim.seq;
    const held: HeldLibrary = {
      ...{ name, claim, lease, commits },
      bringUp: (path, newStoreId, ending) =>
        bringUpCopy({ path, claim, database, rows, commits, newStoreId, ending, log }),
      history: rows.historyOf(claim, () => commits.acknowledged),
      noteDue: (at) => {
        noted = { at, seq: commits.position.seq };
      },
      prune: async () => {
        if (commits.position.seq < prunedAt + prunedEvery) return;
        prunedAt = commits.position.seq;
        await rows.prune(claim, prunedAt);
      },
      release: async () => {
        // Also saves when its tokens and sessions were last used.
        if (lease.isHeld) await this.#access?.flush();
        lease.end(new LeaseEndedError('the library was released'));
        await rows.release(claim, noted?.seq === commits.position.seq ? noted : undefined);
      },
    };
    this.#leased.set(key, held);
    this.served.add(name);
    const isGone = () => ![...this.#leased.values()].some((other) => other.name === name);
    void lease.lost.then(() => {
      this.#leased.delete(key);
      if (!isGone()) return;
      this.served.delete(name);
      this.credentials.leave(name);
      this.#access?.drop(name);
    });
    try {
      this.#access?.adopt(name, await this.credentials.serve(name, claim));
    } catch (error) {
      await held.release().catch(() => {}); // the first error counts; the lease expires anyway
      throw error;
    }
    return held;
  }

  /** Only tokens and sessions of leased libraries are known. */
  keepAccess(access: Access): void {
    this.#access = access;
  }

  /** Null for an unknown library. Errors: the database's. */
  ownerOf(name: string): Promise<OwnerRow | null> {
    return this.#rows.ownerOf(name);
  }

  due(limit: number): ReturnType<LibraryRows['due']> {
    return this.#rows.due(limit);
  }

  async ping(): Promise<void> {
    await this.#prompt.query({ text: 'select 1' });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#prompt.close();
    await this.#bulk.close();
  }

  /** The next renewal repeats a failed one. The lease decides when it is too late. */
  async #renew(): Promise<void> {
    const all = [...this.#leased.values()];
    if (all.length === 0) return;
    const sentAt = this.#options.monotonic();
    try {
      const mine = await this.#rows.renew(all.map(({ claim }) => claim));
      for (const { claim, lease } of all) {
        const renewed = mine.get(claim.library);
        if (renewed === true) lease.extend(sentAt);
        if (renewed === undefined) lease.end(new LeaseEndedError('another host serves the library by now'));
      }
      for (const { prune } of all) await prune();
    } catch (error) {
      this.#options.log.warn(
        { err: errorMessage(error), libraries: all.length },
        'leases could not be renewed, or old deletion records not deleted',
      );
    }
  }
}
