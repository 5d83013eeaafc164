/**
 * One bit per dimension of every row: the signs of its rotated components. A first look at all rows reads these, an eighth of
 * the rows' bytes, and passes on a short list to be scored exactly. Derived from the rows, so never saved.
 */
import { openDistances, PLANES, SKETCH_STEP } from './sketch-kernel.ts';

/** Rows that one call of the kernel takes. */
const BLOCK_ROWS = 8192;
const WASM_PAGE_BYTES = 65_536;
const QUERY_AT = 0;
/** After the planes of a query of 8,192 dimensions. */
const DISTANCES_AT = 8192;
const ROWS_AT = WASM_PAGE_BYTES;
/** The memory grows by so many pages. */
const GROWTH_PAGES = 8;

export class SignSketches {
  readonly #dim: number;
  /** Bytes of a sketch. */
  readonly #length: number;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #distances = openDistances(this.#memory);
  #bytes = new Uint8Array(this.#memory.buffer);
  /** By row, of the latest query: kept, as making room for each query would cost as much as a pass over the rows. */
  #distanceOf = new Int32Array(0);
  /** Largest distance, for the histogram. */
  readonly #furthest: number;

  constructor(dim: number) {
    this.#dim = dim;
    this.#length = Math.ceil(dim / 8 / SKETCH_STEP) * SKETCH_STEP;
    this.#furthest = (2 ** PLANES - 1) * dim;
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength + this.#distanceOf.byteLength;
  }

  /** Sketch a row; rows are numbered from 0 and none is left out. A row of zeros has a sketch of zeros. */
  set(row: number, components: Int8Array): void {
    const at = ROWS_AT + row * this.#length;
    const missing = at + this.#length - this.#memory.buffer.byteLength;
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / WASM_PAGE_BYTES / GROWTH_PAGES) * GROWTH_PAGES);
      this.#bytes = new Uint8Array(this.#memory.buffer);
    }
    const bytes = this.#bytes;
    for (let from = 0, byte = at; from < this.#dim; from += 8, byte++) {
      let bits = 0;
      const most = Math.min(8, this.#dim - from);
      for (let i = 0; i < most; i++) bits |= (-components[from + i] >>> 31) << i; // no branch: signs are random
      bytes[byte] = bits;
    }
  }

  /** Take the query (rotated as rows are): a component is -3 or 3 beyond one standard deviation, else -1 or 1. */
  setQuery(query: ArrayLike<number>): void {
    let squares = 0;
    for (let i = 0; i < this.#dim; i++) squares += query[i] * query[i];
    const deviation = Math.sqrt(squares / this.#dim);
    this.#bytes.fill(0, QUERY_AT, QUERY_AT + this.#length * PLANES);
    for (let i = 0; i < this.#dim; i++) {
      const far = Math.abs(query[i]) > deviation;
      const positive = query[i] > 0;
      const word = QUERY_AT + (i >> 6) * 8 * PLANES + ((i & 63) >> 3);
      // 2 * high + low, each -1 or 1: 3 = 2 + 1, 1 = 2 - 1.
      if (positive) this.#bytes[word + 8] |= 1 << (i & 7);
      if (positive === far) this.#bytes[word] |= 1 << (i & 7);
    }
  }

  /** About `wanted` of the candidates (each row below `count` at most once), or a few more: those nearest by sketch. */
  shortlist(candidates: Uint32Array, count: number, wanted: number): Uint32Array {
    const distances = this.#measure(count);
    const histogram = new Uint32Array(this.#furthest + 1);
    const all = candidates.length === count;
    if (all) for (let row = 0; row < count; row++) histogram[distances[row]]++;
    else for (let i = 0; i < candidates.length; i++) histogram[distances[candidates[i]]]++;
    let bar = 0;
    let passed = histogram[0];
    while (passed < wanted && bar < this.#furthest) passed += histogram[++bar];
    const chosen = new Uint32Array(passed);
    let size = 0;
    if (all) {
      for (let row = 0; size < passed; row++) if (distances[row] <= bar) chosen[size++] = row;
    } else {
      for (let i = 0; size < passed; i++) if (distances[candidates[i]] <= bar) chosen[size++] = candidates[i];
    }
    return chosen;
  }

  /** Distances of the rows below `count` to the query. Valid until the next call. */
  #measure(count: number): Int32Array {
    if (this.#distanceOf.length < count) this.#distanceOf = new Int32Array(Math.ceil(count * 1.5));
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      const rows = Math.min(BLOCK_ROWS, count - from);
      this.#distances(ROWS_AT + from * this.#length, rows, this.#length, QUERY_AT, DISTANCES_AT);
      this.#distanceOf.set(new Int32Array(this.#memory.buffer, DISTANCES_AT, rows), from);
    }
    return this.#distanceOf;
  }
}
