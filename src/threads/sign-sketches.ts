/**
 * One bit per dimension of every row: the signs of its rotated components. A first look at all rows reads these, an eighth of
 * the rows' bytes, and passes on a short list to be scored exactly. Derived from the rows, so never saved.
 */
import {
  type Distances,
  MAX_NEAR,
  NEAR_WORDS,
  type NearRows,
  openDistances,
  openNearRows,
  PLANES,
  wordsOf,
} from './sketch-kernel.ts';

/** Rows that one call of a kernel takes. */
const BLOCK_ROWS = MAX_NEAR;
const WASM_PAGE_BYTES = 65_536;
const QUERY_AT = 0;
/** Distances of a block's rows, or the near ones of them, after the planes of a query of 8,192 dimensions. */
const OUT_AT = 8192;
const ROWS_AT = WASM_PAGE_BYTES;
/** The memory grows by so many pages. */
const GROWTH_PAGES = 8;
/**
 * Of many rows every eleventh tells where the bar is: one that 2,500 of 50,000 pass is met within a tenth. A prime, since rows come in
 * the order of pages and their chunks: other steps would meet the same place of every page more often.
 */
const SAMPLE_STEP = 11;
const SAMPLE_FROM_ROWS = 4096;

export class SignSketches {
  readonly #dim: number;
  /** Bytes of a sketch. */
  readonly #length: number;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #distances: Distances;
  readonly #nearRows: NearRows;
  #bytes = new Uint8Array(this.#memory.buffer);
  /** By row, of the latest query: kept, as making room for each query would cost as much as a pass over the rows. */
  #distanceOf = new Int32Array(0);
  /** Rows of the latest range that are near, and their distances, kept likewise. */
  #near = new Uint32Array(0);
  #nearDistances = new Int32Array(0);
  /** Largest distance, for the histogram. */
  readonly #furthest: number;

  constructor(dim: number) {
    const words = wordsOf(dim);
    this.#dim = dim;
    this.#length = 8 * words;
    this.#distances = openDistances(this.#memory, words);
    this.#nearRows = openNearRows(this.#memory, words);
    this.#furthest = (2 ** PLANES - 1) * dim;
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength + this.#distanceOf.byteLength + 2 * this.#near.byteLength;
  }

  /** Sketch a row; rows are numbered from 0 and none is left out. A row of zeros has a sketch of zeros. */
  set(row: number, components: Int8Array): void {
    const at = this.#at(row);
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

  /**
   * About `wanted` of the candidates (each row below `count` at most once), or a few more: those nearest by sketch, nearest first,
   * equal ones in the order of the candidates.
   */
  shortlist(candidates: Uint32Array, count: number, wanted: number): Uint32Array {
    const distanceOf = this.#measure(count);
    const distances = new Int32Array(candidates.length);
    for (let i = 0; i < candidates.length; i++) distances[i] = distanceOf[candidates[i]];
    return this.#nearestFirst(candidates, distances, wanted);
  }

  /**
   * About `wanted` of the rows from `from` up to `to`, as `shortlist` gives them. Of many rows only those up to a bar are looked at
   * closer, which a sample tells; where it has misled to less than half of `wanted`, the bar is that of all.
   */
  shortlistRange(from: number, to: number, wanted: number): Uint32Array {
    const sampled = to - from >= SAMPLE_FROM_ROWS;
    let near = this.#findNear(this.#barOfEvery(sampled ? SAMPLE_STEP : 1, from, to, wanted), from, to);
    if (sampled && near < Math.min(wanted, to - from) / 2) {
      near = this.#findNear(this.#barOfEvery(1, from, to, wanted), from, to);
    }
    return this.#nearestFirst(this.#near.subarray(0, near), this.#nearDistances.subarray(0, near), wanted);
  }

  /** The least distance that `wanted` rows of the range do not exceed, as every `step`-th row tells it. */
  #barOfEvery(step: number, from: number, to: number, wanted: number): number {
    const histogram = new Uint32Array(this.#furthest + 1);
    for (let at = from; at < to; at += BLOCK_ROWS * step) {
      const rows = Math.ceil(Math.min(BLOCK_ROWS * step, to - at) / step);
      this.#distances(this.#at(at), rows, QUERY_AT, OUT_AT, step * this.#length);
      const distances = new Int32Array(this.#memory.buffer, OUT_AT, rows);
      for (let i = 0; i < rows; i++) histogram[distances[i]]++;
    }
    return barOf(histogram, wanted / step).bar;
  }

  /** Find the rows of a range that are not further than a bar, with their distances; gives how many. */
  #findNear(bar: number, from: number, to: number): number {
    if (this.#near.length < to - from) {
      this.#near = new Uint32Array(Math.ceil((to - from) * 1.5));
      this.#nearDistances = new Int32Array(this.#near.length);
    }
    const out = new Int32Array(this.#memory.buffer, OUT_AT, NEAR_WORDS);
    let size = 0;
    for (let at = from; at < to; at += BLOCK_ROWS) {
      this.#nearRows(this.#at(at), Math.min(BLOCK_ROWS, to - at), QUERY_AT, OUT_AT, bar, at);
      const found = out[0];
      this.#near.set(out.subarray(1, 1 + found), size);
      this.#nearDistances.set(out.subarray(1 + MAX_NEAR, 1 + MAX_NEAR + found), size);
      size += found;
    }
    return size;
  }

  /** The first `wanted` by distance, and those as far as the last of them: nearest first, equal ones in the order given. */
  #nearestFirst(rows: Uint32Array, distances: Int32Array, wanted: number): Uint32Array {
    const places = new Uint32Array(this.#furthest + 1);
    for (let i = 0; i < rows.length; i++) places[distances[i]]++;
    const { bar, passed } = barOf(places, wanted);
    // From how many there are at a distance to the place of the next of them.
    for (let distance = 0, place = 0; distance <= bar; distance++) {
      const rowsThere = places[distance];
      places[distance] = place;
      place += rowsThere;
    }
    const sorted = new Uint32Array(passed);
    for (let i = 0; i < rows.length; i++) if (distances[i] <= bar) sorted[places[distances[i]]++] = rows[i];
    return sorted;
  }

  /** Distances of the rows below `count` to the query. Valid until the next call. */
  #measure(count: number): Int32Array {
    if (this.#distanceOf.length < count) this.#distanceOf = new Int32Array(Math.ceil(count * 1.5));
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      const rows = Math.min(BLOCK_ROWS, count - from);
      this.#distances(this.#at(from), rows, QUERY_AT, OUT_AT, this.#length);
      this.#distanceOf.set(new Int32Array(this.#memory.buffer, OUT_AT, rows), from);
    }
    return this.#distanceOf;
  }

  #at(row: number): number {
    return ROWS_AT + row * this.#length;
  }
}

/** The least distance that at least `wanted` of a histogram do not exceed, all if they are fewer; and how many do not. */
function barOf(histogram: Uint32Array, wanted: number): { bar: number; passed: number } {
  let bar = 0;
  let passed = histogram[0];
  while (passed < wanted && bar < histogram.length - 1) passed += histogram[++bar];
  return { bar, passed };
}
