/**
 * Opens the LMDB environment of a data folder and guards its format stamp. The rest of the store gets its named databases
 * from here; nobody outside `src/store` sees LMDB.
 *
 * Durability: commits are made by the writer only (`Store.transact`); a commit is visible at once and durable when `flushed`
 * resolves. Opening goes back to the last commit that was flushed (`safeRestore`): what came after it was answered to nobody, and
 * may be in memory only (docs/decisions/stop-when-a-flush-fails.md). A reader never holds a snapshot across a turn of the event loop, so old pages are reused, and so the file may be
 * replaced (`rewrite`) under readers that go on reading.
 */
import { createReadStream, createWriteStream, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Database, type DatabaseOptions, type Key, open, type RootDatabase } from 'lmdb';
import { FatalError, OperatorError } from '../domain/errors.ts';
import { replaceFile } from '../files/durable-file.ts';
import { isBegun } from './inspect-file.ts';
import { copyInto, putInPlace, putNewInPlace, roomFor, settleInPlace } from './replace-file.ts';
import { requireRoomToUpgrade } from './room-to-open.ts';
import type { Position, WriteRecorder } from './stored-rows.ts';

/** One more where stored rows are to be read otherwise than before: with a migration (migrations.ts). */
export const storeFormat = 3;

/** A store of an older format can be read, and `Store.open` migrates it; one of any other is refused, never misread. */
export function isReadableFormat(format: unknown): format is number {
  return typeof format === 'number' && Number.isInteger(format) && format >= 1 && format <= storeFormat;
}

export interface Environment {
  /** The environment that is open now: another one after a rewrite. */
  readonly root: RootDatabase;
  /** Path of the file that holds everything. */
  dataFile: string;
  /** Identity of this store's history: index files made from another one are set aside. */
  storeId: string;
  /** Of its stamp, when it was opened. */
  format: number;
  /** Where in a history of commits that are kept elsewhere the file stands; null for a file on its own. */
  position(): Position | null;
  /** Inside a transaction; null for a file that goes its own way from here. */
  putPosition(position: Position | null): void;
  /** Every database that was opened, by its name. */
  databases(): ReadonlyMap<string, OpenDatabase>;
  /** A handle that stays good when the file is replaced. A database that the file lacks is made. */
  openDatabase<Value, StoredKey extends Key>(name: string, options: TypedDatabaseOptions): Table<Value, StoredKey>;
  /**
   * Open all databases in `open`: those that are lacking are made in one transaction, which costs one flush and not one each. A store that was just
   * made then gets its name, under which other processes find it.
   */
  openAll<Opened>(open: () => Opened): Opened;
  /**
   * Put a compact copy of everything in the place of the file, so that no byte of what was deleted is left in it. Reads go on;
   * the caller sees to it that nothing is written meanwhile. Errors: those of the file system (no room, above all); the store
   * then goes on with the old file, or with the new one where only bringing its place to the disk failed.
   */
  rewrite(): Promise<void>;
  /**
   * Errors: where the file that is open is not the one at its path any more (the folder was deleted, its disk taken away), so that what is
   * written would be lost with this process.
   */
  assertInPlace(): Promise<void>;
  /** Not after a failed flush: it would note as flushed what is not. */
  close(): Promise<void>;
  /** After one. What is open stays open until the process ends; the next that opens the store here opens a copy of its file. */
  abandon(): void;
}

/**
 * A database by its name, as the records use it: what is written inside a transaction is in it when `put` and `remove` return, and on the disk
 * when the transaction is.
 */
export interface Table<Value, StoredKey extends Key>
  extends Pick<
    Database<Value, StoredKey>,
    'get' | 'getBinaryFast' | 'doesExist' | 'getRange' | 'getKeys' | 'getKeysCount' | 'getCount' | 'getStats'
  > {
  put(key: StoredKey, value: Value): void;
  remove(key: StoredKey): void;
}

export interface TypedDatabaseOptions extends Pick<DatabaseOptions, 'keyEncoding' | 'encoding'> {}

/** A named database of the environment that is open now. */
export interface OpenDatabase {
  database: Database<unknown, Key>;
  keyEncoding: 'uint32' | 'binary' | undefined;
}

