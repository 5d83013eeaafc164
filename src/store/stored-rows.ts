/** Rows as bytes for external storage (docs/cluster.md). A uint32 key has four bytes, big-endian; others as LMDB. */

import type { Database, Key } from 'lmdb';
import * as lmdb from 'lmdb';
import { hashBytes } from '../compute/structures/term-table.ts';

export interface StoredRow {
  database: string;
  key: Buffer;
  /** As in LMDB; null for a deleted row. */
  value: Buffer | null;
}

export interface Position {
  /** Library id; its name may be reused. */
  library: string;
  /** Author of the last commit: a number that grows with takeovers, and a random id (databases may be reset). */
  epoch: number;
  run: string;
  seq: number;
  /** Number of keys, and their `KeySum`. */
  keys: number;
  key_sum: string;
}

/** The log that makes commits valid. */
export interface CommitLog {
  /** Position of the file when it was opened. Each commit advances it by one. */
  position: Position;
  /** Resolves when there is room for a commit. Errors: FatalError when closed. */
  ready(): Promise<void>;
  /** Resolves when the commit is durable. Errors: FatalError; the commit may be durable nevertheless. */
  append(rows: RowBlock, position: Position): Promise<void>;
}

export interface CommitHistory {
  last(): string;
  /** Whether a commit, and so every earlier one, is durable. */
  has(commit: string): Promise<boolean>;
}

type KeyEncoding = 'uint32' | 'binary' | undefined;

const { keyValueToBuffer, bufferToKeyValue } = lmdb as unknown as {
  /** Returns a view that the next call overwrites. */
  keyValueToBuffer(key: Key): Buffer;
  bufferToKeyValue(bytes: Buffer): Key;
};

const uint32 = Buffer.alloc(4);
const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

/** Returns a view that the next call overwrites. */
function keyView(key: Key, encoding: KeyEncoding): Buffer {
  if (encoding === 'binary') return viewOf(key as Uint8Array);
  if (encoding !== 'uint32') return keyValueToBuffer(key);
  uint32.writeUInt32BE(Number(key));
  return uint32;
}

/** Returns its own copy. */
export const keyBytes = (key: Key, encoding: KeyEncoding): Buffer => Buffer.from(keyView(key, encoding));

export function keyOf(bytes: Buffer, encoding: KeyEncoding): Key {
  if (encoding === 'uint32') return bytes.readUInt32BE(0);
  return encoding === 'binary' ? bytes : bufferToKeyValue(Buffer.from(bytes));
}

/** Databases whose keys are not counted: they are specific to a file. */
const uncounted = new Set(['stamp']);

let hashed = Buffer.allocUnsafe(256);

/** Number of keys and the XOR of their 64-bit hashes, so order does not matter. */
export class KeySum {
  keys: number;
  #high: number;
  #low: number;

  constructor({ keys, key_sum }: Pick<Position, 'keys' | 'key_sum'>) {
    this.keys = keys;
    this.#high = Number.parseInt(key_sum.slice(0, 8), 16);
    this.#low = Number.parseInt(key_sum.slice(8), 16);
  }

  /** `before`, `after`: whether the row existed before and exists after the change. */
  change({ database, key }: Pick<StoredRow, 'database' | 'key'>, before: boolean, after: boolean): void {
    if (before === after || uncounted.has(database)) return;
    // Order: name, key, name. The first two form one hash, the last two the other.
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

/** Rows in one buffer: keys and values in order, with their offsets. */
export class RowBlock {
  bytes = Buffer.allocUnsafe(4096);
  size = 0;
  readonly databases: string[] = [];
  readonly keyStarts: number[] = [];
  readonly keyEnds: number[] = [];
  readonly valueStarts: number[] = [];
  /** End of each value; -1 for a deleted row. */
  readonly valueEnds: number[] = [];

  static of(rows: readonly StoredRow[]): RowBlock {
    const block = new RowBlock();
    for (const { database, key, value } of rows) block.addValue(block.addKey(database, key), value ?? undefined);
    return block;
  }

  get length(): number {
    return this.databases.length;
  }

  /** Add a row without a value; returns its number. */
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

interface Recorded {
  database: Pick<Database<unknown, Key>, 'getBinary' | 'doesExist'>;
  encoding: KeyEncoding;
}

/** Records the keys written by the current transaction. */
export class WriteRecorder {
  readonly #seen = new Map<string, Set<string>>();
  /** Whether the row existed, and a reader for its new value. */
  #written: { name: string; key: Key; before: boolean; of: Recorded }[] = [];

  begin(): void {
    for (const keys of this.#seen.values()) keys.clear();
    this.#written = [];
  }

  note(name: string, key: Key, of: Recorded): void {
    const keys = this.#seen.get(name) ?? new Set();
    if (keys.size === 0) this.#seen.set(name, keys);
    const id = keyView(key, of.encoding).toString('latin1');
    if (keys.has(id)) return;
    keys.add(id);
    this.#written.push({ name, key, before: of.database.doesExist(key), of });
  }

  /** Call at the end of a transaction, inside it. Returns the written rows and the new sum over all keys. */
  take(sum: KeySum): RowBlock {
    const rows = new RowBlock();
    for (const { name, key, before, of } of this.#written) {
      const value = of.database.getBinary(key);
      if (value === undefined && !before) continue; // written and removed in the same transaction
      const row = rows.addKey(name, keyView(key, of.encoding));
      rows.addValue(row, value);
      sum.change({ database: name, key: rows.key(row) }, before, value !== undefined);
    }
    this.begin();
    return rows;
  }
}
