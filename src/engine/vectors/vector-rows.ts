/**
 * Vectors as int8 rows with labels, in memory that threads share: one writes, all read. Rows are only appended. An
 * erased row is zeroed and keeps its number until the live rows are copied. A row is its vector scaled to a peak of
 * 127. Scores are cosines of rounded rows with the query rounded to 12 bits (errors: docs/storage.md).
 *
 *   rows     64 KiB: count, live rows · for each reader 64 KiB: the query as i16, a block of addresses, a block of sums
 *            then each row: label u32, 1 / length f32 (0: erased), 8 unused bytes, `stride` bytes
 *   places   by label: 1 + its row, or 0
 * A row counts once it is complete: `count` is written last. A reader may see a wrong score for a row that is being
 * erased, but never finds its label afterwards.
 */
import { type Dots, LANES, MAX_PAGES, openDots, QUERY_PEAK } from './dot-kernel.ts';

export const CALL_ROWS = 4096;
/** Max dimensions by contract. */
const MAX_DIM = 8192;
/** Labels are smaller: the largest uint32 marks an erased row. */
export const NO_LABEL = 0xffff_ffff;
/** Max threads that read with memory of their own. Number 0 is the writer's thread. */
export const MAX_READERS = 63;

const PAGE_BYTES = 65_536;
const ADDRESSES_AT = 2 * MAX_DIM;
const SUMS_AT = ADDRESSES_AT + 4 * CALL_ROWS;
const ROWS_AT = (1 + MAX_READERS) * PAGE_BYTES;
const HEADER_BYTES = 16;
const ROW_PEAK = 127;
const GROWTH_PAGES = 16;

/** What a thread needs to read the rows; cloned without copying a row. */
export interface SharedRows {
  dim: number;
  rows: WebAssembly.Memory;
  places: WebAssembly.Memory;
}

export class VectorRows {
  readonly shared: SharedRows;
  readonly dim: number;
  /** Numbers per row, zero-padded to whole lanes; and bytes per row, with label and length. */
  readonly stride: number;
  readonly rowBytes: number;
  readonly #rows: WebAssembly.Memory;
  readonly #places: WebAssembly.Memory;
  readonly #counts: Int32Array;
  readonly #scratch: number;
  readonly #dots: Dots;
  #bytes!: Int8Array;
  #labels!: Uint32Array;
  #inverse!: Float32Array;
  #placeOf!: Uint32Array;
  #queryInverse = 0;

  /** `reader`: this thread's number among the readers. */
  constructor({ dim, rows, places }: SharedRows, reader = 0) {
    this.shared = { dim, rows, places };
    this.dim = dim;
    this.stride = Math.ceil(dim / LANES) * LANES;
    this.rowBytes = HEADER_BYTES + this.stride;
    this.#rows = rows;
    this.#places = places;
    this.#counts = new Int32Array(rows.buffer, 0, 2);
    this.#scratch = (1 + reader) * PAGE_BYTES;
    this.#dots = openDots(rows);
    this.#look();
  }

  /** Empty, with room for `count` rows. Errors: RangeError for an impossible dimension, or without memory. */
  static create(dim: number, count = 0): VectorRows {
    if (!Number.isInteger(dim) || dim < 1 || dim > MAX_DIM) throw new RangeError(`a vector of ${dim} dimensions`);
    const memory = (initial: number) => new WebAssembly.Memory({ initial, maximum: MAX_PAGES, shared: true });
    const rows = new VectorRows({ dim, rows: memory(ROWS_AT / PAGE_BYTES), places: memory(1) });
    rows.#reserve(count);
    return rows;
  }