/** Every value carries its own field names, so that it can be read alone: no structure is shared between values. */
const plain = { encoder: { useRecords: false } };

const maxDatabases = 64;
/** Each reading thread or held snapshot takes a slot; only this process's main thread and the tools read. */
const maxReaders = 64;

/** What is open of files that were abandoned, by their identity: LMDB would hand it out again. */
const abandoned = new Map<string, { root: RootDatabase; path: string }>();
/** Of one store: each keeps its file's room on the disk until the process ends. */
const maxAbandoned = 3;

/** Name in the stamp: where the file stands in a history that is kept elsewhere, as JSON. */
export const POSITION = 'position';

/** Where a compact copy is made; what a crash left there is deleted. */
const COPY = 'copy';
/** Where a new store is made: until it has all its databases another process that opened it could take a commit of them back. */
const MAKING = '-new';

/** A named database: which one it is in the environment that is open now. */
interface Slot {
  name: string;
  options: TypedDatabaseOptions;
  database: Database<unknown, Key>;
}

/**
 * Open the environment in `path`, or make one, which is there after `openAll`; `recorder` is told of each write. Whoever may meet a damaged file looks first (look-apart.ts).
 * Errors: OperatorError: `store_format` for a stamp of a newer format; `disk_full` where databases are lacking that do not fit, also of `openDatabase`.
 */
export function openEnvironment(path: string, newStoreId: () => string, recorder?: WriteRecorder): Environment {
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

  const assertInPlace = async () => {
    const found = await stat(dataFile).then(fileIdentity, (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (found === null) throw new Error('the file of the store is gone from the data folder');
    if (found !== opened) throw new Error('another file is in the place of the store');
  };

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
      // No await between the renaming and this: whoever reads, reads the one or the other, and both say the same.
      root = copy;
      stamp = copiedStamp;
      opened = fileIdentity(statSync(dataFile));
      for (const [place, slot] of slots.entries()) slot.database = databases[place];
    } catch (error) {
      await copy?.close();
      rmSync(copyDir, { recursive: true, force: true });
      throw error;
    }
    // Whatever fails from here on, the old file has no name any more: what were written to it would be lost.
    try {
      settleInPlace(copyDir, path);
    } finally {
      await closeRoot(old);
    }
  };

  return {
    get root() {
      return root;
    },
    dataFile,
    storeId,
    format: Number(format ?? storeFormat),
    openDatabase: <Value, StoredKey extends Key>(name: string, options: TypedDatabaseOptions) => {
      requireRoomFor(name);
      const slot: Slot = { name, options, database: openNamed(root, name, options) };
      slots.push(slot);
      return steadyHandle(slot, recorder) as unknown as Table<Value, StoredKey>;
    },
    position: () => positionIn(stamp.get(POSITION)),
    putPosition: (position) => {
      if (position === null) void stamp.remove(POSITION);
      else void stamp.put(POSITION, JSON.stringify(position));
    },
    databases: () => new Map(slots.map((slot) => [slot.name, openDatabaseOf(slot)])),
    openAll: (open) => {
      const all = root.transactionSync(open);
      if (isNew) putNewInPlace(making, path);
      return all;
    },
    rewrite,
    assertInPlace,
    close: () => {
      closed ??= closeRoot(root);
      return closed;
    },
    abandon: () => {
      abandoned.set(opened, { root, path });
    },
  };
}

/**
 * Open the store in `path` for reading only: no lock is asked for, nothing is made, stamped or cleared away, and another process
 * may write meanwhile. Where that process replaces the file, what was open goes on being read.
 * Errors: OperatorError `store_format` where there is no store, or one of a newer format.
 */
export function openReadOnlyEnvironment(path: string): Environment {
  const dataFile = join(path, 'data.mdb');
  if (!existsSync(dataFile)) throw new OperatorError('store_format', `there is no store in ${path}`);
  // A file that LMDB refuses to open for reading only ends the process.
  if (!isBegun(dataFile)) throw new OperatorError('store_format', `${dataFile} is no store, or is just being made`);
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
      position: () => positionIn(stamp.get(POSITION)),
      putPosition: () => {
        throw new Error('the store was opened for reading only');
      },
      databases: () => new Map(),
      openAll: (open) => open(),
      rewrite: () => Promise.reject(new Error('the store was opened for reading only')),
      assertInPlace: () => Promise.resolve(),
      close: () => root.close(),
      abandon: () => {},
    };
  } catch (error) {
    void root.close();
    throw error;
  }
}

