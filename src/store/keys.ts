import { hash } from 'node:crypto';
import type { Key } from 'lmdb';
import type { Table } from './environment.ts';

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

export function lastNumberOf(rows: Table<unknown, number>): number {
  return [...rows.getKeys({ reverse: true, limit: 1 })][0] ?? 0;
}

/** The keys must not be a live iteration of `rows`. Returns how many were deleted. */
export function removeAll<RowKey extends Key>(rows: Table<unknown, RowKey>, keys: readonly RowKey[]): number {
  for (const key of keys) rows.remove(key);
  return keys.length;
}
