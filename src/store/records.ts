/** Shared by all records: their databases and keys. */
import { hash } from 'node:crypto';
import type { Key } from 'lmdb';
import type { Databases, Table, TypedDatabaseOptions } from './environment.ts';

/** 132 bits of a hash, for texts longer than an LMDB key. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** 128 bits of a hash: two of a billion URLs collide with probability below 1e-20. */
export function urlKey(url: string): Buffer {
  return Buffer.from(hash('sha256', url).slice(0, 32), 'hex');
}

export function pairsOf(first: number): { start: [number, number]; end: [number, number] } {
  return { start: [first, 0], end: [first, Number.MAX_SAFE_INTEGER] };
}

/** The keys must not come from a live iteration of `rows`. Returns how many were deleted. */
export function removeAll<RowKey extends Key>(rows: Table<unknown, RowKey>, keys: readonly RowKey[]): number {
  for (const key of keys) rows.remove(key);
  return keys.length;
}

export const numbered = { keyEncoding: 'uint32' } as const;

export class Records {
  protected readonly environment: Databases;

  constructor(environment: Databases) {
    this.environment = environment;
  }

  protected table<Value, StoredKey extends Key>(
    name: string,
    options: TypedDatabaseOptions = {},
  ): Table<Value, StoredKey> {
    return this.environment.openDatabase(name, options);
  }
}

export abstract class NumberedRecords<Row> extends Records {
  protected abstract readonly rows: Table<Row, number>;

  get(no: number): Row | undefined {
    return this.rows.get(no);
  }

  /** Lowest number first. */
  all(): Row[] {
    return [...this.rows.getRange()].map(({ value }) => value);
  }
}
