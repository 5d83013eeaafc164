/**
 * The word vectors: the file of them that comes with the program, and the same bytes in memory, which every thread reads in place
 * through typed array views. Numbers are little-endian, sections start at multiples of 8 bytes.
 *
 *   0  magic, 8 bytes                     64  mean        f32 × dim
 *   8  u32 format version                     whitening   f32 × dim × dim
 *  12  u32 dim, even                          scales      f32 × count                  component = scale × level
 *  16  u32 count                              fine rows   i8 × dim × fine              levels of the commonest words
 *  20  u32 fine                               coarse rows u8 × dim / 2 × (count − fine) two components a byte, the first below:
 *  24  u32 bytes of all words                                                          each the place of its level in COARSE_LEVELS
 *  28  u32 length of the file                 lengths     u8 × count                   bytes of each word
 *  32  SHA-256 of bytes 0..31 and 64..end     words       u8                           UTF-8, one after the other
 *
 * In memory the word table follows (offsets u32 × (count + 1), slots: term-table.ts), made from the words when the file is read.
 * The id of a word is its frequency rank, from 0. scripts/build-word-vectors.ts makes the file; why so many bits: docs/embedded-model.md.
 */
import { createHash } from 'node:crypto';
import { fillSlots, slotCount, type TermTable } from '../structures/term-table.ts';

const FORMAT = 2;
const MAGIC = new TextEncoder().encode('RBWVEC\r\n');
const CHECKSUM_AT = 32;
const HEADER_BYTES = 64;

/** The 16 levels that lose least of a normal distribution, 46.48 to its deviation. Source: Max 1960, table I. */
export const COARSE_LEVELS = Int8Array.of(-127, -96, -75, -58, -44, -31, -18, -6, 6, 18, 31, 44, 58, 75, 96, 127);

/** What a file begins with. */
export interface WordVectorSizes {
  /** Components of a vector. */
  dim: number;
  /** Words. */
  count: number;
  /** Words whose components have 8 bits; all others have 4. */
  fine: number;
  /** Of all words together. */
  wordBytes: number;
}

/** Views into one buffer; nothing is copied. */
export interface WordVectors {
  /** From the checksum, never 0: ids mean the same words where it is the same. */
  fingerprint: number;
  dim: number;
  count: number;
  vocabulary: TermTable;
  /** The mean vector of running text: every word's vector weighted by its expected share. */
  mean: Float32Array;
  /** dim × dim, symmetric: applied to a weighted sum of (vector − mean), it makes components uncorrelated in running text. */
  whitening: Float32Array;
  /** One per word; 0 for a vector of zeros. */
  scales: Float32Array;
  /** For `readLevels`. */
  fineRows: Int8Array;
  coarseRows: Uint8Array;
}

/** The file is no word vector file of this format, or is damaged. */
export class WordVectorsFormatError extends Error {
  readonly code = 'word_vectors_format';
}

/** Write the levels of a word's vector, each −127 .. 127, to out[0 .. dim). A component is its level times the word's scale. */
export function readLevels(vectors: WordVectors, id: number, out: Int8Array): void {
  const { dim, fineRows, coarseRows } = vectors;
  const at = id * dim;
  if (at < fineRows.length) {
    for (let k = 0; k < dim; k++) out[k] = fineRows[at + k];
    return;
  }
  let pairAt = (at - fineRows.length) / 2;
  for (let k = 0; k < dim; k += 2) {
    const pair = coarseRows[pairAt++];
    out[k] = COARSE_LEVELS[pair & 15];
    out[k + 1] = COARSE_LEVELS[pair >> 4];
  }
}

/** Add `times` a word's vector to sum[0 .. dim). */
export function addVector(vectors: WordVectors, id: number, times: number, sum: Float64Array): void {
  const { dim, fineRows, coarseRows } = vectors;
  const factor = times * vectors.scales[id];
  const at = id * dim;
  if (at < fineRows.length) {
    for (let k = 0; k < dim; k++) sum[k] += factor * fineRows[at + k];
    return;
  }
  let pairAt = (at - fineRows.length) / 2;
  for (let k = 0; k < dim; k += 2) {
    const pair = coarseRows[pairAt++];
    sum[k] += factor * COARSE_LEVELS[pair & 15];
    sum[k + 1] += factor * COARSE_LEVELS[pair >> 4];
  }
}

/**
 * The vectors of a file in memory that threads can share: pass it to them and open it there. `read` fills `target` from the
 * beginning of the file, of `fileBytes`; it is read straight into that memory.
 * Errors: WordVectorsFormatError unless the file is of this format, whole and undamaged; those of `read`.
 */