  get count(): number {
    return Atomics.load(this.#counts, 0);
  }

  get live(): number {
    return Atomics.load(this.#counts, 1);
  }

  /** Bytes of memory in use. */
  get bytes(): number {
    return this.count * this.rowBytes + this.#places.buffer.byteLength;
  }

  has(label: number): boolean {
    return this.rowOf(label) !== undefined;
  }

  rowOf(label: number): number | undefined {
    if (label >= this.#placeOf.length) this.#look();
    const place = label < this.#placeOf.length ? Atomics.load(this.#placeOf, label) : 0;
    this.#seeAll(place);
    return place === 0 ? undefined : place - 1;
  }

  isLive(row: number): boolean {
    return this.#inverse[this.#at(row) / 4 + 1] > 0;
  }

  labelOf(row: number): number {
    return this.#labels[this.#at(row) / 4];
  }

  /** Labels of all live rows, in row order. */
  liveLabels(): Uint32Array {
    const { count } = this;
    this.#seeAll(count);
    const labels = new Uint32Array(this.live);
    let at = 0;
    for (let row = 0; row < count; row++) if (this.isLive(row)) labels[at++] = this.labelOf(row);
    return labels.subarray(0, at);
  }

  /** Appends vectors[offset .. offset + dim), finite and nonzero. RangeError without changes if memory runs out. */
  append(label: number, vectors: Float32Array, offset: number): void {
    const row = this.count;
    this.#reserve(row + 1);
    this.#reservePlace(label);
    const vector = vectors.subarray(offset, offset + this.dim);
    const squares = roundInto(this.#bytes, this.#at(row) + HEADER_BYTES, vector, ROW_PEAK / peakOf(vector));
    this.#enter(row, label, 1 / Math.sqrt(squares));
  }

  appendRow(label: number, from: VectorRows, source: number): void {
    const row = this.count;
    this.#reserve(row + 1);
    this.#reservePlace(label);
    const at = from.#at(source);
    const bytes = from.#bytes.subarray(at + HEADER_BYTES, at + from.rowBytes);
    this.#bytes.set(bytes, this.#at(row) + HEADER_BYTES);
    this.#enter(row, label, from.#inverse[at / 4 + 1]);
  }

  /** Returns whether the label had a row. */
  erase(label: number): boolean {
    const row = this.rowOf(label);
    if (row === undefined) return false;
    const at = this.#at(row);
    Atomics.store(this.#placeOf, label, 0);
    // The header first: a thread that copies a half-zeroed row then sees that it is erased.
    this.#labels[at / 4] = NO_LABEL;
    this.#inverse[at / 4 + 1] = 0;
    Atomics.sub(this.#counts, 1, 1);
    this.#bytes.fill(0, at + HEADER_BYTES, at + this.rowBytes);
    return true;
  }

  /** Set the query: `dim` finite numbers, not all zero. */
  setQuery(vector: ArrayLike<number>): void {
    const scale = QUERY_PEAK / peakOf(vector);
    const query = new Int16Array(this.#rows.buffer, this.#scratch, this.stride).fill(0);
    let squares = 0;
    for (let i = 0; i < this.dim; i++) {
      query[i] = Math.round(vector[i] * scale);
      squares += query[i] * query[i];
    }
    this.#queryInverse = 1 / Math.sqrt(squares);
  }

  /** Cosines of the query with at most CALL_ROWS rows; 0 for erased rows. */
  score(rows: Uint32Array, scores: Float32Array): void {
    const addresses = new Uint32Array(this.#rows.buffer, this.#scratch + ADDRESSES_AT, rows.length);
    for (let i = 0; i < rows.length; i++) addresses[i] = this.#at(rows[i]) + HEADER_BYTES;
    const [addressesAt, sumsAt] = [this.#scratch + ADDRESSES_AT, this.#scratch + SUMS_AT];
    this.#dots(addressesAt, rows.length, this.stride, this.#scratch, sumsAt);
    const sums = new Int32Array(this.#rows.buffer, sumsAt, rows.length);
    const inverses = this.#inverse;
    const queryInverse = this.#queryInverse;
    for (let i = 0; i < rows.length; i++) {
      const cosine = sums[i] * queryInverse * inverses[(addresses[i] - HEADER_BYTES + 4) >>> 2];
      scores[i] = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
    }
  }

  /** A live row's vector, of length one up to rounding. */
  vectorOf(row: number): Float32Array {
    const at = this.#at(row);
    const inverse = this.#inverse[at / 4 + 1];
    return Float32Array.from(this.#bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + this.dim), (n) => n * inverse);
  }

  /** A hash of 53 bits; equal rows have equal hashes. */
  hashOf(row: number): number {
    const at = this.#at(row) + HEADER_BYTES;
    let [high, low] = [0x811c9dc5, 0x01000193];
    for (let i = 0; i < this.dim; i++) {
      high = Math.imul(high ^ this.#bytes[at + i], 0x01000193);
      low = Math.imul(low ^ this.#bytes[at + i], 0x85ebca6b) + 1;
    }
    return (high >>> 0) * 2 ** 21 + (low >>> 11);
  }

  /** Number of rows that can be read now. Other methods of readers take rows below it. */
  seen(): number {
    const { count } = this;
    this.#seeAll(count);
    // The growth of memory in another thread may become visible a little later than its rows.
    return Math.min(count, Math.floor((this.#bytes.length - ROWS_AT) / this.rowBytes));
  }

  /** A copy of rows [from, to) with their headers. A row that is erased during the copy is erased in it, too. */
  copy(from: number, to: number): Uint8Array {
    this.#seeAll(to);
    const bytes = new Uint8Array((to - from) * this.rowBytes);
    bytes.set(new Uint8Array(this.#rows.buffer, this.#at(from), bytes.length));
    const words = new Uint32Array(bytes.buffer);
    for (let row = from; row < to; row++) {
      const at = ((row - from) * this.rowBytes) / 4;
      if (words[at] === this.labelOf(row)) continue;
      words.fill(0, at, at + this.rowBytes / 4);
      words[at] = NO_LABEL;
    }
    return bytes;
  }

  /** Memory for `count` rows of an empty store. Fill it, then call `filled`. */
  allocate(count: number): Uint8Array {
    this.#reserve(count);
    return new Uint8Array(this.#rows.buffer, ROWS_AT, count * this.rowBytes);
  }

  /** Counts allocated rows, including erased ones. */
  filled(count: number): void {
    let live = 0;
    for (let row = 0; row < count; row++) {
      if (!this.isLive(row)) continue;
      live++;
      this.#reservePlace(this.labelOf(row));
      this.#placeOf[this.labelOf(row)] = row + 1;
    }
    Atomics.store(this.#counts, 1, live);
    Atomics.store(this.#counts, 0, count);
  }

  #at(row: number): number {
    return ROWS_AT + row * this.rowBytes;
  }

  /** Renews the views after the memory grew, in this or another thread. */
  #look(): void {
    this.#bytes = new Int8Array(this.#rows.buffer);
    this.#labels = new Uint32Array(this.#rows.buffer);
    this.#inverse = new Float32Array(this.#rows.buffer);
    this.#placeOf = new Uint32Array(this.#places.buffer);
  }

  #seeAll(count: number): void {
    if (this.#at(count) > this.#bytes.length) this.#look();
  }

  #reserve(rows: number): void {
    this.#seeAll(rows);
    const missing = this.#at(rows) - this.#bytes.length;
    if (missing > 0) grow(this.#rows, missing);
    if (missing > 0) this.#look();
  }

  #reservePlace(label: number): void {
    const missing = 4 * (label + 1) - this.#places.buffer.byteLength;
    if (missing > 0) grow(this.#places, missing);
    if (label >= this.#placeOf.length) this.#look();
  }

  #enter(row: number, label: number, inverse: number): void {
    const at = this.#at(row) / 4;
    this.#labels[at] = label;
    this.#inverse[at + 1] = inverse;
    Atomics.store(this.#placeOf, label, row + 1);
    Atomics.add(this.#counts, 1, 1);
    Atomics.store(this.#counts, 0, row + 1);
  }
}

function grow(memory: WebAssembly.Memory, bytes: number): void {
  memory.grow(Math.ceil(bytes / PAGE_BYTES / GROWTH_PAGES) * GROWTH_PAGES);
}

/** Writes the scaled, rounded vector; returns its squared length. No method: class fields would be read each time. */
function roundInto(bytes: Int8Array, at: number, vector: Float32Array, scale: number): number {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = Math.round(vector[i] * scale);
    bytes[at + i] = value;
    squares += value * value;
  }
  return squares;
}

function peakOf(values: ArrayLike<number>): number {
  let peak = 0;
  for (let i = 0; i < values.length; i++) peak = Math.max(peak, Math.abs(values[i]));
  return peak;
}
