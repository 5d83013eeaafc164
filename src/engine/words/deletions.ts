/**
 * The deleted documents of one segment in shared memory: the index sets bits, all searchers see them at once. Bits are never cleared; a
 * merge makes a new segment without the documents.
 *
 *   count          i32   number of bits set; changes last, so values computed under another count are stale
 *   (padding)      i32
 *   deletedLength  f64   sum of the deleted documents' weighted lengths, in 1/UNITS
 *   bits           u32 × ceil(docs / 32)
 *
 * A search during `markDeleted` may or may not see the bit; one started after it returned does.
 */
import { addBit, type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';

export interface Deletions {
  readonly buffer: SharedArrayBuffer;
  readonly count: Int32Array;
  readonly deletedLength: Float64Array;
  readonly bits: Bitmap;
}

const BITS_AT = 16;

export function createDeletions(docs: number): Deletions {
  return openDeletions(new SharedArrayBuffer(BITS_AT + Math.ceil(docs / 32) * 4));
}

export function openDeletions(buffer: SharedArrayBuffer): Deletions {
  return {
    buffer,
    count: new Int32Array(buffer, 0, 1),
    deletedLength: new Float64Array(buffer, 8, 1),
    bits: new Uint32Array(buffer, BITS_AT),
  };
}

export function deletedCount(deletions: Deletions): number {
  return Atomics.load(deletions.count, 0);
}

export function isDeleted(deletions: Deletions, ordinal: number): boolean {
  return hasBit(deletions.bits, ordinal);
}

/** Delete a document of weighted `length`; false if already deleted. Owner only. */
export function markDeleted(deletions: Deletions, ordinal: number, length: number): boolean {
  if (isDeleted(deletions, ordinal)) return false;
  addBit(deletions.bits, ordinal);
  deletions.deletedLength[0] += length;
  Atomics.add(deletions.count, 0, 1);
  return true;
}
