/**
 * Watches. Databases: `watches` no → row; `watch_by_url` 16 bytes of SHA-256(identity of the URL) → no; `watch_by_job` job → watch,
 * of the latest poll of each; `watches_due` [next_run_at, no] of enabled ones; `watch_items` [watch, hash of the name that its source gives an
 * item] → 16 bytes of SHA-256(canonical URL of the page that it became last), and in a byte how many addresses it has become a page
 * under. `put` is the only way a row changes.
 */
import type { Watch } from '../domain/watch.ts';
import type { Environment, Table } from './environment.ts';
import { hashKey, lastNumberOf, removeAll, urlKey } from './keys.ts';

/** As stored: the form of the URL under which the watch exists once is kept with it. */
export interface StoredWatch extends Watch {
  identity: string;
}

const urlKeyBytes = 16;

export interface WatchItem {
  /** `urlKey` of the address under which it became a page last. */
  url_key: Buffer;
  /** Addresses under which it has become a page; more than a byte holds are not told apart. */
  addresses: number;
}

export class WatchReader {
  protected readonly rows: Table<StoredWatch, number>;
  protected readonly byUrl: Table<number, Buffer>;
  protected readonly byJob: Table<number, number>;
  protected readonly due: Table<number, [number, number]>;
  protected readonly items: Table<Buffer, [number, string]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('watches', { keyEncoding: 'uint32' });
    this.byUrl = environment.openDatabase('watch_by_url', { keyEncoding: 'binary' });
    this.byJob = environment.openDatabase('watch_by_job', { keyEncoding: 'uint32' });
    this.due = environment.openDatabase('watches_due', {});
    this.items = environment.openDatabase('watch_items', {});
  }

  get(no: number): StoredWatch | undefined {
    return this.rows.get(no);
  }

  find(identity: string): StoredWatch | undefined {
    const no = this.byUrl.get(urlKey(identity));
    return no === undefined ? undefined : this.rows.get(no);
  }

  /** The watch whose latest poll this job is. */
  ofJob(jobNo: number): StoredWatch | undefined {
    const no = this.byJob.get(jobNo);
    return no === undefined ? undefined : this.rows.get(no);
  }

  /** Oldest first, from the one after `after`. */
  count(): number {
    return this.rows.getKeysCount();
  }

  /** The number of the watch with so many older ones; null where there is none. */
  numberAt(older: number): number | null {
    const [no = null] = this.rows.getKeys({ offset: older, limit: 1 });
    return no;
  }

  list(after = 0, limit = Number.MAX_SAFE_INTEGER): StoredWatch[] {
    return [...this.rows.getRange({ start: after + 1, limit })].map(({ value }) => value);
  }

  /** What became of the item that the source of a watch calls so. */
  item(no: number, guid: string): WatchItem | undefined {
    const row = this.items.get([no, hashKey(guid)]);
    return row && { url_key: row.subarray(0, urlKeyBytes), addresses: row[urlKeyBytes] ?? 1 };
  }

  /** When the next enabled one is due, ms; undefined where there is none. */
  nextDueAt(): number | undefined {
    for (const [at] of this.due.getKeys({ limit: 1 })) return at;
    return undefined;
  }

  /** Enabled watches due at `now`, the longest due first. */
  dueAt(now: number, limit: number): StoredWatch[] {
    return [...this.due.getKeys({ end: [now, Number.MAX_SAFE_INTEGER], limit })].flatMap(
      ([, no]) => this.get(no) ?? [],
    );
  }
}

/** Writer only: valid inside a transaction. */
export class WatchTransactor extends WatchReader {
  /** Store the next version of a row; `before` is the version it replaces, or undefined for a new watch. */
  put(watch: StoredWatch, before: StoredWatch | undefined): void {
    if (before === undefined) this.byUrl.put(urlKey(watch.identity), watch.no);
    if (before?.enabled) this.due.remove([before.next_run_at, before.no]);
    if (watch.enabled) this.due.put([watch.next_run_at, watch.no], 0);
    if (before?.poll_job !== watch.poll_job) {
      if (before !== undefined) this.byJob.remove(before.poll_job);
      if (watch.poll_job !== 0) this.byJob.put(watch.poll_job, watch.no);
    }
    this.rows.put(watch.no, watch);
  }

  /** Under which URL an item became a page. */
  noteItem(no: number, guid: string, canonicalUrl: string): void {
    const addresses = Math.min(255, (this.item(no, guid)?.addresses ?? 0) + 1);
    this.items.put([no, hashKey(guid)], Buffer.concat([urlKey(canonicalUrl), Buffer.of(addresses)]));
  }

  remove(watch: StoredWatch): void {
    removeAll(this.items, [...this.items.getKeys({ start: [watch.no, ''], end: [watch.no + 1, ''] })]);
    this.rows.remove(watch.no);
    this.byUrl.remove(urlKey(watch.identity));
    this.byJob.remove(watch.poll_job);
    this.due.remove([watch.next_run_at, watch.no]);
  }

  /** Make lookups anew from the rows: repair only. Of two watches of one URL the older is found. */
  rebuildIndexes(): void {
    removeAll(this.byUrl, [...this.byUrl.getKeys()]);
    removeAll(this.byJob, [...this.byJob.getKeys()]);
    removeAll(this.due, [...this.due.getKeys()]);
    for (const watch of this.list().reverse()) this.put(watch, undefined);
  }

  /** Delete items of no watch, and those that lead to no address: repair only. Gives how many. */
  dropOrphans(): number {
    const isSound = (no: number, row: Buffer) => this.rows.doesExist(no) && isItem(row);
    const faulty = [...this.items.getRange()].filter(({ key: [no], value }) => !isSound(no, value));
    return removeAll(
      this.items,
      faulty.map(({ key }) => key),
    );
  }

  /** The highest number of a row, 0 for none. */
  lastNumber(): number {
    return lastNumberOf(this.rows);
  }
}

/** Rows of an earlier version have no count of addresses. */
export function isItem(row: Buffer): boolean {
  return row.length === urlKeyBytes || row.length === urlKeyBytes + 1;
}
