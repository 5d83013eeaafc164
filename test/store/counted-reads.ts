/** The readers of a store that count what they read of it: characters of texts, elements of lists, rows. */
import { join } from 'node:path';
import type { Key } from 'lmdb';
import { openReadOnlyEnvironment, type Table } from '../../src/store/environment.ts';
import { readersOf, type StoreReader } from '../../src/store/store.ts';

export class CountedReads implements AsyncDisposable {
  readonly reader: StoreReader;
  /** By database, of the values that were read since the last `take`. */
  readonly #counts: Record<string, number> = {};
  readonly #close: () => Promise<void>;

  private constructor(dataDir: string) {
    const environment = openReadOnlyEnvironment(join(dataDir, 'store'));
    const openDatabase = <Value, StoredKey extends Key>(name: string, options: object): Table<Value, StoredKey> =>
      this.#counted(name, environment.openDatabase<Value, StoredKey>(name, options));
    this.reader = readersOf({ ...environment, openDatabase });
    this.#close = () => environment.root.close();
  }

  static open(dataDir: string): CountedReads {
    return new CountedReads(dataDir);
  }

  /** What was read since the last time, by database. */
  take(): Record<string, number> {
    const counts = { ...this.#counts };
    for (const name of Object.keys(counts)) delete this.#counts[name];
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  #counted<Value, StoredKey extends Key>(name: string, database: Table<Value, StoredKey>): Table<Value, StoredKey> {
    const count = (value: unknown) => {
      if (value === undefined) return;
      const length = typeof value === 'string' || Array.isArray(value) ? value.length : 1;
      this.#counts[name] = (this.#counts[name] ?? 0) + length;
    };
    return new Proxy(database, {
      get: (_, property) => {
        if (property === 'get') {
          return (key: StoredKey) => {
            const value = database.get(key);
            count(value);
            return value;
          };
        }
        if (property === 'getRange') {
          return function* (range: object) {
            for (const entry of database.getRange(range)) {
              count(entry.value);
              yield entry;
            }
          };
        }
        const value: unknown = Reflect.get(database, property, database);
        return typeof value === 'function' ? value.bind(database) : value;
      },
    });
  }
}
