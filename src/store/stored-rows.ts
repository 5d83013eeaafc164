/**
 * Rows of the store as bytes, for who keeps them elsewhere (docs/cluster.md): which a commit wrote, where in the history of commits a file
 * stands, and a checksum over all keys that each commit carries on.
 *
 * A key has one form outside LMDB, whatever the machine: a uint32 is four bytes, most significant first; other keys are as LMDB orders them.
 */

import type { Database, Key } from 'lmdb';
import * as lmdb from 'lmdb';
import { hashBytes } from '../compute/structures/term-table.ts';

/** A row, or that there is none any more under that key. */
export interface StoredRow {
  database: string;
  key: Buffer;
  /** As LMDB has it; null for a deleted row. */
  value: Buffer | null;
}

/** Where in the history of a library's commits a file stands. */
export interface Position {
  /** Which library; a name may come to mean another one. */
  library: string;
  /** Who made the last commit: a number that grows with each takeover, and a random id, since a set back database counts again. */
  epoch: number;
  run: string;
  /** Of the last commit. */
  seq: number;
  /** How many keys there are, and `KeySum` over them. */
  keys: number;
  key_sum: string;
}

/** Where commits go that have to be there before they count. */
export interface CommitLog {
  /** Where the file stood when it was opened; each commit takes it one further. */
  position: Position;
  /** Resolves when there is room for one more. Errors: FatalError when it takes no more. */
  ready(): Promise<void>;
  /** Resolves when the commit is there for good. Errors: FatalError; the commit may be there all the same. */
  append(rows: readonly StoredRow[], position: Position): Promise<void>;
}

type KeyEncoding = 'uint32' | 'binary' | undefined;

/** Not in the types of lmdb. */
const { keyValueToBuffer, bufferToKeyValue } = lmdb as unknown as {
  /** Gives a view of a buffer that the next call writes on. */
  keyValueToBuffer(key: Key): Buffer;
  bufferToKeyValue(bytes: Buffer): Key;
};

/** Shape: bytes of its own, that nobody else writes on. */
export function keyBytes(key: Key, encoding: KeyEncoding): Buffer {
  if (encoding === 'uint32') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(Number(key));
    return bytes;
  }
  return Buffer.from(encoding === 'binary' ? (key as Uint8Array) : keyValueToBuffer(key));
}

/** The key that `keyBytes` gave these bytes for. */
export function keyOf(bytes: Buffer, encoding: KeyEncoding): Key {
  if (encoding === 'uint32') return bytes.readUInt32BE(0);
  return encoding === 'binary' ? bytes : bufferToKeyValue(Buffer.from(bytes));
}

/** Databases whose keys are not counted: a new file has rows there of its own. */
const uncounted = new Set(['stamp']);

/** How many keys there are, and the exclusive or of a 64-bit hash of each, so that it does not matter in which order they came. */
export class KeySum {
  keys: number;
  #high: number;
  #low: number;

  constructor({ keys, key_sum }: Pick<Position, 'keys' | 'key_sum'>) {
    this.keys = keys;
    this.#high = Number.parseInt(key_sum.slice(0, 8), 16);
    this.#low = Number.parseInt(key_sum.slice(8), 16);
  }

  /** Note what became of a key: `before` and `after` are whether there was and is a row. */
  change({ database, key }: StoredRow, before: boolean, after: boolean): void {
    if (before === after || uncounted.has(database)) return;
    const name = Buffer.from(database);
    const [one, other] = [Buffer.concat([name, key]), Buffer.concat([key, name])];
    this.#high ^= hashBytes(one, 0, one.length);
    this.#low ^= hashBytes(other, 0, other.length);
    this.keys += after ? 1 : -1;
  }

  get text(): string {
    return [this.#high, this.#low].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

export const noKeys = { keys: 0, key_sum: '0'.repeat(16) } as const;

/** What is recorded of a database that is written. */
interface Recorded {
  database: Pick<Database<unknown, Key>, 'getBinary' | 'doesExist'>;
  encoding: KeyEncoding;
}

/** Notes which keys the transaction under way writes. */
export class WriteRecorder {
  /** By database and key: whether there was a row before, and where to read what there is after. */
  readonly #written = new Map<string, { row: StoredRow; key: Key; before: boolean; of: Recorded }>();

  /** A transaction begins: what the one before it wrote is forgotten. */
  begin(): void {
    this.#written.clear();
  }

  /** Before a row is written or removed. */
  note(name: string, key: Key, of: Recorded): void {
    const bytes = keyBytes(key, of.encoding);
    const id = `${name}\0${bytes.toString('latin1')}`;
    if (this.#written.has(id)) return;
    const row: StoredRow = { database: name, key: bytes, value: null };
    this.#written.set(id, { row, key, before: of.database.doesExist(key), of });
  }

  /** At the end of a transaction and inside it: what it wrote, as it is now, and the sum over all keys behind it. */
  take(sum: KeySum): StoredRow[] {
    const rows: StoredRow[] = [];
    for (const { row, key, before, of } of this.#written.values()) {
      // A copy: LMDB gives a view of its map.
      const value = of.database.getBinary(key);
      row.value = value === undefined ? null : Buffer.from(value);
      if (row.value === null && !before) continue; // written and removed again
      sum.change(row, before, row.value !== null);
      rows.push(row);
    }
    this.#written.clear();
    return rows;
  }
}
