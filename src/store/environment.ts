/**
 * The LMDB environment of a data folder, with its format stamp. LMDB is visible only inside `src/store`.
 *
 * Durability: only the writer commits (`Store.transact`); a commit is visible at once and durable when `flushed`
 * resolves. Opening goes back to the last flushed commit (`safeRestore`), as later ones were never acknowledged
 * (docs/decisions/stop-when-a-flush-fails.md). A reader keeps no snapshot across turns of the event loop, so that old
 * pages are reused and `rewrite` may replace the file under readers.
 */

import { createReadStream, createWriteStream, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Database, type DatabaseOptions, type Key, open, type RootDatabase } from 'lmdb';
import { closing } from '../compute/closing.ts';
import { FatalError, nullIfMissing, OperatorError } from '../domain/errors.ts';
import { replaceFile } from '../files/durable-file.ts';
import { requireRoomToUpgrade } from './data-folder.ts';
import { isBegun } from './look-apart.ts';
import { copyInto, putInPlace, putNewInPlace, roomFor, settleInPlace } from './replace-file.ts';
import type { Position, WriteRecorder } from './stored-rows.ts';

/** Increase it, with a migration (migrations.ts), when stored rows must be read differently. */
export const storeFormat = 4;

/** `Store.open` migrates older formats; other formats are refused. */
export function isReadableFormat(format: unknown): format is number {
  return typeof format === 'number' && Number.isInteger(format) && format >= 1 && format <= storeFormat;
}

export type Environment = ReturnType<typeof openEnvironment>;
export type ReadOnlyEnvironment = Pick<Environment, 'root' | 'dataFile' | 'storeId' | 'format' | 'openDatabase'>;
export type Databases = Pick<Environment, 'openDatabase'>;

/** A database as the records use it: inside a transaction, `put` and `remove` apply at once and are durable with the transaction. */
export interface Table<Value, StoredKey extends Key>
  extends Pick<
    Database<Value, StoredKey>,
    'get' | 'getBinaryFast' | 'doesExist' | 'getRange' | 'getKeys' | 'getKeysCount' | 'getCount' | 'getStats'
  > {
  put(key: StoredKey, value: Value): void;
  remove(key: StoredKey): void;
}

export interface TypedDatabaseOptions extends Pick<DatabaseOptions, 'keyEncoding' | 'encoding'> {}

export interface OpenDatabase {
  database: Database<unknown, Key>;
  keyEncoding: 'uint32' | 'binary' | undefined;
}

/** Each value contains its field names, so that it can be read alone. */
const plain = { encoder: { useRecords: false } };

const maxDatabases = 96;
/** Max reader slots. Each reading thread or snapshot takes one; only the main thread and the tools read. */
const maxReaders = 64;

/** Abandoned open files by identity, because LMDB would return them again. */
const abandoned = new Map<string, { root: RootDatabase; path: string }>();
/** Max abandoned files per store. Each keeps its disk space until the process ends. */
const maxAbandoned = 3;

/** A thread may wait forever in an abandoned file. */
export const hasAbandonedFiles = (): boolean => abandoned.size > 0;

/** Key in the stamp: position in an external history, as JSON. */
export const POSITION = 'position';

const COPY = 'copy';
/** Where a new store is created: a process that opens an incomplete one could undo a commit of another. */
const MAKING = '-new';

interface Slot {
  name: string;
  options: TypedDatabaseOptions;
  database: Database<unknown, Key>;
}

/**
 * Open or create the environment; `path` exists after `openAll`. Check a file that may be damaged (look-apart.ts).
 * Errors: OperatorError `store_format` for a newer format; `disk_full` for missing databases, also of `openDatabase`.
 */
