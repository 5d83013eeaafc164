/**
 * A segment: the immutable inverted index of up to 65,536 documents in one SharedArrayBuffer, which is also its file.
 * Documents are numbered 0.. in it (ordinals), in ascending order of their labels. Opening makes views and copies nothing.
 *
 *   header        16 × u32   magic, version, counts (HEADER below)
 *   totals        f64        sum of `lengths`
 *   labels        u32 × docs   strictly ascending
 *   lengths       u32 × docs   weighted length, in 1/UNITS
 *   starts        u32 × terms + 1   a term's postings are postings[starts[t] .. starts[t + 1])
 *   peaks         u32 × terms   largest frequency of the list << 16 | shortest length in it, at most 65,535: its bound
 *   postings      u32 × postings   ordinal << 16 | frequency in 1/UNITS; ascending, so a list is sorted by ordinal
 *   termSlots, termOffsets   the term dictionary (term-table.ts)
 *   runStarts     u32 × docs + 1   a document's words are runs[runStarts[d] .. runStarts[d + 1])
 *   termBytes   the dictionary's text
 *   runs   the documents' words in their order, a byte each (compute/text/word-bytes.ts): what phrases are looked for in
 *
 * One word per posting: ordinal and frequency arrive in one load, and lists are sorted and searched as plain numbers.
 * 16 bits of ordinal bound a segment and the cost of a merge. Another version or size is refused; all other bytes are
 * trusted, as files are verified by checksum before they come here.
 */
import { addBit, type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { firstAtLeast } from '../../compute/structures/sorted-search.ts';
import { slotCount, type TermTable } from '../../compute/structures/term-table.ts';
import type { WordList } from './word-list.ts';

export const MAX_SEGMENT_DOCS = 65_536;
const MAGIC = 0x52425347; // 'RBSG'
/** Increase on any change of layout, content or analysis. */
const VERSION = 16;
/** The counts in the header, after magic and version. */
const counted = ['docs', 'terms', 'postings', 'termBytes', 'runBytes'] as const;
type SegmentCounts = Record<(typeof counted)[number], number>;
const HEADER_BYTES = 64;

export interface Segment {
  readonly buffer: SharedArrayBuffer;
  readonly docs: number;
  /** Total in 1/UNITS, including deleted documents. */
  readonly totalLength: number;
  readonly labels: Uint32Array;
  readonly lengths: Uint32Array;
  readonly terms: TermTable;
  readonly starts: Uint32Array;
  readonly peaks: Uint32Array;
  readonly postings: Uint32Array;
  readonly runStarts: Uint32Array;
  /** Adjacent documents of a page follow each other, without the overlap. */
  readonly runs: Uint8Array;
  /** The word list that the searcher uses. */
  readonly list: WordList | null;
}

/** Sizes that are known before the documents are filled in. */
interface SegmentParts {
  docs: number;
  terms: TermTable;
  starts: Uint32Array;
  runBytes: number;
}

/** Not a segment of this version: set it aside and rebuild from the text. */
export class SegmentFormatError extends Error {
  readonly code = 'segment_format';
}

/** A segment with terms. The builder fills the rest, which is zero, and calls `sealSegment`. */
export function allocateSegment({ docs, terms, starts, runBytes }: SegmentParts): Segment {
  if (docs > MAX_SEGMENT_DOCS) throw new RangeError(`a segment holds ${MAX_SEGMENT_DOCS} documents`);
  const counts: SegmentCounts = {
    docs,
    terms: starts.length - 1,
    postings: starts[starts.length - 1],
    termBytes: terms.bytes.length,
    runBytes,
  };
  const buffer = allocateSharedBytes(layout(counts).bytes);
  new Uint32Array(buffer, 0, HEADER_BYTES / 4).set([MAGIC, VERSION, ...counted.map((name) => counts[name])]);
  const segment = viewSegment(buffer, counts);
  segment.terms.slots.set(terms.slots);
  segment.terms.offsets.set(terms.offsets);
  segment.terms.bytes.set(terms.bytes);
  segment.starts.set(starts);
  return segment;
}

/** Compute totals and peaks of a filled segment. */
export function sealSegment(segment: Segment): Segment {
  let totalLength = 0;
  for (let doc = 0; doc < segment.docs; doc++) totalLength += segment.lengths[doc];
  new Float64Array(segment.buffer, HEADER_BYTES, 1)[0] = totalLength;
  for (let term = 0; term < segment.peaks.length; term++) segment.peaks[term] = peakOf(segment, term);
  return { ...segment, totalLength };
}

/** Errors: SegmentFormatError for another format, version or size. */
export function openSegment(buffer: SharedArrayBuffer, list: WordList | null = null): Segment {
  if (buffer.byteLength < HEADER_BYTES) throw new SegmentFormatError('shorter than a header');
  const [magic, version, ...numbers] = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  if (magic !== MAGIC) throw new SegmentFormatError('not a segment');
  if (version !== VERSION) throw new SegmentFormatError(`version ${version}`);
  const counts = Object.fromEntries(counted.map((name, at) => [name, numbers[at]])) as SegmentCounts;
  if (counts.docs > MAX_SEGMENT_DOCS || layout(counts).bytes !== buffer.byteLength) {
    throw new SegmentFormatError(`${buffer.byteLength} bytes do not match the counts`);
  }
  return { ...viewSegment(buffer, counts), list };
}

/** Sets the labels before the first search. Errors: RangeError unless one per document, strictly ascending. */
export function labelSegment(segment: Segment, labels: Uint32Array): void {
  if (labels.length !== segment.docs) throw new RangeError(`${labels.length} labels for ${segment.docs} documents`);
  for (let i = 1; i < labels.length; i++) if (labels[i] <= labels[i - 1]) throw new RangeError('labels do not ascend');
  segment.labels.set(labels);
}

export function ordinalOf({ labels }: Segment, label: number): number {
  const at = firstAtLeast(labels, label);
  return at < labels.length && labels[at] === label ? at : -1;
}

/** The first index in start..end whose posting is of `ordinal` or later. Gallops. */
export function seekPosting(postings: Uint32Array, start: number, end: number, ordinal: number): number {
  const target = (ordinal << 16) >>> 0;
  let low = start;
  let high = start;
  for (let step = 1; high < end && postings[high] < target; step *= 2) {
    low = high + 1;
    high += step;
  }
  if (high > end) high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (postings[middle] < target) low = middle + 1;
    else high = middle;
  }
  return low;
}

