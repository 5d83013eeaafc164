/**
 * This host as one of a cluster: which libraries it holds a lease of, the renewal of all of them in one statement, and whom a library is
 * served by. What a lease means is in lease.ts; who opens and closes libraries is above this.
 */
import { randomUUID } from 'node:crypto';
import type { Access } from '../access/access.ts';
import { errorMessage } from '../domain/error-message.ts';
import { LeaseEndedError } from '../domain/errors.ts';
import type { CommitHistory } from '../store/stored-rows.ts';
import { bringUpCopy } from './bring-up-copy.ts';
import { DatabaseLog } from './commit-log.ts';
import { Credentials } from './credentials.ts';
import { type Database, openDatabase } from './database.ts';
import { Lease, usableMs } from './lease.ts';
import { type Claim, LibraryRows, type OwnerRow } from './library-rows.ts';
import { requireSchema } from './schema.ts';

/** A library that this host may serve, until the lease is lost or it lets go. */
export interface HeldLibrary {
  name: string;
  claim: Claim;
  lease: Lease;
  commits: DatabaseLog;
  history: CommitHistory;
  /** Bring the file below `path` to where the library stands. Errors: as of `bringUpCopy`. */
  bringUp(path: string, newStoreId: () => string, ending: AbortSignal): Promise<void>;
  /** Say before it is let go of when it has to be opened again, ms since the epoch, or never. It does not count where commits come after it. */
  noteDue(at: number | null): void;
  /** Have PostgreSQL forget a piece of what was deleted long ago, where many commits have come since the last. Errors: the database's. */
  prune(): Promise<void>;
  /** Let any host take it. */
  release(): Promise<void>;
}

export interface MemberOptions {
  url: string;
  /** Where other hosts reach this one. */
  address: string;
  leaseS: number;
  /** Newest format of the store that this version reads. */
  format: number;
  /** Ms. */
  monotonic: () => number;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Of a query with many rows, ms: a commit of a large page over a slow line. */
const bulkTimeoutMs = 30_000;
/** Commits of a library between two calls of `prune`. */
const prunedEvery = 500;
/** Renewals within the length of a lease. */
const renewals = 4;

export class ClusterMember {
  readonly credentials: Credentials;
  /** Names of the libraries that are held. */
  readonly served = new Set<string>();
  #access: Access | null = null;
  readonly #options: MemberOptions;
  /** Commits, and what an opening reads. */
  readonly #bulk: Database;
  /** All else: it waits behind no commit, and for no longer than a lease. */
  readonly #prompt: Database;
  readonly #rows: LibraryRows;
  readonly #held = new Map<string, HeldLibrary>();
  readonly #timer: NodeJS.Timeout;

  private constructor(options: MemberOptions, bulk: Database, prompt: Database) {
    this.#options = options;
    this.#bulk = bulk;
    this.#prompt = prompt;
    const { address, leaseS, format } = options;
    this.#rows = new LibraryRows(prompt, { host: { id: randomUUID(), address }, leaseS, format });
    this.credentials = new Credentials(prompt);
    // One that waits for its answer keeps no later one back: an early lease is better than none.
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

  /** As of `LibraryRows.claim`. Errors: the database's. */
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
        // When its tokens and sessions were last used.
        if (lease.isHeld) await this.#access?.flush();
        lease.end(new LeaseEndedError('the library was let go of'));
        await rows.release(claim, noted?.seq === commits.position.seq ? noted : undefined);
      },
    };
    this.#held.set(key, held);
    this.served.add(name);
    const isGone = () => ![...this.#held.values()].some((other) => other.name === name);
    void lease.lost.then(() => {
      this.#held.delete(key);
      if (!isGone()) return;
      this.served.delete(name);
      this.credentials.leave(name);
      this.#access?.drop(name);
    });
    try {
      this.#access?.adopt(name, await this.credentials.serve(name, claim));
    } catch (error) {
      await held.release().catch(() => {}); // what went wrong first says more; the lease ends by itself
      throw error;
    }
    return held;
  }

  /** Have tokens and sessions of a library known where it is held, and only there. */
  keepAccess(access: Access): void {
    this.#access = access;
  }

  /** Who serves a library; null where there is none of that name. Errors: the database's. */
  ownerOf(name: string): Promise<OwnerRow | null> {
    return this.#rows.ownerOf(name);
  }

  /** As of `LibraryRows.due`. Errors: the database's. */
  due(limit: number): ReturnType<LibraryRows['due']> {
    return this.#rows.due(limit);
  }

  /** Errors: the database's. */
  async ping(): Promise<void> {
    await this.#prompt.query({ text: 'select 1' });
  }

  /** After every library was let go of. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#prompt.close();
    await this.#bulk.close();
  }

  /** A renewal that fails is made up for by the next: the lease says when it is too late. */
  async #renew(): Promise<void> {
    const all = [...this.#held.values()];
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
        'leases could not be renewed, or deleted rows were kept',
      );
    }
  }
}
