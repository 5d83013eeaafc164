/**
 * The deleted documents of one segment, in shared memory: one writer (the main side's index) sets bits, all searchers see
 * them at once. Bits are only ever set; a merge drops the documents and makes a new segment with clear tombstones.
 *
 *   count          i32   number of bits set; changes last, so what was computed under a count is stale when it differs
 *   (padding)      i32
 *   deletedLength  f64   sum of the deleted documents' weighted lengths, in 1/UNITS
 *   deletedTitleLength  f64   sum of the words in their titles, as the forward index counts them
 *   bits           u32 × ceil(docs / 32)
 *
 * A search that runs while a bit is set may see it or not; one that starts after `markDeleted` returned sees it.
 */
export interface Tombstones {
  readonly buffer: SharedArrayBuffer;
  readonly count: Int32Array;
  readonly deletedLength: Float64Array;
  readonly deletedTitleLength: Float64Array;
  readonly bits: Uint32Array;
}

const BITS_AT = 24;

/** Clear tombstones for a segment of `docs` documents. */
export function createTombstones(docs: number): Tombstones {
  return openTombstones(new SharedArrayBuffer(BITS_AT + Math.ceil(docs / 32) * 4));
}

export function openTombstones(buffer: SharedArrayBuffer): Tombstones {
  return {
    buffer,
    count: new Int32Array(buffer, 0, 1),
    deletedLength: new Float64Array(buffer, 8, 1),
    deletedTitleLength: new Float64Array(buffer, 16, 1),
    bits: new Uint32Array(buffer, BITS_AT),
  };
}

export function deletedCount(tombstones: Tombstones): number {
  return Atomics.load(tombstones.count, 0);
}

export function isDeleted(tombstones: Tombstones, ordinal: number): boolean {
  return (tombstones.bits[ordinal >>> 5] & (1 << (ordinal & 31))) !== 0;
}

/**
 * Delete a document of weighted `length`, with `titleLength` words in its title; false if it was deleted before. Only the owner
 * of the segment may call this.
 */
export function markDeleted(tombstones: Tombstones, ordinal: number, length: number, titleLength = 0): boolean {
  if (isDeleted(tombstones, ordinal)) return false;
  tombstones.bits[ordinal >>> 5] |= 1 << (ordinal & 31);
  tombstones.deletedLength[0] += length;
  tombstones.deletedTitleLength[0] += titleLength;
  Atomics.add(tombstones.count, 0, 1);
  return true;
}
