/** A library's closed file as a copy of an external history (docs/cluster.md). Incomplete until it has a position. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { asBinary } from 'lmdb';
import { OperatorError } from '../domain/errors.ts';
import { type Environment, type OpenDatabase, openEnvironment, POSITION } from './environment.ts';
import { readersOf } from './store.ts';
import { KeySum, keyBytes, keyOf, noKeys, type Position, type StoredRow } from './stored-rows.ts';

export class LibraryCopy {
  readonly #environment: Environment;
  readonly #databases: ReadonlyMap<string, OpenDatabase>;
  #sum: KeySum;

  private constructor(environment: Environment) {
    this.#environment = environment;
    environment.openAll(() => {
      readersOf(environment);
      // `known_visits` exists in libraries before format 4.
      for (const name of ['stamp', 'known_visits']) environment.openDatabase(name, {});
    });
    this.#databases = environment.databases();
    this.#sum = new KeySum(environment.position() ?? noKeys);
  }

  /** Errors: OperatorError `store_format`, `disk_full`. */
  static open(dataDir: string, newStoreId: () => string): LibraryCopy {
    return new LibraryCopy(openEnvironment(join(dataDir, 'store'), newStoreId));
  }

  static discard(dataDir: string): void {
    for (const name of ['store', 'store-new']) rmSync(join(dataDir, name), { recursive: true, force: true });
  }

  get position(): Position | null {
    return this.#environment.position();
  }

  get sum(): Pick<Position, 'keys' | 'key_sum'> {
    return { keys: this.#sum.keys, key_sum: this.#sum.text };
  }

  /** Write rows in one transaction. Errors: OperatorError `store_format` for an unknown database. */
  async apply(rows: readonly StoredRow[]): Promise<void> {
    const sum = new KeySum(this.sum);
    await this.#environment.root.childTransaction(() => {
      for (const row of rows) {
        const { database, keyEncoding } = this.#databaseOf(row);
        const key = keyOf(row.key, keyEncoding);
        sum.change(row, database.doesExist(key), row.value !== null);
        if (row.value === null) void database.remove(key);
        else void database.put(key, asBinary(row.value));
      }
    });
    this.#sum = sum;
  }

  /** Mark the file as complete at a position, durably. */
  async stand(position: Position): Promise<void> {
    await this.#environment.root.childTransaction(() => this.#environment.putPosition(position));
    await this.#environment.root.flushed;
  }

  *rows(pieceBytes: number): Generator<StoredRow[]> {
    let piece: StoredRow[] = [];
    let bytes = 0;
    for (const [name, { database, keyEncoding }] of this.#databases) {
      for (const key of database.getKeys({ snapshot: false })) {
        if (name === 'stamp' && key === POSITION) continue;
        const stored = database.getBinary(key);
        if (stored === undefined) continue;
        const row = { database: name, key: keyBytes(key, keyEncoding), value: Buffer.from(stored) };
        piece.push(row);
        bytes += row.key.length + row.value.length;
        if (bytes < pieceBytes) continue;
        yield piece;
        [piece, bytes] = [[], 0];
      }
    }
    if (piece.length > 0) yield piece;
  }

  close(): Promise<void> {
    return this.#environment.close();
  }

  #databaseOf({ database: name }: StoredRow): OpenDatabase {
    const found = this.#databases.get(name);
    if (found === undefined)
      throw new OperatorError('store_format', `the library has rows of ${name}, which this version cannot read`);
    return found;
  }
}
