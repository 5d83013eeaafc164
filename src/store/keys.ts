/** Keys as the databases have them: hashes of texts that may be longer than a key, ranges of keys that are pairs, and what is done by keys alone. */

import { hash } from 'node:crypto';
import type { Key } from 'lmdb';
import type { Table } from './environment.ts';

/** 132 bits of a text's hash, for a text that may be longer than LMDB's keys. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** 128 bits of the hash of a URL in its one form: two of a billion collide with probability below 1e-20. */
export function urlKey(url: string): Buffer {
  return Buffer.from(hash('sha256', url).slice(0, 32), 'hex');
}

/** All keys [first, …] of a database whose keys are pairs of numbers. */
export function pairsOf(first: number): { start: [number, number]; end: [number, number] } {
  return { start: [first, 0], end: [first, Number.MAX_SAFE_INTEGER] };
}

/** The highest number of a row, 0 for none. */
export function lastNumberOf(rows: Table<unknown, number>): number {
  return [...rows.getKeys({ reverse: true, limit: 1 })][0] ?? 0;
}

/** Delete the rows of these keys, which may not be read from the database meanwhile. Gives how many. */
export function removeAll<RowKey extends Key>(rows: Table<unknown, RowKey>, keys: readonly RowKey[]): number {
  for (const key of keys) rows.remove(key);
  return keys.length;
}
