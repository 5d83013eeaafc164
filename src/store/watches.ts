/**
 * Watches. Databases: `watches` no → row; `watch_by_url` 16 bytes of SHA-256(URL identity) → no; `watch_by_job` latest poll job → watch;
 * `watches_due` [next_run_at, no] of enabled ones; `watch_items` [watch, hash of the item's guid] → 16 bytes of SHA-256(canonical URL of
 * its latest page) and a byte counting the addresses tried. Rows change only by `put`.
 */
import type { Watch } from '../domain/watch.ts';
import { hashKey, NumberedRecords, numbered, removeAll, urlKey } from './records.ts';

export interface StoredWatch extends Watch {
  identity: string;
}

const urlKeyBytes = 16;

export interface WatchItem {
  /** `urlKey` of the latest address. */
  url_key: Buffer;
  /** Addresses tried so far, at most 255. */
  addresses: number;
}

export class WatchReader extends NumberedRecords<StoredWatch> {
  protected readonly rows = this.table<StoredWatch, number>('watches', numbered);
  protected readonly byUrl = this.table<number, Buffer>('watch_by_url', { keyEncoding: 'binary' });
  protected readonly byJob = this.table<number, number>('watch_by_job', numbered);
  protected readonly due = this.table<number, [number, number]>('watches_due');
  protected readonly items = this.table<Buffer, [number, string]>('watch_items');

  find(identity: string): StoredWatch | undefined {
    const no = this.byUrl.get(urlKey(identity));
    return no === undefined ? undefined : this.rows.get(no);
  }

  ofJob(jobNo: number): StoredWatch | undefined {
    const no = this.byJob.get(jobNo);
    return no === undefined ? undefined : this.rows.get(no);
  }

  count(): number {
    return this.rows.getKeysCount();
  }

  /** The watch that has this number of older ones; null if none. */
  numberAt(older: number): number | null {
    const [no = null] = this.rows.getKeys({ offset: older, limit: 1 });
    return no;
  }

  list(after = 0, limit = Number.MAX_SAFE_INTEGER): StoredWatch[] {
    return [...this.rows.getRange({ start: after + 1, limit })].map(({ value }) => value);
  }

  item(no: number, guid: string): WatchItem | undefined {
    const row = this.items.get([no, hashKey(guid)]);
    return row && { url_key: row.subarray(0, urlKeyBytes), addresses: row[urlKeyBytes] ?? 1 };
  }

  /** When the next enabled watch is due, ms; undefined if there is none. */
  nextDueAt(): number | undefined {
    for (const [at] of this.due.getKeys({ limit: 1 })) return at;
    return undefined;
  }

  /** Enabled watches due at `now`, longest due first. */
  dueAt(now: number, limit: number): StoredWatch[] {
    return [...this.due.getKeys({ end: [now, Number.MAX_SAFE_INTEGER], limit })].flatMap(
      ([, no]) => this.get(no) ?? [],
    );
  }
}

export class WatchTransactor extends WatchReader {
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
}

/** Rows of an earlier version have no count of addresses. */
export function isItem(row: Buffer): boolean {
  return row.length === urlKeyBytes || row.length === urlKeyBytes + 1;
}