/**
 * Before a store is opened that this process abandoned: put a copy of its file, byte by byte and brought to the disk, in its place. It says what
 * the kernel has of the old one's pages, wherever these are. Nothing is done to any other store.
 * Errors: OperatorError `no_room`; those of the file system, with the old file in its place; FatalError when too many were abandoned.
 */
export async function replaceAbandoned(path: string): Promise<void> {
  const dataFile = join(path, 'data.mdb');
  if ([...abandoned.values()].filter((each) => each.path === path).length >= maxAbandoned) {
    throw new FatalError(`the store could not be brought to the disk ${maxAbandoned} times`, { isFinal: true });
  }
  const found = await stat(dataFile).catch(() => null);
  if (found === null || !abandoned.has(fileIdentity(found))) return;
  roomFor(path, found.size);
  const copyDir = join(path, COPY);
  await rm(copyDir, { recursive: true, force: true });
  await mkdir(copyDir, { mode: 0o700 });
  try {
    // Read and written: a file system that can copy by reference would take what the disk has.
    const copy = (to: string) => pipeline(createReadStream(dataFile), createWriteStream(to, { mode: 0o600 }));
    await replaceFile(dataFile, copy, join(copyDir, 'data.mdb'));
    await rm(join(path, 'lock.mdb'), { force: true }); // mapped by what is open of the old file
  } finally {
    await rm(copyDir, { recursive: true, force: true });
  }
}

function fileIdentity({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}

/** Give the closed store in `path` an identity of its own, so that index files of another history are set aside. */
export async function restampStore(path: string, storeId: string): Promise<void> {
  const root = openRoot(path);
  try {
    await root.openDB<string | number, string>({ name: 'stamp' }).put('store_id', storeId);
    await root.flushed;
  } finally {
    await root.close();
  }
}

function positionIn(stored: string | number | undefined): Position | null {
  return stored === undefined ? null : (JSON.parse(String(stored)) as Position);
}

/** A database that an older store does not have yet reads as an empty one. */
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

/** Open the file of a store for reading, without looking at what is in it. */
export function openReadOnlyRoot(path: string): RootDatabase {
  return open<unknown, Key>({ path, maxDbs: maxDatabases, maxReaders, readOnly: true });
}

/** Open or create the file of a store, going back to its last commit that was flushed, without looking at what is in it. */
export function openRoot(path: string): RootDatabase {
  // Batching by turns of the event loop would add a promise of its own to each commit, which nobody can handle when it fails.
  const turns = { eventTurnBatching: false };
  const options = { path, maxDbs: maxDatabases, maxReaders, permissionsMode: 0o600, safeRestore: true, ...turns };
  const before = new Set(process.listeners('exit'));
  const root = open<unknown, Key>(options);
  // lmdb closes what is open when the process exits, which notes its last commit as flushed, and waits for ever for a lock that a transaction
  // which could not begin has kept. Whoever wants a store closed closes it; any other exit is as good as a kill.
  for (const listener of process.listeners('exit')) if (!before.has(listener)) process.removeListener('exit', listener);
  return root;
}

/** Closing waits for the last commit's flush, which never comes after one that failed: an empty one takes its place. */
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
  throw new TypeError(`keys are not kept as ${keyEncoding}`);
}

/** Passes everything on to the slot's database of the moment, and tells `recorder` of writes. */
function steadyHandle(slot: Slot, recorder: WriteRecorder | undefined): Database<unknown, Key> {
  /** Bound methods by the method: to bind one for each call would cost more than a small read. */
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

/** The copy's databases, one for each slot. Errors: where the copy is not the same store with as many entries everywhere. */
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

/** Number of entries of a database. */
export function entriesOf(database: Pick<Database, 'getStats'>): number {
  return (database.getStats() as { entryCount: number }).entryCount;
}
