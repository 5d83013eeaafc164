/**
 * The vectors of one shard: int8 rows in a WebAssembly memory, with their labels. Rows are only appended; an erased row is
 * zeroed at once and keeps its place until the shard is compacted, so a row number means the same vector as long as the store is.
 * A row is its vector scaled so that its largest component is 127; its length is kept beside it, so a score is the cosine of
 * the rounded row with the query rounded to 12 bits: off by about 0.001 (docs/vector-spaces.md).
 *
 * Vectors of CODED_DIM dimensions and more are rotated first (no angle changes) and have codes for a first look: to score
 * a row of 1,024 bytes that is in no cache costs 104 ns, of 100 bytes some 20; to look at its code 6 or 1.
 *
 *   scratch, 64 KiB   the query as i16, a block of addresses, a block of sums
 *   rows              stride bytes each, one after the other
 */
import { openRotation, type Rotation } from '../../compute/embedding/vector-rotation.ts';
import { longer } from '../../compute/structures/longer.ts';
import { BinaryCodes } from './binary-codes.ts';
import { LANES, openDots, QUERY_PEAK } from './dot-kernel.ts';

/** Rows that one call of the kernel takes. */
export const CALL_ROWS = 4096;
/** Dimensions of the longest vector: what a model may have by contract. */
export const MAX_DIM = 8192;
/** Labels are below this: the largest uint32 marks a deleted row. */
export const NO_LABEL = 0xffff_ffff;

/** Shorter vectors are as quickly scored as encoded, and signs of few dimensions say little. */
const CODED_DIM = 64;
const WASM_PAGE_BYTES = 65_536;
const QUERY_AT = 0;
const ADDRESSES_AT = QUERY_AT + 2 * MAX_DIM;
const SUMS_AT = ADDRESSES_AT + 4 * CALL_ROWS;
const ROWS_AT = WASM_PAGE_BYTES;
const ROW_PEAK = 127;
/** Rows of a new store before its lists grow. */
const FIRST_CAPACITY = 1024;
/** The memory grows by whole MiB. */
const GROWTH_PAGES = 16;

export interface RowParts {
  labels: Uint32Array;
  /** 1 / length of the row; 0 marks a deleted row. */
  inverse: Float32Array;
  bytes: Int8Array;
}

export class VectorRows {
  readonly dim: number;
  /** Bytes of a row: `dim`, filled up with zeros to whole lanes. */
  readonly stride: number;
  /** Rows, deleted ones included. */
  count = 0;
  /** Rows that are not deleted. */
  live = 0;
  #labels = new Uint32Array(FIRST_CAPACITY);
  /** 1 / length of the row; 0 marks a deleted row. */
  #inverse = new Float32Array(FIRST_CAPACITY);
  #rowOf = new Map<number, number>();
  #memory = new WebAssembly.Memory({ initial: 1 });
  #bytes = new Int8Array(this.#memory.buffer);
  #dots = openDots(this.#memory);
  #queryInverse = 0;
  readonly #rotation: Rotation | undefined;
  readonly #rotated: Float32Array;
  readonly #codes: BinaryCodes | undefined;

  constructor(dim: number) {
    const coded = dim >= CODED_DIM;
    this.#rotation = coded ? openRotation(dim) : undefined;
    this.#codes = coded ? new BinaryCodes(dim) : undefined;
    this.#rotated = new Float32Array(coded ? dim : 0);
    this.dim = dim;
    this.stride = Math.ceil(dim / LANES) * LANES;
  }

  /** Bytes that the rows take in memory. */
  get bytes(): number {
    const codes = this.#codes?.memoryBytes ?? 0;
    return this.#memory.buffer.byteLength + this.#labels.byteLength + this.#inverse.byteLength + codes;
  }

  has(label: number): boolean {
    return this.#rowOf.has(label);
  }

  rowOf(label: number): number | undefined {
    return this.#rowOf.get(label);
  }

  isLive(row: number): boolean {
    return this.#inverse[row] > 0;
  }

  labelOf(row: number): number {
    return this.#labels[row];
  }

  /** Labels of all live rows, in the order of the rows. */
  liveLabels(): Uint32Array {
    const labels = new Uint32Array(this.live);
    let at = 0;
    for (let row = 0; row < this.count; row++) if (this.isLive(row)) labels[at++] = this.#labels[row];
    return labels;
  }

