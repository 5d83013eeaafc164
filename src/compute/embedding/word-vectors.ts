/**
 * The binary form of the word vectors: one buffer, read in place by every thread through typed array views (a
 * SharedArrayBuffer is never copied). Numbers are little-endian, sections start at multiples of 8 bytes.
 *
 *   0  magic, 8 bytes            32  version of the source package, ASCII, zero-padded, 32 bytes
 *   8  u32 format version        64  SHA-256 of all bytes from 96 and, before them, of bytes 0..63
 *  12  u32 dim                   96  mean            f32 × dim
 *  16  u32 count                     whitening       f32 × dim × dim
 *  20  u32 slots                     scales          f32 × count      component = scale × int8
 *                                    slots           u32 × slots      vocabulary, see term-table.ts
 *  24  u32 bytes of vocabulary       offsets         u32 × (count + 1)
 *  28  u32 length of the file        bytes           u8
 *                                    rows            i8 × dim × count
 *
 * The id of a word is its frequency rank, from 0. Int8 with one scale per word loses nothing measurable against f32
 * (docs/embedded-model.md). The checksum is verified by who reads the file, once; opening checks header and bounds only.
 */
import { createHash, type Hash } from 'node:crypto';
import { buildTermTable, slotCount, type TermTable } from '../structures/term-table.ts';
import { whiteningMatrix } from './whitening.ts';
import { sifWeight, WORD_SIF_A, zipfShares } from './zipf-weight.ts';

/** Part of the cache's file name; any change of the layout or of what is computed at compile time raises it. */
export const WORD_VECTORS_FORMAT = 1;
const MAGIC = 'RBWVEC\r\n';
const VERSION_BYTES = 32;
const CHECKSUM_AT = 64;
const CHECKSUM_BYTES = 32;
const HEADER_BYTES = CHECKSUM_AT + CHECKSUM_BYTES;
const MAX_QUANTUM = 127;
/** Words that the covariance is estimated from; the rest is rare, and would take most of the time. */
const COVARIANCE_WORDS = 100_000;

/** What `encodeWordVectors` takes: words by frequency rank and their rows, already quantized by `quantizeRow`. */
export interface WordVectorSource {
  packageVersion: string;
  dim: number;
  words: readonly string[];
  /** words.length × dim. */
  rows: Int8Array;
  /** One per word. */
  scales: Float32Array;
}

/** Views into one buffer; nothing is copied. */
export interface WordVectors {
  packageVersion: string;
  /** From the checksum, never 0: row numbers mean the same words where it is the same. */
  fingerprint: number;
  dim: number;
  count: number;
  vocabulary: TermTable;
  /** The mean vector of running text: every word's vector weighted by its expected share. */
  mean: Float32Array;
  /** dim × dim, symmetric: applied to a weighted sum of (vector − mean). See whitening.ts. */
  whitening: Float32Array;
  scales: Float32Array;
  /** count × dim; int8 in a file, f32 only where quantization itself is measured. */
  rows: Int8Array | Float32Array;
}

/** The buffer is no word vector file of this format, or is damaged. The cache makes it again. */
export class WordVectorsFormatError extends Error {
  readonly code = 'word_vectors_format';
}

/** Write one vector as int8 into `rows` at `at`; returns its scale (0 for a zero vector). */
export function quantizeRow(vector: ArrayLike<number>, dim: number, rows: Int8Array, at: number): number {
  let largest = 0;
  for (let k = 0; k < dim; k++) largest = Math.max(largest, Math.abs(vector[k]));
  if (!Number.isFinite(largest)) throw new WordVectorsFormatError('a component is not a finite number');
  if (largest === 0) return 0;
  for (let k = 0; k < dim; k++) rows[at + k] = Math.round((vector[k] / largest) * MAX_QUANTUM);
  return largest / MAX_QUANTUM;
}

/** The file of `source`. Errors: a word given twice, or sizes that do not fit together, throw. */
export function encodeWordVectors(source: WordVectorSource): Uint8Array<ArrayBuffer> {
  const { dim, words, rows, scales, packageVersion } = source;
  if (rows.length !== words.length * dim || scales.length !== words.length) {
    throw new WordVectorsFormatError(`${words.length} words with ${rows.length} components, ${scales.length} scales`);
  }
  const version = new TextEncoder().encode(packageVersion);
  if (version.length > VERSION_BYTES) throw new WordVectorsFormatError(`version too long: ${packageVersion}`);
  const vocabulary = buildTermTable(words);
  const layout = layoutOf(dim, words.length, vocabulary.slots.length, vocabulary.bytes.length);
  const file = new Uint8Array(layout.end);
  const header = new DataView(file.buffer);
  file.set(new TextEncoder().encode(MAGIC));
  const fields = [WORD_VECTORS_FORMAT, dim, words.length, vocabulary.slots.length, vocabulary.bytes.length, layout.end];
  fields.forEach((value, at) => {
    header.setUint32(8 + 4 * at, value, true);
  });
  file.set(version, 32);
  const views = viewsOf(file.buffer, layout);
  const mean = meanVector(source);
  views.mean.set(mean);
  views.whitening.set(whiteningMatrix(covarianceOf(source, mean), dim));
  views.scales.set(scales);
  views.vocabulary.slots.set(vocabulary.slots);
  views.vocabulary.offsets.set(vocabulary.offsets);
  views.vocabulary.bytes.set(vocabulary.bytes);
  views.rows.set(rows);
  file.set(checksumOf(file), CHECKSUM_AT);
  return file;
}

/**
 * Views of the vectors in `buffer`, without copying.
 * Errors: WordVectorsFormatError when the header is not of this format or the sections do not fill the buffer exactly.
 */