function peakOf({ starts, postings, lengths }: Segment, term: number): number {
  let frequency = 0;
  let length = 0xffff;
  for (let i = starts[term]; i < starts[term + 1]; i++) {
    frequency = Math.max(frequency, postings[i] & 0xffff);
    length = Math.min(length, lengths[postings[i] >>> 16]);
  }
  return ((frequency << 16) | length) >>> 0;
}

/** Offsets of the parts, in file order. */
function layout(counts: SegmentCounts) {
  const { docs, terms, postings, termBytes, runBytes } = counts;
  let end = HEADER_BYTES;
  const take = (bytes: number): number => {
    end += bytes;
    return end - bytes;
  };
  const parts = {
    totals: take(8),
    labels: take(4 * docs),
    lengths: take(4 * docs),
    starts: take(4 * (terms + 1)),
    peaks: take(4 * terms),
    postings: take(4 * postings),
    termSlots: take(4 * slotCount(terms)),
    termOffsets: take(4 * (terms + 1)),
    runStarts: take(4 * (docs + 1)),
    text: take(termBytes),
    runs: take(runBytes),
  };
  return { ...parts, bytes: end };
}

function viewSegment(buffer: SharedArrayBuffer, counts: SegmentCounts): Segment {
  const { docs, terms, postings, termBytes, runBytes } = counts;
  const at = layout(counts);
  const [totalLength] = new Float64Array(buffer, at.totals, 1);
  return {
    buffer,
    docs,
    totalLength,
    labels: new Uint32Array(buffer, at.labels, docs),
    lengths: new Uint32Array(buffer, at.lengths, docs),
    terms: {
      slots: new Uint32Array(buffer, at.termSlots, slotCount(terms)),
      offsets: new Uint32Array(buffer, at.termOffsets, terms + 1),
      bytes: new Uint8Array(buffer, at.text, termBytes),
    },
    starts: new Uint32Array(buffer, at.starts, terms + 1),
    peaks: new Uint32Array(buffer, at.peaks, terms),
    postings: new Uint32Array(buffer, at.postings, postings),
    runStarts: new Uint32Array(buffer, at.runStarts, docs + 1),
    runs: new Uint8Array(buffer, at.runs, runBytes),
    list: null,
  };
}

/**
 * Shared memory that the system gets back: V8 unmaps growable memory, even if it never grows. Plain memory comes from
 * malloc, which keeps freed blocks up to 32 MB per thread: a sixth of the memory after 30,000 chunks.
 */
export function allocateSharedBytes(length: number): SharedArrayBuffer {
  return new SharedArrayBuffer(length, { maxByteLength: length });
}

/**
 * The deleted documents of one segment in shared memory: the index sets bits, all searchers see them at once. Bits are never cleared; a
 * merge makes a new segment. A search during `markDeleted` may or may not see the bit; one started after it returned does.
 */
export interface Deletions {
  readonly buffer: SharedArrayBuffer;
  /** The number of bits set. It changes last, so values computed at another count are stale. */
  readonly count: Int32Array;
  /** The sum of the documents' weighted lengths, in 1/UNITS. */
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

/** A segment as the main thread sees it. Documents are deleted by label, also during a merge. */
export interface SegmentMember {
  readonly id: number;
  readonly segment: Segment;
  readonly deletions: Deletions;
}

export function createMember(id: number, segment: Segment): SegmentMember {
  return { id, segment, deletions: createDeletions(segment.docs) };
}

export function holdsLabel({ segment, deletions }: SegmentMember, label: number): boolean {
  const ordinal = ordinalOf(segment, label);
  return ordinal >= 0 && !isDeleted(deletions, ordinal);
}

/** False if the segment has no such live label. */
export function deleteLabel({ segment, deletions }: SegmentMember, label: number): boolean {
  const ordinal = ordinalOf(segment, label);
  if (ordinal < 0) return false;
  return markDeleted(deletions, ordinal, segment.lengths[ordinal]);
}

export function deletedLabels({ segment, deletions }: SegmentMember): Uint32Array {
  return segment.labels.filter((_, ordinal) => isDeleted(deletions, ordinal));
}

/** A copy of the current deletions, for a merge. */
export function freezeDeletions({ buffer }: Deletions): Deletions {
  const copy = new SharedArrayBuffer(buffer.byteLength);
  new Uint8Array(copy).set(new Uint8Array(buffer));
  return openDeletions(copy);
}

/** Repeats in `merged` the deletions of `input` after `frozen`. */
export function carryDeletions(input: SegmentMember, frozen: Deletions, merged: SegmentMember): void {
  if (deletedCount(input.deletions) === deletedCount(frozen)) return;
  for (let ordinal = 0; ordinal < input.segment.docs; ordinal++) {
    if (isDeleted(input.deletions, ordinal) && !isDeleted(frozen, ordinal)) {
      deleteLabel(merged, input.segment.labels[ordinal]);
    }
  }
}