export function openEnvironment(path: string, newStoreId: () => string, recorder?: WriteRecorder) {
  const dataFile = join(path, 'data.mdb');
  const making = path + MAKING;
  for (const left of [join(path, COPY), making]) rmSync(left, { recursive: true, force: true });
  const isNew = (statSync(dataFile, { throwIfNoEntry: false })?.size ?? 0) === 0;
  const place = isNew ? making : path;
  mkdirSync(place, { recursive: true, mode: 0o700 });
  let root = openRoot(place);
  const slots: Slot[] = [];
  const present = new Set<Key>(root.getKeys());
  let isRoomProven = false;
  const requireRoomFor = (name: string) => {
    if (present.has(name) || isRoomProven) return;
    requireRoomToUpgrade(dirname(path));
    isRoomProven = true;
  };
  requireRoomFor('stamp');
  let stamp = root.openDB<string | number, string>({ name: 'stamp' });
  const format = stamp.get('format');
  if (format === undefined) {
    root.transactionSync(() => {
      stamp.putSync('store_id', newStoreId());
      stamp.putSync('format', storeFormat);
    });
  } else if (!isReadableFormat(format)) {
    throw new OperatorError(
      'store_format',
      `the data folder has store format ${format}, this version of readback reads format ${storeFormat}`,
    );
  }
  const storeId = String(stamp.get('store_id'));
  let closed: Promise<void> | undefined;
  let opened = fileIdentity(statSync(join(place, 'data.mdb')));

  /** Errors: the file at the path is another one (folder deleted, disk removed), so writes would be lost. */
  const assertInPlace = async () => {
    const found = await stat(dataFile).then(fileIdentity, nullIfMissing);
    if (found === null) throw new Error('the file of the store is missing in the data folder');
    if (found !== opened) throw new Error('another file has replaced the store');
  };

  /**
   * Replace the file by a compact copy, which contains no deleted bytes. Reads continue; the caller prevents writes. Errors: file system
   * errors (mostly no room); the store then continues with the old file, or with the new one if only the final fsync failed.
   */
  const rewrite = async () => {
    const copyDir = join(path, COPY);
    roomFor(path, statSync(dataFile).size);
    const old = root;
    let copy: RootDatabase | undefined;
    try {
      await copyInto(copyDir, (dir) => old.backup(dir, true));
      copy = openRoot(copyDir);
      const databases = copiedDatabases(copy, slots, storeId);
      const copiedStamp = copy.openDB<string | number, string>({ name: 'stamp' });
      putInPlace(copyDir, path);
      // No await between the rename and this assignment. Readers see either file; both have the same content.
      root = copy;
      stamp = copiedStamp;
      opened = fileIdentity(statSync(dataFile));
      for (const [place, slot] of slots.entries()) slot.database = databases[place];
    } catch (error) {
      await copy?.close();
      rmSync(copyDir, { recursive: true, force: true });
      throw error;
    }
    // From here on the old file has no name, and writes to it would be lost.
    try {
      settleInPlace(copyDir, path);
    } finally {
      await closeRoot(old);
    }
  };

  return {
    /** The currently open environment, which a rewrite replaces. */
    get root() {
      return root;
    },
    dataFile,
    /** Identity of this store's history. Index files of another history are set aside. */
    storeId,
    format: Number(format ?? storeFormat),
    /** A handle that survives a rewrite. Creates a missing database. */
    openDatabase: <Value, StoredKey extends Key>(name: string, options: TypedDatabaseOptions) => {
      requireRoomFor(name);
      const slot: Slot = { name, options, database: openNamed(root, name, options) };
      slots.push(slot);
      return steadyHandle(slot, recorder) as unknown as Table<Value, StoredKey>;
    },
    /** The file's position in an external commit history; null for a standalone file. */
    position: () => positionIn(stamp.get(POSITION)),
    /** Inside a transaction; null detaches the file from the history. */
    putPosition: (position: Position | null) => {
      if (position === null) void stamp.remove(POSITION);
      else void stamp.put(POSITION, JSON.stringify(position));
    },
    databases: (): ReadonlyMap<string, OpenDatabase> => new Map(slots.map((slot) => [slot.name, openDatabaseOf(slot)])),
    /**
     * Open all databases in `open`. Missing ones are created in one transaction: one flush in total. A new store is then renamed to its
     * final place.
     */
    openAll: <Opened>(open: () => Opened): Opened => {
      const all = root.transactionSync(open);
      if (isNew) putNewInPlace(making, path);
      return all;
    },
    rewrite,
    assertInPlace,
    /** Not after a failed flush, because it would mark unflushed commits as flushed. */
    close: () => {
      closed ??= closeRoot(root);
      return closed;
    },
    /** After a failed flush. Open files stay open until the process ends; the next opening uses a copy. */
    abandon: () => {
      abandoned.set(opened, { root, path });
    },
  };
}