export function openWordVectors(buffer: SharedArrayBuffer | ArrayBuffer): WordVectors {
  if (buffer.byteLength < HEADER_BYTES) throw new WordVectorsFormatError(`only ${buffer.byteLength} bytes`);
  const header = new DataView(buffer);
  const ascii = (at: number, length: number) => String.fromCharCode(...new Uint8Array(buffer, at, length));
  if (ascii(0, MAGIC.length) !== MAGIC) throw new WordVectorsFormatError('not a word vector file');
  const [format, dim, count, slots, bytes, length] = [8, 12, 16, 20, 24, 28].map((at) => header.getUint32(at, true));
  if (format !== WORD_VECTORS_FORMAT) {
    throw new WordVectorsFormatError(`format ${format}, this version reads ${WORD_VECTORS_FORMAT}`);
  }
  const layout = layoutOf(dim, count, slots, bytes);
  if (dim === 0 || slots !== slotCount(count) || layout.end !== length || length !== buffer.byteLength) {
    throw new WordVectorsFormatError(`${buffer.byteLength} bytes for ${count} words of ${dim} dimensions`);
  }
  const views = viewsOf(buffer, layout);
  if (views.vocabulary.offsets[0] !== 0 || views.vocabulary.offsets[count] !== bytes) {
    throw new WordVectorsFormatError('the vocabulary does not fill its section');
  }
  const fingerprint = header.getUint32(CHECKSUM_AT, true) || 1;
  return { packageVersion: ascii(32, VERSION_BYTES).replace(/(?<!\0)\0+$/, ''), fingerprint, dim, count, ...views };
}

/**
 * A running verification for a file read in pieces: feed it every byte in order, then ask. The first piece must hold the
 * whole header.
 */
export function createChecksum(): { update(piece: Uint8Array): void; matches(): boolean } {
  const hash = createHash('sha256');
  let expected: Uint8Array | undefined;
  return {
    update(piece) {
      if (expected === undefined) {
        expected = piece.slice(CHECKSUM_AT, HEADER_BYTES);
        hashPastChecksum(hash, piece);
      } else hash.update(piece);
    },
    matches: () => expected !== undefined && hash.digest().equals(expected),
  };
}

function checksumOf(file: Uint8Array): Uint8Array {
  const hash = createHash('sha256');
  hashPastChecksum(hash, file);
  return hash.digest();
}

function hashPastChecksum(hash: Hash, bytes: Uint8Array): void {
  hash.update(bytes.subarray(0, CHECKSUM_AT)).update(bytes.subarray(HEADER_BYTES));
}

interface Layout {
  dim: number;
  count: number;
  slotsLength: number;
  bytesLength: number;
  whitening: number;
  scales: number;
  slots: number;
  offsets: number;
  bytes: number;
  rows: number;
  end: number;
}

function layoutOf(dim: number, count: number, slotsLength: number, bytesLength: number): Layout {
  const after = (start: number, length: number) => Math.ceil((start + length) / 8) * 8;
  const whitening = after(HEADER_BYTES, dim * 4);
  const scales = after(whitening, dim * dim * 4);
  const slots = after(scales, count * 4);
  const offsets = after(slots, slotsLength * 4);
  const bytes = after(offsets, (count + 1) * 4);
  const rows = after(bytes, bytesLength);
  const end = after(rows, dim * count);
  return { dim, count, slotsLength, bytesLength, whitening, scales, slots, offsets, bytes, rows, end };
}

function viewsOf(buffer: SharedArrayBuffer | ArrayBuffer, layout: Layout) {
  return {
    mean: new Float32Array(buffer, HEADER_BYTES, layout.dim),
    whitening: new Float32Array(buffer, layout.whitening, layout.dim * layout.dim),
    scales: new Float32Array(buffer, layout.scales, layout.count),
    vocabulary: {
      slots: new Uint32Array(buffer, layout.slots, layout.slotsLength),
      offsets: new Uint32Array(buffer, layout.offsets, layout.count + 1),
      bytes: new Uint8Array(buffer, layout.bytes, layout.bytesLength),
    },
    rows: new Int8Array(buffer, layout.rows, layout.dim * layout.count),
  };
}

function meanVector({ dim, words, rows, scales }: WordVectorSource): Float64Array {
  const mean = new Float64Array(dim);
  const shareOf = zipfShares(words.length);
  let total = 0;
  for (let id = 0; id < words.length; id++) {
    const share = shareOf(id);
    total += share;
    for (let k = 0; k < dim; k++) mean[k] += share * scales[id] * rows[id * dim + k];
  }
  return mean.map((sum) => (total === 0 ? 0 : sum / total));
}

/** Covariance of what one word of running text adds to a passage's sum: sifWeight × (vector − mean). */
function covarianceOf({ dim, words, rows, scales }: WordVectorSource, mean: Float64Array): Float64Array {
  const covariance = new Float64Array(dim * dim);
  const centred = new Float64Array(dim);
  const shareOf = zipfShares(words.length);
  const count = Math.min(words.length, COVARIANCE_WORDS);
  for (let id = 0; id < count; id++) {
    const share = shareOf(id);
    const weight = share * sifWeight(share, WORD_SIF_A) ** 2;
    for (let k = 0; k < dim; k++) centred[k] = scales[id] * rows[id * dim + k] - mean[k];
    for (let i = 0; i < dim; i++) {
      const left = weight * centred[i];
      for (let j = i; j < dim; j++) covariance[i * dim + j] += left * centred[j];
    }
  }
  for (let i = 0; i < dim; i++) for (let j = 0; j < i; j++) covariance[i * dim + j] = covariance[j * dim + i];
  return covariance;
}
