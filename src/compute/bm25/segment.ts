/**
 * A segment: the immutable inverted index of up to 65,536 documents in one SharedArrayBuffer, which is also its file.
 * Documents are numbered 0.. in it (ordinals), in ascending order of their labels. Opening makes views and copies nothing.
 *
 *   header        16 × u32   magic, version, counts (HEADER below)
 *   totalLength   f64        sum of `lengths`
 *   labels        u32 × docs   strictly ascending
 *   lengths       u32 × docs   weighted length, in 1/UNITS
 *   starts        u32 × terms + 1   a term's postings are postings[starts[t] .. starts[t + 1])
 *   peaks         u32 × terms   largest frequency of the list << 16 | shortest length in it, at most 65,535: its bound
 *   postings      u32 × postings   ordinal << 16 | frequency in 1/UNITS; ascending, so a list is sorted by ordinal
 *   termSlots, termOffsets, termBytes   the term dictionary (term-table.ts)
 *
 * Why one word per posting: ordinal and frequency arrive in one load, half the memory of two arrays, and a sort or a
 * binary search over lists is one over plain numbers. 16 bits of ordinal bound a segment, and with it the cost of a merge.
 * Positions of words are not stored; a version that adds them appends sections and raises VERSION. Another version or a
 * wrong size is refused, whatever else is in the bytes is trusted: files are verified by checksum before they come here.
 */
import { slotCount, type TermTable } from '../term-table.ts';

export const MAX_SEGMENT_DOCS = 65_536;
const MAGIC = 0x52425347; // 'RBSG'
const VERSION = 1;
const HEADER = { magic: 0, version: 1, docs: 2, terms: 3, postings: 4, termBytes: 5 } as const;
const HEADER_BYTES = 64;

export interface Segment {
  readonly buffer: SharedArrayBuffer;
  readonly docs: number;
  /** In 1/UNITS, deleted documents included. */
  readonly totalLength: number;
  readonly labels: Uint32Array;
  readonly lengths: Uint32Array;
  readonly terms: TermTable;
  readonly starts: Uint32Array;
  readonly peaks: Uint32Array;
  readonly postings: Uint32Array;
}

export interface SegmentCounts {
  docs: number;
  terms: number;
  postings: number;
  termBytes: number;
}

/** The bytes are no segment of this version; they are to be set aside and made again from the text. */
export class SegmentFormatError extends Error {
  readonly code = 'segment_format';
  readonly retryable = false;
}

/** A segment of these counts, all zeros, for its builder to fill; `sealSegment` ends the filling. */
export function allocateSegment(counts: SegmentCounts): Segment {
  if (counts.docs > MAX_SEGMENT_DOCS) throw new RangeError(`a segment holds ${MAX_SEGMENT_DOCS} documents`);
  const buffer = new SharedArrayBuffer(layout(counts).bytes);
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  header[HEADER.magic] = MAGIC;
  header[HEADER.version] = VERSION;
  header[HEADER.docs] = counts.docs;
  header[HEADER.terms] = counts.terms;
  header[HEADER.postings] = counts.postings;
  header[HEADER.termBytes] = counts.termBytes;
  return viewSegment(buffer, counts);
}

/** Derive what follows from the filled arrays (total length, the lists' peaks) and give the finished segment. */
export function sealSegment(segment: Segment): Segment {
  let totalLength = 0;
  for (let doc = 0; doc < segment.docs; doc++) totalLength += segment.lengths[doc];
  new Float64Array(segment.buffer, HEADER_BYTES, 1)[0] = totalLength;
  for (let term = 0; term < segment.peaks.length; term++) segment.peaks[term] = peakOf(segment, term);
  return { ...segment, totalLength };
}

/**
 * Open the bytes of a segment.
 * Errors: SegmentFormatError if they are of another format or version, or not of the size that their counts ask for.
 */
export function openSegment(buffer: SharedArrayBuffer): Segment {
  if (buffer.byteLength < HEADER_BYTES) throw new SegmentFormatError('shorter than a header');
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  if (header[HEADER.magic] !== MAGIC) throw new SegmentFormatError('not a segment');
  if (header[HEADER.version] !== VERSION) throw new SegmentFormatError(`version ${header[HEADER.version]}`);
  const counts = {
    docs: header[HEADER.docs],
    terms: header[HEADER.terms],
    postings: header[HEADER.postings],
    termBytes: header[HEADER.termBytes],
  };
  if (counts.docs > MAX_SEGMENT_DOCS || layout(counts).bytes !== buffer.byteLength) {
    throw new SegmentFormatError(`${buffer.byteLength} bytes are not what the counts ask for`);
  }
  return viewSegment(buffer, counts);
}

/**
 * Give the documents their labels, in ordinal order; only before the segment is searched.
 * Errors: RangeError unless there is one label per document and they ascend strictly.
 */
export function labelSegment(segment: Segment, labels: Uint32Array): void {
  if (labels.length !== segment.docs) throw new RangeError(`${labels.length} labels for ${segment.docs} documents`);
  for (let i = 1; i < labels.length; i++) if (labels[i] <= labels[i - 1]) throw new RangeError('labels do not ascend');
  segment.labels.set(labels);
}

/** The ordinal of a label, or -1. */
export function ordinalOf(segment: Segment, label: number): number {
  const { labels } = segment;
  let low = 0;
  let high = labels.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (labels[middle] < label) low = middle + 1;
    else high = middle;
  }
  return low < labels.length && labels[low] === label ? low : -1;
}

/** The first index in start..end whose posting is of `ordinal` or later; gallops, so near targets are found at once. */
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

function layout({ docs, terms, postings, termBytes }: SegmentCounts) {
  const totalLength = HEADER_BYTES;
  const labels = totalLength + 8;
  const lengths = labels + docs * 4;
  const starts = lengths + docs * 4;
  const peaks = starts + (terms + 1) * 4;
  const postingWords = peaks + terms * 4;
  const termSlots = postingWords + postings * 4;
  const termOffsets = termSlots + slotCount(terms) * 4;
  const bytes = termOffsets + (terms + 1) * 4;
  return {
    totalLength,
    labels,
    lengths,
    starts,
    peaks,
    postingWords,
    termSlots,
    termOffsets,
    termBytes: bytes,
    bytes: bytes + termBytes,
  };
}

function viewSegment(buffer: SharedArrayBuffer, counts: SegmentCounts): Segment {
  const { docs, terms, postings, termBytes } = counts;
  const at = layout(counts);
  return {
    buffer,
    docs,
    totalLength: new Float64Array(buffer, at.totalLength, 1)[0],
    labels: new Uint32Array(buffer, at.labels, docs),
    lengths: new Uint32Array(buffer, at.lengths, docs),
    terms: {
      slots: new Uint32Array(buffer, at.termSlots, slotCount(terms)),
      offsets: new Uint32Array(buffer, at.termOffsets, terms + 1),
      bytes: new Uint8Array(buffer, at.termBytes, termBytes),
    },
    starts: new Uint32Array(buffer, at.starts, terms + 1),
    peaks: new Uint32Array(buffer, at.peaks, terms),
    postings: new Uint32Array(buffer, at.postingWords, postings),
  };
}
