/**
 * Opens the LMDB environment of a data folder and guards its format stamp. The rest of the store gets its named databases
 * from here; nobody outside `src/store` sees LMDB.
 *
 * Durability: commits are made by the writer only (`Store.transact`); a commit is visible at once and durable when `flushed`
 * resolves. A reader never holds a snapshot across a turn of the event loop, so old pages are reused.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, type DatabaseOptions, type Key, open, type RootDatabase } from 'lmdb';

/** Bumped when the layout of a stored record changes; a store of another format is refused, never misread. */
export const storeFormat = 1;

export class StoreFormatError extends Error {
  readonly code = 'store_format';
}

export interface Environment {
  root: RootDatabase;
  /** Path of the file that holds everything. */
  dataFile: string;
  /** Identity of this store's history: index files made from another one are set aside. */
  storeId: string;
  openDatabase<Value, StoredKey extends Key>(name: string, options: TypedDatabaseOptions): Database<Value, StoredKey>;
}

export interface TypedDatabaseOptions extends Pick<DatabaseOptions, 'keyEncoding' | 'encoding'> {}

/** Every value carries its own field names, so that it can be read alone: no structure is shared between values. */
const plain = { encoder: { useRecords: false } };

const maxDatabases = 64;
/** Each reading thread or held snapshot takes a slot; only this process's main thread and the tools read. */
const maxReaders = 64;

/** Open or create the environment in `path`. Errors: StoreFormatError for a stamp of another format. */
export function openEnvironment(path: string, newStoreId: () => string): Environment {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const options = { path, maxDbs: maxDatabases, maxReaders, permissionsMode: 0o600 };
  const root = open<unknown, Key>(options);
  const stamp = root.openDB<string | number, string>({ name: 'stamp' });
  const format = stamp.get('format');
  if (format === undefined) {
    stamp.putSync('store_id', newStoreId());
    stamp.putSync('format', storeFormat);
  } else if (format !== storeFormat) {
    throw new StoreFormatError(
      `the data folder has store format ${format}, this version of readback reads format ${storeFormat}`,
    );
  }
  return {
    root,
    dataFile: join(path, 'data.mdb'),
    storeId: String(stamp.get('store_id')),
    openDatabase: <Value, StoredKey extends Key>(name: string, databaseOptions: TypedDatabaseOptions) =>
      root.openDB<Value, StoredKey>({
        name,
        ...databaseOptions,
        ...(databaseOptions.encoding === undefined ? plain : {}),
      }),
  };
}