/**
 * Open read-only, without a lock, next to a writer. If that one replaces the file, handles keep reading the old one.
 * Errors: OperatorError `store_format` if there is no store or a newer format.
 */
export function openReadOnlyEnvironment(path: string): ReadOnlyEnvironment {
  const dataFile = join(path, 'data.mdb');
  if (!existsSync(dataFile)) throw new OperatorError('store_format', `there is no store in ${path}`);
  // LMDB ends the process if it cannot open a file read-only.
  if (!isBegun(dataFile)) throw new OperatorError('store_format', `${dataFile} is not a store, or is being created`);
  const root = openReadOnlyRoot(path);
  try {
    const stamp = openForReading<string | number, string>(root, 'stamp', {});
    const format = stamp.get('format');
    if (!isReadableFormat(format)) {
      throw new OperatorError(
        'store_format',
        `the store in ${path} has format ${format}, this version of readback reads format ${storeFormat}`,
      );
    }
    return {
      root,
      dataFile,
      storeId: String(stamp.get('store_id')),
      format: Number(format),
      openDatabase: (name, options) => openForReading(root, name, options),
    };
  } catch (error) {
    void root.close();
    throw error;
  }
}

/**
 * Before reopening a store that this process abandoned: replace the file by a fsynced copy of the kernel's pages.
 * Errors: OperatorError `no_room`; file system errors, the old file stays; FatalError after too many abandoned files.
 */
export async function replaceAbandoned(path: string): Promise<void> {
  const dataFile = join(path, 'data.mdb');
  if ([...abandoned.values()].filter((each) => each.path === path).length >= maxAbandoned) {
    throw new FatalError(`the store could not be flushed to disk ${maxAbandoned} times`, { isFinal: true });
  }
  const found = await stat(dataFile).catch(() => null);
  if (found === null || !abandoned.has(fileIdentity(found))) return;
  roomFor(path, found.size);
  const copyDir = join(path, COPY);
  await rm(copyDir, { recursive: true, force: true });
  await mkdir(copyDir, { mode: 0o700 });
  try {
    // Copied by reading and writing: a copy by reference would use the content on the disk.
    const copy = (to: string) => pipeline(createReadStream(dataFile), createWriteStream(to, { mode: 0o600 }));
    await replaceFile(dataFile, copy, join(copyDir, 'data.mdb'));
    await rm(join(path, 'lock.mdb'), { force: true }); // still mapped by the open old file
  } finally {
    await rm(copyDir, { recursive: true, force: true });
  }
}

