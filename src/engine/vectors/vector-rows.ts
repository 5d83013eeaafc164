/**
 * One shard's vectors: int8 rows in a WebAssembly memory, with labels. Rows are only appended; an erased row is zeroed and keeps its
 * place until compaction, so row numbers are stable. A row is its vector scaled to a peak of 127, with 1 / length of the rounded row. A
 * score is the cosine of the rounded row with the query rounded to 12 bits; error: docs/storage.md.
 *
 *   scratch, 64 KiB   the query as i16, a block of addresses, a block of sums
 *   rows              stride bytes each, one after the other
 */
import { longer } from '../../compute/structures/longer.ts';
import { LANES, openDots, QUERY_PEAK } from './dot-kernel.ts';

/** Rows per kernel call. */
export const CALL_ROWS = 4096;
/** Maximum by contract. */
export const MAX_DIM = 8192;
/** Labels are smaller: the largest uint32 marks a deleted row. */
export const NO_LABEL = 0xffff_ffff;

const WASM_PAGE_BYTES = 65_536;
const QUERY_AT = 0;
const ADDRESSES_AT = QUERY_AT + 2 * MAX_DIM;
const SUMS_AT = ADDRESSES_AT + 4 * CALL_ROWS;
const ROWS_AT = WASM_PAGE_BYTES;
const ROW_PEAK = 127;
const FIRST_CAPACITY = 1024;
const GROWTH_PAGES = 16;

export interface RowParts {
  labels: Uint32Array;
  /** 1 / length of the row; 0 marks a deleted row. */
  inverse: Float32Array;
  bytes: Int8Array;
}

export class VectorRows {
  readonly dim: number;
  /** Bytes of a row: `dim`, zero-padded to whole lanes. */
  readonly stride: number;
  /** Including deleted rows. */
  count = 0;
  live = 0;
  #labels = new Uint32Array(FIRST_CAPACITY);
  #inverse = new Float32Array(FIRST_CAPACITY);
  #rowOf = new Map<number, number>();
  #memory = new WebAssembly.Memory({ initial: 1 });
  #bytes = new Int8Array(this.#memory.buffer);
  #dots = openDots(this.#memory);
  #queryInverse = 0;

  constructor(dim: number) {
    this.dim = dim;
    this.stride = Math.ceil(dim / LANES) * LANES;
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength + this.#labels.byteLength + this.#inverse.byteLength;
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

  /** Of all live rows, in row order. */
  liveLabels(): Uint32Array {
    const labels = new Uint32Array(this.live);
    let at = 0;
    for (let row = 0; row < this.count; row++) if (this.isLive(row)) labels[at++] = this.#labels[row];
    return labels;
  }

  /** Append vectors[offset .. offset + dim), finite and nonzero, under a new label. */
  append(label: number, vectors: Float32Array, offset: number): void {
    const row = this.#reserve();
    const vector = vectors.subarray(offset, offset + this.dim);
    const squares = roundInto(this.#bytes, this.#at(row), vector, ROW_PEAK / peakOf(vector));
    this.#enter(row, label, 1 / Math.sqrt(squares));
  }

  /** Copy a live row from a store of the same dimension. */
  appendRow(from: VectorRows, source: number): void {
    const row = this.#reserve();
    const at = from.#at(source);
    this.#bytes.set(from.#bytes.subarray(at, at + this.stride), this.#at(row));
    this.#enter(row, from.#labels[source], from.#inverse[source]);
  }

  erase(label: number): void {
    const row = this.#rowOf.get(label);
    if (row === undefined) return;
    this.#rowOf.delete(label);
    this.#labels[row] = NO_LABEL;
    this.#inverse[row] = 0;
    this.#bytes.fill(0, this.#at(row), this.#at(row) + this.stride);
    this.live--;
  }

  /** Set the query: `dim` finite numbers, not all zero. */
  setQuery(vector: Float32Array): void {
    const scale = QUERY_PEAK / peakOf(vector);
    const query = new Int16Array(this.#memory.buffer, QUERY_AT, this.stride).fill(0);
    let squares = 0;
    for (let i = 0; i < this.dim; i++) {
      query[i] = Math.round(vector[i] * scale);
      squares += query[i] * query[i];
    }
    this.#queryInverse = 1 / Math.sqrt(squares);
  }

  /** Cosines of the query with at most CALL_ROWS rows; 0 for deleted ones. */
  score(rows: Uint32Array, scores: Float32Array): void {
    const addresses = new Uint32Array(this.#memory.buffer, ADDRESSES_AT, rows.length);
    for (let i = 0; i < rows.length; i++) addresses[i] = this.#at(rows[i]);
    this.#dots(ADDRESSES_AT, rows.length, this.stride, QUERY_AT, SUMS_AT);
    const sums = new Int32Array(this.#memory.buffer, SUMS_AT, rows.length);
    for (let i = 0; i < rows.length; i++) {
      scores[i] = Math.max(-1, Math.min(1, sums[i] * this.#queryInverse * this.#inverse[rows[i]]));
    }
  }

  /** Views, valid until the next append. */
  parts(): RowParts {
    return {
      labels: this.#labels.subarray(0, this.count),
      inverse: this.#inverse.subarray(0, this.count),
      bytes: this.#bytes.subarray(ROWS_AT, this.#at(this.count)),
    };
  }

  /** Reserve `count` rows in an empty store for filling; then call `filled`. */
  allocate(count: number): RowParts {
    this.#labels = new Uint32Array(Math.max(count, FIRST_CAPACITY));
    this.#inverse = new Float32Array(Math.max(count, FIRST_CAPACITY));
    this.#growMemory(count);
    this.count = count;
    return this.parts();
  }

  /** Derives what depends on the parts. */
  filled(): void {
    for (let row = 0; row < this.count; row++) {
      if (this.isLive(row)) this.#rowOf.set(this.#labels[row], row);
    }
    this.live = this.#rowOf.size;
  }

  #at(row: number): number {
    return ROWS_AT + row * this.stride;
  }

  /** The next row's number, with memory for it. Throws RangeError without changes if memory runs out. */
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
    this.count++;
    this.live++;
  }
}

/** Write the scaled, rounded vector; returns its squared length. A function, as class fields would be reread for each number. */
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
