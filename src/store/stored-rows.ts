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
  append(rows: RowBlock, position: Position): Promise<void>;
}

/** Which of a library's commits are there for good; each is a line of text. */
export interface CommitHistory {
  /** The last one. */
  last(): string;
  /** Whether one, and so every one before it, is there. Errors: those of where they are. */
  has(commit: string): Promise<boolean>;
}

type KeyEncoding = 'uint32' | 'binary' | undefined;

/** Not in the types of lmdb. */
const { keyValueToBuffer, bufferToKeyValue } = lmdb as unknown as {
  /** Gives a view of a buffer that the next call writes on. */
  keyValueToBuffer(key: Key): Buffer;
  bufferToKeyValue(bytes: Buffer): Key;
};

const uint32 = Buffer.alloc(4);
const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

/** Shape: a view that the next call writes on. */
function keyView(key: Key, encoding: KeyEncoding): Buffer {
  if (encoding === 'binary') return viewOf(key as Uint8Array);
  if (encoding !== 'uint32') return keyValueToBuffer(key);
  uint32.writeUInt32BE(Number(key));
  return uint32;
}

/** Shape: bytes of its own, that nobody else writes on. */
export const keyBytes = (key: Key, encoding: KeyEncoding): Buffer => Buffer.from(keyView(key, encoding));

/** The key that `keyBytes` gave these bytes for. */
export function keyOf(bytes: Buffer, encoding: KeyEncoding): Key {
  if (encoding === 'uint32') return bytes.readUInt32BE(0);
  return encoding === 'binary' ? bytes : bufferToKeyValue(Buffer.from(bytes));
}

/** Databases whose keys are not counted: a new file has rows there of its own. */
const uncounted = new Set(['stamp']);

let hashed = Buffer.allocUnsafe(256);

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
  change({ database, key }: Pick<StoredRow, 'database' | 'key'>, before: boolean, after: boolean): void {
    if (before === after || uncounted.has(database)) return;
    // The name, the key and the name again: of the first two is one hash, of the last two the other.
    const whole = 2 * database.length + key.length;
    if (hashed.length < whole) hashed = Buffer.allocUnsafe(2 * whole);
    hashed.write(database, 0, 'latin1');
    hashed.set(key, database.length);
    hashed.write(database, database.length + key.length, 'latin1');
    this.#high ^= hashBytes(hashed, 0, database.length + key.length);
    this.#low ^= hashBytes(hashed, database.length, whole);
    this.keys += after ? 1 : -1;
  }

  get text(): string {
    return [this.#high, this.#low].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

export const noKeys = { keys: 0, key_sum: '0'.repeat(16) } as const;

/** Rows in one piece of memory: keys and values as they came, and where each is. */
export class RowBlock {
  bytes = Buffer.allocUnsafe(4096);
  /** Of `bytes`, that are taken. */
  size = 0;
  readonly databases: string[] = [];
  readonly keyStarts: number[] = [];
  readonly keyEnds: number[] = [];
  readonly valueStarts: number[] = [];
  /** -1 for a deleted row. */
  readonly valueEnds: number[] = [];

  static of(rows: readonly StoredRow[]): RowBlock {
    const block = new RowBlock();
    for (const { database, key, value } of rows) block.addValue(block.addKey(database, key), value ?? undefined);
    return block;
  }

  get length(): number {
    return this.databases.length;
  }

  /** A row without a value; gives its number. */
  addKey(database: string, key: Uint8Array): number {
    this.keyStarts.push(this.size);
    this.#append(key);
    this.keyEnds.push(this.size);
    this.valueStarts.push(0);
    this.valueEnds.push(-1);
    return this.databases.push(database) - 1;
  }

  addValue(row: number, value: Uint8Array | undefined): void {
    if (value === undefined) return;
    this.valueStarts[row] = this.size;
    this.#append(value);
    this.valueEnds[row] = this.size;
  }

  /** A view. */
  key(row: number): Buffer {
    return this.bytes.subarray(this.keyStarts[row], this.keyEnds[row]);
  }

  #append(added: Uint8Array): void {
    const end = this.size + added.length;
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, 2 * this.bytes.length));
      this.bytes.copy(larger, 0, 0, this.size);
      this.bytes = larger;
    }
    this.bytes.set(added, this.size);
    this.size = end;
  }
}

/** What is recorded of a database that is written. */
interface Recorded {
  database: Pick<Database<unknown, Key>, 'getBinary' | 'doesExist'>;
  encoding: KeyEncoding;
}

/** Notes which keys the transaction under way writes. */
export class WriteRecorder {
  /** By database, keys as text. */
  readonly #seen = new Map<string, Set<string>>();
  /** Whether there was a row before, and where to read what there is after. */
  #written: { name: string; key: Key; before: boolean; of: Recorded }[] = [];

  /** A transaction begins: what the one before it wrote is forgotten. */
  begin(): void {
    for (const keys of this.#seen.values()) keys.clear();
    this.#written = [];
  }

  /** Before a row is written or removed. */
  note(name: string, key: Key, of: Recorded): void {
    const keys = this.#seen.get(name) ?? new Set();
    if (keys.size === 0) this.#seen.set(name, keys);
    const id = keyView(key, of.encoding).toString('latin1');
    if (keys.has(id)) return;
    keys.add(id);
    this.#written.push({ name, key, before: of.database.doesExist(key), of });
  }

  /** At the end of a transaction and inside it: what it wrote, as it is now, and the sum over all keys behind it. */
  take(sum: KeySum): RowBlock {
    const rows = new RowBlock();
    for (const { name, key, before, of } of this.#written) {
      const value = of.database.getBinary(key);
      if (value === undefined && !before) continue; // written and removed again
      const row = rows.addKey(name, keyView(key, of.encoding));
      rows.addValue(row, value);
      sum.change({ database: name, key: rows.key(row) }, before, value !== undefined);
    }
    this.begin();
    return rows;
  }
}