function fileIdentity({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}

/** Give a closed store a new identity, so that old index files are set aside. */
export async function restampStore(path: string, storeId: string): Promise<void> {
  await using root = closing(openRoot(path));
  await root.openDB<string | number, string>({ name: 'stamp' }).put('store_id', storeId);
  await root.flushed;
}

function positionIn(stored: string | number | undefined): Position | null {
  return stored === undefined ? null : (JSON.parse(String(stored)) as Position);
}

/** A database that an older store lacks reads as empty. */
function openForReading<Value, StoredKey extends Key>(
  root: RootDatabase,
  name: string,
  options: TypedDatabaseOptions,
): Table<Value, StoredKey> {
  const opened: Database<unknown, Key> | undefined = openNamed(root, name, options);
  return (opened ?? emptyDatabase) as unknown as Table<Value, StoredKey>;
}

const emptyDatabase = {
  get: () => undefined,
  doesExist: () => false,
  getRange: () => [],
  getKeys: () => [],
  getKeysCount: () => 0,
  getStats: () => ({ entryCount: 0 }),
} as unknown as Database<unknown, Key>;

export function openReadOnlyRoot(path: string): RootDatabase {
  return open<unknown, Key>({ path, maxDbs: maxDatabases, maxReaders, readOnly: true });
}

/** Open or create the file at its last flushed commit, without checks. */
export function openRoot(path: string): RootDatabase {
  // Batching would add a promise per commit, which is unhandled on failure.
  const turns = { eventTurnBatching: false };
  const options = { path, maxDbs: maxDatabases, maxReaders, permissionsMode: 0o600, safeRestore: true, ...turns };
  const before = new Set(process.listeners('exit'));
  const root = open<unknown, Key>(options);
  // On exit, lmdb would mark the last commit as flushed, or wait for a lock forever. An exit must equal a kill.
  for (const listener of process.listeners('exit')) if (!before.has(listener)) process.removeListener('exit', listener);
  return root;
}

/** Closing waits for the last flush, which never ends after a failure. An empty one replaces it. */
async function closeRoot(root: RootDatabase): Promise<void> {
  await root.childTransaction(() => undefined);
  await root.close();
}

function openNamed(root: RootDatabase, name: string, options: TypedDatabaseOptions): Database<unknown, Key> {
  return root.openDB<unknown, Key>({ name, ...options, ...(options.encoding === undefined ? plain : {}) });
}

function openDatabaseOf({ database, options: { keyEncoding } }: Slot): OpenDatabase {
  if (keyEncoding === undefined || keyEncoding === 'uint32' || keyEncoding === 'binary')
    return { database, keyEncoding };
  throw new TypeError(`keys are not encoded as ${keyEncoding}`);
}

/** Forwards to the slot's current database. Reports writes to `recorder`. */
function steadyHandle(slot: Slot, recorder: WriteRecorder | undefined): Database<unknown, Key> {
  /** Cached bound methods: binding at each call would cost more than a small read. */
  let bound = new Map<unknown, unknown>();
  let of = slot.database;
  return new Proxy(slot.database, {
    get: (_, property) => {
      if (of !== slot.database) {
        bound = new Map();
        of = slot.database;
      }
      const value: unknown = Reflect.get(of, property, of);
      if (typeof value !== 'function') return value;
      const known = bound.get(value) ?? boundTo(slot, value as Method, { property, recorder });
      bound.set(value, known);
      return known;
    },
  });
}

type Method = (...given: unknown[]) => unknown;

function boundTo(
  slot: Slot,
  method: Method,
  { property, recorder }: { property: string | symbol; recorder: WriteRecorder | undefined },
): Method {
  const call = method.bind(slot.database);
  if (recorder === undefined || (property !== 'put' && property !== 'remove')) return call;
  const { database, keyEncoding: encoding } = openDatabaseOf(slot);
  return (...given) => {
    recorder.note(slot.name, given[0] as Key, { database, encoding });
    return call(...given);
  };
}

function copiedDatabases(copy: RootDatabase, slots: readonly Slot[], storeId: string): Database<unknown, Key>[] {
  const copiedId = copy.openDB<string | number, string>({ name: 'stamp' }).get('store_id');
  if (copiedId !== storeId) throw new Error('the compact copy is not of this store');
  return slots.map(({ name, options, database }) => {
    const copied = openNamed(copy, name, options);
    const [has, had] = [entriesOf(copied), entriesOf(database)];
    if (has !== had) throw new Error(`the compact copy has ${has} of ${had} entries of ${name}`);
    return copied;
  });
}

export function entriesOf(database: Pick<Database, 'getStats'>): number {
  return (database.getStats() as { entryCount: number }).entryCount;
}
