/**
 * One bit per dimension of every row: the signs of its rotated components. A first look at all rows reads these, an eighth of
 * the rows' bytes, and passes on a short list to be scored exactly. Derived from the rows, so never saved.
 * The distance of a row is the sum of the query's absolute components where its sign is another one, in steps that the tables of
 * the kernel can hold (adc-kernel.ts): the smaller, the nearer.
 */
import {
  BLOCK_ROWS,
  codeBytes,
  type Distances,
  openDistances,
  TABLE_DIMS,
  TABLE_ENTRIES,
  TABLE_PEAK,
} from './adc-kernel.ts';

const WASM_PAGE_BYTES = 65_536;
/** Blocks that one call of the kernel takes. */
const CALL_BLOCKS = 256;
const TABLES_AT = 0;
/** Distances of a call, after the tables of a query of 8,192 dimensions. */
const OUT_AT = 32_768;
const ROWS_AT = WASM_PAGE_BYTES;
/** The memory grows by so many pages. */
const GROWTH_PAGES = 8;
/**
 * Of many rows every eleventh tells where the bar is: one that 2,500 of 50,000 pass is met within a tenth. A prime, since rows come in
 * the order of pages and their chunks: other steps would meet the same place of every page more often.
 */
const SAMPLE_STEP = 11;
const SAMPLE_FROM_ROWS = 4096;

export class BinaryCodes {
  readonly #dim: number;
  /** Bytes of a code. */
  readonly #length: number;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #distances: Distances;
  #bytes = new Uint8Array(this.#memory.buffer);
  /** By row, of the latest query: kept, as making room for each query would cost as much as a pass over the rows. */
  #distanceOf = new Uint16Array(0);
  /** Rows of the latest range that are near, kept likewise. */
  #near = new Uint32Array(0);
  /** Largest distance, for the histogram. */
  readonly #furthest: number;

  constructor(dim: number) {
    this.#dim = dim;
    this.#length = codeBytes(dim);
    this.#distances = openDistances(this.#memory, this.#length);
    this.#furthest = 2 * this.#length * TABLE_PEAK;
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength + this.#distanceOf.byteLength + this.#near.byteLength;
  }