export function shareWordVectors(fileBytes: number, read: (target: Uint8Array) => void): SharedArrayBuffer {
  const header = new Uint8Array(HEADER_BYTES);
  read(header);
  const sizes = readHeader(header);
  const layout = layoutOf(sizes);
  if (fileBytes !== layout.fileEnd) {
    throw new WordVectorsFormatError(`${fileBytes} bytes where ${layout.fileEnd} were expected`);
  }
  const buffer = new SharedArrayBuffer(layout.memoryEnd);
  const file = new Uint8Array(buffer, 0, fileBytes);
  read(file);
  const checksum = file.subarray(CHECKSUM_AT, HEADER_BYTES);
  if (!checksumOf(file).every((byte, at) => byte === checksum[at])) throw new WordVectorsFormatError('wrong checksum');
  const { lengths, vocabulary } = sectionsOf(buffer, sizes);
  for (let id = 0; id < sizes.count; id++) vocabulary.offsets[id + 1] = vocabulary.offsets[id] + lengths[id];
  if (vocabulary.offsets[sizes.count] !== sizes.wordBytes) {
    throw new WordVectorsFormatError('the words do not fill their section');
  }
  fillSlots(vocabulary);
  return buffer;
}

/** Views of what `shareWordVectors` made. */
export function openWordVectors(buffer: SharedArrayBuffer): WordVectors {
  const sizes = readHeader(new Uint8Array(buffer));
  const { mean, whitening, scales, fineRows, coarseRows, vocabulary } = sectionsOf(buffer, sizes);
  const fingerprint = new DataView(buffer).getUint32(CHECKSUM_AT, true) || 1;
  const { dim, count } = sizes;
  return { fingerprint, dim, count, vocabulary, mean, whitening, scales, fineRows, coarseRows };
}

/** An empty file of these sizes, with views of its sections; `seal` it when they are filled. */
export function createWordVectorFile(sizes: WordVectorSizes) {
  const file = new Uint8Array(layoutOf(sizes).fileEnd);
  const header = new DataView(file.buffer);
  file.set(MAGIC);
  const { dim, count, fine, wordBytes } = sizes;
  [FORMAT, dim, count, fine, wordBytes, file.length].forEach((value, at) => {
    header.setUint32(MAGIC.length + 4 * at, value, true);
  });
  return {
    ...fileSectionsOf(file.buffer, sizes),
    /** Write the checksum; gives the file. */
    seal: () => {
      file.set(checksumOf(file), CHECKSUM_AT);
      return file;
    },
  };
}

function readHeader(bytes: Uint8Array): WordVectorSizes {
  if (!MAGIC.every((byte, at) => bytes[at] === byte)) throw new WordVectorsFormatError('not a word vector file');
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const [format, dim, count, fine, wordBytes] = [8, 12, 16, 20, 24].map((at) => header.getUint32(at, true));
  if (format !== FORMAT) throw new WordVectorsFormatError(`format ${format}, this version reads ${FORMAT}`);
  if (dim === 0 || dim % 2 === 1 || fine > count) {
    throw new WordVectorsFormatError(`${count} words, ${fine} of them fine, of ${dim} dimensions`);
  }
  return { dim, count, fine, wordBytes };
}

function checksumOf(file: Uint8Array): Uint8Array {
  return createHash('sha256').update(file.subarray(0, CHECKSUM_AT)).update(file.subarray(HEADER_BYTES)).digest();
}

function layoutOf({ dim, count, fine, wordBytes }: WordVectorSizes) {
  const after = (start: number, length: number) => Math.ceil((start + length) / 8) * 8;
  const whitening = after(HEADER_BYTES, 4 * dim);
  const scales = after(whitening, 4 * dim * dim);
  const fineRows = after(scales, 4 * count);
  const coarseRows = after(fineRows, dim * fine);
  const lengths = after(coarseRows, (dim / 2) * (count - fine));
  const words = after(lengths, count);
  const fileEnd = after(words, wordBytes);
  const slots = after(fileEnd, 4 * (count + 1));
  const memoryEnd = slots + 4 * slotCount(count);
  return { whitening, scales, fineRows, coarseRows, lengths, words, fileEnd, slots, memoryEnd };
}

function fileSectionsOf(buffer: SharedArrayBuffer | ArrayBuffer, sizes: WordVectorSizes) {
  const { dim, count, fine, wordBytes } = sizes;
  const layout = layoutOf(sizes);
  return {
    mean: new Float32Array(buffer, HEADER_BYTES, dim),
    whitening: new Float32Array(buffer, layout.whitening, dim * dim),
    scales: new Float32Array(buffer, layout.scales, count),
    fineRows: new Int8Array(buffer, layout.fineRows, dim * fine),
    coarseRows: new Uint8Array(buffer, layout.coarseRows, (dim / 2) * (count - fine)),
    lengths: new Uint8Array(buffer, layout.lengths, count),
    words: new Uint8Array(buffer, layout.words, wordBytes),
  };
}

function sectionsOf(buffer: SharedArrayBuffer, sizes: WordVectorSizes) {
  const { words, ...sections } = fileSectionsOf(buffer, sizes);
  const { fileEnd, slots } = layoutOf(sizes);
  const vocabulary: TermTable = {
    slots: new Uint32Array(buffer, slots, slotCount(sizes.count)),
    offsets: new Uint32Array(buffer, fileEnd, sizes.count + 1),
    bytes: words,
  };
  return { ...sections, vocabulary };
}
