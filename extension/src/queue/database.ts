/**
 * The extension's database: waiting items, recent visits, the log, the connection, and small states. Only the
 * background program opens it. Times are ms since the epoch.
 */
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb';
import type { BlacklistRule } from '../rules/decide.ts';
import type { Connection } from '../service/connection.ts';

export type ItemState = 'waiting' | 'refused';

/** Captured pages are sent before imported ones. */
export const rankOf = { read: 0, import: 1 } as const;

export interface QueuedItem {
  id: number;
  state: ItemState;
  /** One of `rankOf`: with state and id the order of sending. */
  rank: number;
  url: string;
  canonical: string;
  title: string;
  visitedAt: number;
  queuedAt: number;
  metadata: Record<string, string | number | boolean>;
  /** UTF-16 units of its body; 0 for items by address. */
  size: number;
  /** Why it was refused. */
  reason: string | null;
}

export type LogOutcome = 'accepted' | 'revisit' | 'blacklisted';

/** A page that left the queue. */
export interface LogEntry {
  id: number;
  url: string;
  title: string;
  visitedAt: number;
  sentAt: number;
  outcome: LogOutcome;
}

/** A recent visit of an address. Readings in the same session belong to it. */
export interface RecentVisit {
  canonical: string;
  visitedAt: number;
  /** Updated by each reading. */
  lastReadAt: number;
}

export interface SendState {
  failures: number;
  notedAt: number;
  notBefore: number;
  problem: { kind: 'unreachable' | 'unauthorized' | 'forbidden' | 'full' | 'busy' | 'failing'; detail: string } | null;
}

/** Sums of all items, updated in the transaction of an item's change. */
export interface Totals {
  items: number;
  units: number;
  /** Number of pages dropped because not even their address fitted. */
  dropped: number;
}

export interface Synced {
  rules: BlacklistRule[];
  at: number;
}

export type ImportSource = 'history' | 'bookmarks';
export interface ImportState {
  sources: ImportSource[];
  status: 'running' | 'paused' | 'done';
  /** History is read in time windows, newest first: the end of the next one; null when done. */
  historyBefore: number | null;
  bookmarksFrom: number | null;
  /** Entries seen; those queued, and those skipped by a rule or as already imported. */
  seen: number;
  queued: number;
  excluded: number;
  known: number;
  startedAt: number;
}

interface Metas {
  /** Null after disconnecting. */
  connection: Connection | null;
  /** Address and library of the last connection, to which this data belongs. */
  library: string;
  totals: Totals;
  send: SendState;
  blacklist: Synced;
  import: ImportState;
}

export interface ExtensionDatabase extends DBSchema {
  items: { key: number; value: QueuedItem; indexes: { order: [string, number, number]; canonical: string } };
  bodies: { key: number; value: string };
  visits: { key: string; value: RecentVisit; indexes: { lastReadAt: number } };
  imported: { key: string; value: { canonical: string; visitedAt: number } };
  log: { key: number; value: LogEntry; indexes: { url: string } };
  meta: { key: string; value: Metas[keyof Metas] };
}

export type Database = IDBPDatabase<ExtensionDatabase>;
type StoreName = 'items' | 'bodies' | 'visits' | 'imported' | 'log' | 'meta';
export type Transaction = IDBPTransaction<ExtensionDatabase, StoreName[], 'readwrite'>;

export const noTotals: Totals = { items: 0, units: 0, dropped: 0 };
export const noSendState: SendState = { failures: 0, notedAt: 0, notBefore: 0, problem: null };

/** Opens the database on demand, and again after a failure or a close by the browser. */
export function keepOpen(name?: string): () => Promise<Database> {
  let opened: Promise<Database> | undefined;
  const openAgain = () => {
    opened = undefined;
  };
  return () => {
    if (opened === undefined) {
      opened = openDatabase(name, openAgain);
      opened.catch(openAgain);
    }
    return opened;
  };
}

export function openDatabase(name = 'readback', terminated = () => {}): Promise<Database> {
  return openDB<ExtensionDatabase>(name, 2, {
    terminated,
    async upgrade(database, before, _, transaction) {
      if (before >= 1) return waitAgain(transaction);
      const items = database.createObjectStore('items', { keyPath: 'id', autoIncrement: true });
      items.createIndex('order', ['state', 'rank', 'id']);
      items.createIndex('canonical', 'canonical');
      database.createObjectStore('bodies');
      database.createObjectStore('visits', { keyPath: 'canonical' }).createIndex('lastReadAt', 'lastReadAt');
      database.createObjectStore('imported', { keyPath: 'canonical' });
      database.createObjectStore('log', { keyPath: 'id', autoIncrement: true }).createIndex('url', 'url');
      database.createObjectStore('meta');
    },
  });
}

/** Version 1 had a third state for items being sent. */
async function waitAgain(transaction: IDBPTransaction<ExtensionDatabase, StoreName[], 'versionchange'>): Promise<void> {
  const items = transaction.objectStore('items');
  for (const item of await items.getAll()) if (item.state !== 'refused') await items.put({ ...item, state: 'waiting' });
}

const allStores: StoreName[] = ['items', 'bodies', 'visits', 'imported', 'log', 'meta'];

/**
 * Run `work` in one transaction over all stores; resolves on completion. `work` may only await requests of the
 * transaction. `strict`: waits for the disk.
 */
export async function transact<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const transaction = database.transaction(allStores, 'readwrite', { durability: 'strict' });
  const ended = transaction.done;
  try {
    const result = await work(transaction);
    await ended;
    return result;
  } catch (error) {
    ended.catch(() => undefined); // the same error, or the requested abort
    try {
      transaction.abort();
    } catch {
      // The transaction was already over.
    }
    throw error;
  }
}

export async function readMeta<Name extends keyof Metas>(
  from: { get(name: string): Promise<unknown> },
  name: Name,
): Promise<Metas[Name] | undefined> {
  return (await from.get(name)) as Metas[Name] | undefined;
}

export async function getMeta<Name extends keyof Metas>(
  database: Database,
  name: Name,
): Promise<Metas[Name] | undefined> {
  return readMeta({ get: (key) => database.get('meta', key) }, name);
}