  /** Append vectors[offset .. offset + dim), finite and not all zero, under a label that is not present. Gives its row. */
  append(label: number, vectors: Float32Array, offset: number): number {
    const row = this.#reserve();
    const vector = this.#rotate(vectors, offset);
    const squares = roundInto(this.#bytes, this.#at(row), vector, ROW_PEAK / peakOf(vector));
    this.#enter(row, label, 1 / Math.sqrt(squares));
    return row;
  }

  /** Append a live row of another store of the same dimension as it is. */
  appendRow(from: VectorRows, source: number): void {
    const row = this.#reserve();
    const at = from.#at(source);
    this.#bytes.set(from.#bytes.subarray(at, at + this.stride), this.#at(row));
    this.#enter(row, from.#labels[source], from.#inverse[source]);
  }

  /** Zero the row of a label; gives the row, or undefined if the label is not present. */
  erase(label: number): number | undefined {
    const row = this.#rowOf.get(label);
    if (row === undefined) return undefined;
    this.#rowOf.delete(label);
    this.#labels[row] = NO_LABEL;
    this.#inverse[row] = 0;
    this.#bytes.fill(0, this.#at(row), this.#at(row) + this.stride);
    this.#encode(row);
    this.live--;
    return row;
  }

  /** Take the vector that scores are asked for: `dim` finite numbers, not all zero. */
  setQuery(vector: Float32Array): void {
    const rotated = this.#rotate(vector, 0);
    const scale = QUERY_PEAK / peakOf(rotated);
    const query = new Int16Array(this.#memory.buffer, QUERY_AT, this.stride).fill(0);
    let squares = 0;
    for (let i = 0; i < this.dim; i++) {
      query[i] = Math.round(rotated[i] * scale);
      squares += query[i] * query[i];
    }
    this.#queryInverse = 1 / Math.sqrt(squares);
    this.#codes?.setQuery(rotated);
  }

  /**
   * About `wanted` of the candidates, those that a first look takes for the nearest, nearest first; undefined where there is no first
   * look, or nothing to choose.
   */
  shortlist(candidates: Uint32Array, wanted: number): Uint32Array | undefined {
    if (candidates.length <= wanted) return undefined;
    return this.#codes?.shortlist(candidates, this.count, wanted);
  }

  /** The same of all rows from `from` on; deleted ones may be among them. */
  shortlistFrom(from: number, wanted: number): Uint32Array | undefined {
    if (this.count - from <= wanted) return undefined;
    return this.#codes?.shortlistRange(from, this.count, wanted);
  }

  /** Cosines of the query with at most CALL_ROWS rows, into scores[0 .. rows.length); a deleted one scores 0. */
  score(rows: Uint32Array, scores: Float32Array): void {
    const addresses = new Uint32Array(this.#memory.buffer, ADDRESSES_AT, rows.length);
    for (let i = 0; i < rows.length; i++) addresses[i] = this.#at(rows[i]);
    this.#dots(ADDRESSES_AT, rows.length, this.stride, QUERY_AT, SUMS_AT);
    const sums = new Int32Array(this.#memory.buffer, SUMS_AT, rows.length);
    for (let i = 0; i < rows.length; i++) {
      scores[i] = Math.max(-1, Math.min(1, sums[i] * this.#queryInverse * this.#inverse[rows[i]]));
    }
  }

  /** The rows as they are kept. Views, valid until the next append. */
  parts(): RowParts {
    return {
      labels: this.#labels.subarray(0, this.count),
      inverse: this.#inverse.subarray(0, this.count),
      bytes: this.#bytes.subarray(ROWS_AT, this.#at(this.count)),
    };
  }

  /** Make room for `count` rows in an empty store and hand out their parts to be filled; `filled` then takes them over. */
  allocate(count: number): RowParts {
    this.#labels = new Uint32Array(Math.max(count, FIRST_CAPACITY));
    this.#inverse = new Float32Array(Math.max(count, FIRST_CAPACITY));
    this.#growMemory(count);
    this.count = count;
    return this.parts();
  }

  /** After `allocate` and filling: build what is derived from the parts. */
  filled(): void {
    for (let row = 0; row < this.count; row++) {
      if (this.isLive(row)) this.#rowOf.set(this.#labels[row], row);
      this.#encode(row);
    }
    this.live = this.#rowOf.size;
  }

  #at(row: number): number {
    return ROWS_AT + row * this.stride;
  }

  /** The number of the next row, with room for it. Nothing has changed for the caller if memory runs out (RangeError). */
  #reserve(): number {
    this.#growMemory(this.count + 1);
    if (this.count === this.#labels.length) {
      const capacity = Math.ceil(this.count * 1.5);
      const labels = longer(this.#labels, capacity);
      const inverse = longer(this.#inverse, capacity);
      this.#labels = labels;
      this.#inverse = inverse;
    }
    return this.count;
  }

  #growMemory(rows: number): void {
    const missing = this.#at(rows) - this.#memory.buffer.byteLength;
    if (missing <= 0) return;
    this.#memory.grow(Math.ceil(missing / WASM_PAGE_BYTES / GROWTH_PAGES) * GROWTH_PAGES);
    this.#bytes = new Int8Array(this.#memory.buffer);
  }

  #enter(row: number, label: number, inverse: number): void {
    this.#labels[row] = label;
    this.#inverse[row] = inverse;
    this.#rowOf.set(label, row);
    this.#encode(row);
    this.count++;
    this.live++;
  }

  #encode(row: number): void {
    this.#codes?.set(row, this.#bytes.subarray(this.#at(row), this.#at(row) + this.dim));
  }

  #rotate(vectors: Float32Array, offset: number): Float32Array {
    if (this.#rotation === undefined) return vectors.subarray(offset, offset + this.dim);
    this.#rotation.rotate(vectors, offset, this.#rotated);
    return this.#rotated;
  }
}

/** Write the scaled and rounded vector; gives the square of its length. Apart from the class, whose fields would be read again for each number. */
function roundInto(bytes: Int8Array, at: number, vector: Float32Array, scale: number): number {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = Math.round(vector[i] * scale);
    bytes[at + i] = value;
    squares += value * value;
  }
  return squares;
}

function peakOf(values: Float32Array): number {
  let peak = 0;
  for (let i = 0; i < values.length; i++) peak = Math.max(peak, Math.abs(values[i]));
  return peak;
}
