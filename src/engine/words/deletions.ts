/**
 * The deleted documents of one segment, in shared memory: one writer (the main side's index) sets bits, all searchers see
 * them at once. Bits are only ever set; a merge drops the documents and makes a new segment without any.
 *
 *   count          i32   number of bits set; changes last, so what was computed under a count is stale when it differs
 *   (padding)      i32
 *   deletedLength  f64   sum of the deleted documents' weighted lengths, in 1/UNITS
 *   deletedTitleLength  f64   sum of the words in their titles, as the forward index counts them
 *   bits           u32 × ceil(docs / 32)
 *
 * A search that runs while a bit is set may see it or not; one that starts after `markDeleted` returned sees it.
 */
import { addBit, type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';

export interface Deletions {
  readonly buffer: SharedArrayBuffer;
  readonly count: Int32Array;
  readonly deletedLength: Float64Array;
  readonly deletedTitleLength: Float64Array;
  readonly bits: Bitmap;
}

const BITS_AT = 24;

/** Where nothing is deleted yet in a segment of `docs` documents. */
export function createDeletions(docs: number): Deletions {
  return openDeletions(new SharedArrayBuffer(BITS_AT + Math.ceil(docs / 32) * 4));
}

export function openDeletions(buffer: SharedArrayBuffer): Deletions {
  return {
    buffer,
    count: new Int32Array(buffer, 0, 1),
    deletedLength: new Float64Array(buffer, 8, 1),
    deletedTitleLength: new Float64Array(buffer, 16, 1),
    bits: new Uint32Array(buffer, BITS_AT),
  };
}

export function deletedCount(deletions: Deletions): number {
  return Atomics.load(deletions.count, 0);
}

export function isDeleted(deletions: Deletions, ordinal: number): boolean {
  return hasBit(deletions.bits, ordinal);
}

/**
 * Delete a document of weighted `length`, with `titleLength` words in its title; false if it was deleted before. Only the owner
 * of the segment may call this.
 */
export function markDeleted(deletions: Deletions, ordinal: number, length: number, titleLength = 0): boolean {
  if (isDeleted(deletions, ordinal)) return false;
  addBit(deletions.bits, ordinal);
  deletions.deletedLength[0] += length;
  deletions.deletedTitleLength[0] += titleLength;
  Atomics.add(deletions.count, 0, 1);
  return true;
}