  /** Encode a row; rows are numbered from 0 and none is left out. A row of zeros has a code of zeros. */
  set(row: number, components: Int8Array): void {
    const lane = row % BLOCK_ROWS;
    const block = this.#blockAt((row - lane) / BLOCK_ROWS);
    const missing = block + BLOCK_ROWS * this.#length - this.#memory.buffer.byteLength;
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / WASM_PAGE_BYTES / GROWTH_PAGES) * GROWTH_PAGES);
      this.#bytes = new Uint8Array(this.#memory.buffer);
    }
    const bytes = this.#bytes;
    for (let from = 0, byte = block + lane; from < this.#dim; from += 8, byte += BLOCK_ROWS) {
      let bits = 0;
      const most = Math.min(8, this.#dim - from);
      for (let i = 0; i < most; i++) bits |= (-components[from + i] >>> 31) << i; // no branch: signs are random
      bytes[byte] = bits;
    }
  }

  /** Take the query (rotated as rows are). */
  setQuery(query: ArrayLike<number>): void {
    fillTables(query, this.#dim, this.#bytes.subarray(TABLES_AT, TABLES_AT + 2 * TABLE_ENTRIES * this.#length));
  }

  /**
   * About `wanted` of the candidates (each row below `count` at most once), or a few more: those nearest by code, nearest first,
   * equal ones in the order of the candidates.
   */
  shortlist(candidates: Uint32Array, count: number, wanted: number): Uint32Array {
    return this.#nearestFirst(candidates, this.#measure(0, count), wanted);
  }

  /**
   * About `wanted` of the rows from `from` up to `to`, as `shortlist` gives them. Of many rows only those up to a bar are looked at
   * closer, which a sample tells; where it has misled to less than half of `wanted`, the bar is that of all.
   */
  shortlistRange(from: number, to: number, wanted: number): Uint32Array {
    const distances = this.#measure(from, to);
    const sampled = to - from >= SAMPLE_FROM_ROWS;
    let near = this.#findNear(
      distances,
      this.#barOfEvery(sampled ? SAMPLE_STEP : 1, distances, from, to, wanted),
      from,
      to,
    );
    if (sampled && near.length < Math.min(wanted, to - from) / 2) {
      near = this.#findNear(distances, this.#barOfEvery(1, distances, from, to, wanted), from, to);
    }
    return this.#nearestFirst(near, distances, wanted);
  }

  /** The least distance that `wanted` rows of the range do not exceed, as every `step`-th row tells it. */
  #barOfEvery(step: number, distances: Uint16Array, from: number, to: number, wanted: number): number {
    const histogram = new Uint32Array(this.#furthest + 1);
    for (let row = from; row < to; row += step) histogram[distances[row]]++;
    return barOf(histogram, wanted / step).bar;
  }

  /** The rows of a range that are not further than a bar. Valid until the next call. */
  #findNear(distances: Uint16Array, bar: number, from: number, to: number): Uint32Array {
    if (this.#near.length < to - from) this.#near = new Uint32Array(Math.ceil((to - from) * 1.5));
    const near = this.#near;
    let size = 0;
    for (let row = from; row < to; row++) if (distances[row] <= bar) near[size++] = row;
    return near.subarray(0, size);
  }

  /** The first `wanted` by distance, and those as far as the last of them: nearest first, equal ones in the order given. */
  #nearestFirst(rows: Uint32Array, distances: Uint16Array, wanted: number): Uint32Array {
    const places = new Uint32Array(this.#furthest + 1);
    for (let i = 0; i < rows.length; i++) places[distances[rows[i]]]++;
    const { bar, passed } = barOf(places, wanted);
    // From how many there are at a distance to the place of the next of them.
    for (let distance = 0, place = 0; distance <= bar; distance++) {
      const rowsThere = places[distance];
      places[distance] = place;
      place += rowsThere;
    }
    const sorted = new Uint32Array(passed);
    for (let i = 0; i < rows.length; i++) {
      const distance = distances[rows[i]];
      if (distance <= bar) sorted[places[distance]++] = rows[i];
    }
    return sorted;
  }

  /** Measure the rows from `from` up to `to`; gives distances by row. Valid until the next call. */
  #measure(from: number, to: number): Uint16Array {
    const end = Math.ceil(to / BLOCK_ROWS);
    if (this.#distanceOf.length < end * BLOCK_ROWS) {
      this.#distanceOf = new Uint16Array(Math.ceil(end * 1.5) * BLOCK_ROWS);
    }
    for (let block = Math.floor(from / BLOCK_ROWS); block < end; block += CALL_BLOCKS) {
      const blocks = Math.min(CALL_BLOCKS, end - block);
      this.#distances(this.#blockAt(block), blocks, TABLES_AT, OUT_AT);
      this.#distanceOf.set(new Uint16Array(this.#memory.buffer, OUT_AT, blocks * BLOCK_ROWS), block * BLOCK_ROWS);
    }
    return this.#distanceOf;
  }

  #blockAt(block: number): number {
    return ROWS_AT + block * BLOCK_ROWS * this.#length;
  }
}

/**
 * Fill the tables of a query: an entry is the sum of the absolute components whose signs the bits differ from (a bit is set for
 * what is above 0), scaled so that the largest entry of all is TABLE_PEAK.
 */
function fillTables(query: ArrayLike<number>, dim: number, tables: Uint8Array): void {
  const components = new Float64Array((tables.length / TABLE_ENTRIES) * TABLE_DIMS);
  for (let i = 0; i < dim; i++) components[i] = query[i];
  let peak = 0;
  for (let from = 0; from < dim; from += TABLE_DIMS) {
    let sum = 0;
    for (let i = from; i < from + TABLE_DIMS; i++) sum += Math.abs(components[i]);
    peak = Math.max(peak, sum);
  }
  const scale = peak > 0 ? TABLE_PEAK / peak : 0;
  const sums = new Float64Array(TABLE_ENTRIES);
  for (let at = 0, from = 0; at < tables.length; at += TABLE_ENTRIES, from += TABLE_DIMS) {
    sums[0] = 0;
    for (let i = from; i < from + TABLE_DIMS; i++) sums[0] += Math.max(0, components[i]);
    for (let i = 0; i < TABLE_DIMS; i++) {
      // A bit takes away what a positive component differs by, and adds it for a negative one.
      for (let bits = 0; bits < 1 << i; bits++) sums[bits + (1 << i)] = sums[bits] - components[from + i];
    }
    for (let bits = 0; bits < TABLE_ENTRIES; bits++) tables[at + bits] = sums[bits] * scale + 0.5; // rounded, as bytes are cut
  }
}

/** The least distance that at least `wanted` of a histogram do not exceed, all if they are fewer; and how many do not. */
function barOf(histogram: Uint32Array, wanted: number): { bar: number; passed: number } {
  let bar = 0;
  let passed = histogram[0];
  while (passed < wanted && bar < histogram.length - 1) passed += histogram[++bar];
  return { bar, passed };
}
