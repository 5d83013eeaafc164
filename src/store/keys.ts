/** Keys as the databases have them: hashes of texts that may be longer than a key, and ranges of keys that are pairs. */
import { hash } from 'node:crypto';

/** 132 bits of a text's hash, for a text that may be longer than LMDB's keys. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** All keys [first, …] of a database whose keys are pairs of numbers. */
export function pairsOf(first: number): { start: [number, number]; end: [number, number] } {
  return { start: [first, 0], end: [first, Number.MAX_SAFE_INTEGER] };
}
