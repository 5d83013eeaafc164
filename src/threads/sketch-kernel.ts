/**
 * Distances of bit sketches to a query of two bits per dimension, many rows a call: the first look at long vectors. The
 * query's component is one of -3, -1, 1, 3, kept as two planes of signs (weights 1 and 2); a row is one plane. What differs in
 * sign counts by the plane's weight, so the dot product is weights * dim - 2 * distance: the smaller, the nearer.
 * `plainDistances` and `plainNearRows` are the same in JavaScript: the reference of the tests.
 */
import * as wasm from './wasm-module.ts';

/** Bits of a query's component. */
export const PLANES = 2;

/**
 * For i < count: out[i] = distance of row i = sum over planes p of 2^p * ones(row i xor query plane p).
 * `rows`, `query`, `out` are byte addresses: count rows, `stride` bytes from one to the next; the query's planes word by word in
 * turn (plane 0, plane 1, plane 0, …); out i32[].
 */
export type Distances = (rows: number, count: number, query: number, out: number, stride: number) => void;

/**
 * The numbers of the rows whose distance is at most `bar`, in order, and their distances: out[0] is how many, then the numbers,
 * where the first row has the number `first`; likewise the distances from out[1 + MAX_NEAR] on. Rows lie one after the other, at
 * most MAX_NEAR a call; up to `count` words of each list are written. Otherwise as `Distances`.
 */
export type NearRows = (rows: number, count: number, query: number, out: number, bar: number, first: number) => void;

/** Rows that one call of `NearRows` takes. */
export const MAX_NEAR = 4096;
/** Words of its answer. */
export const NEAR_WORDS = 1 + 2 * MAX_NEAR;
/** Bytes from a row's number to its distance. */
const DISTANCES_AFTER = 4 * MAX_NEAR;

/** Words of 8 bytes that a sketch of so many dimensions has. */
export function wordsOf(dim: number): number {
  return Math.ceil(dim / 64);
}

/** The kernel for sketches of `words` words. */
export function openDistances(memory: WebAssembly.Memory, words: number): Distances {
  const run = wasm.instantiate(assembleDistances(words), memory);
  return run === undefined ? plainDistances(memory, words) : (run as Distances);
}

/** The kernel for sketches of `words` words. */
export function openNearRows(memory: WebAssembly.Memory, words: number): NearRows {
  const run = wasm.instantiate(assembleNearRows(words), memory);
  return run === undefined ? plainNearRows(memory, words) : (run as NearRows);
}

/** The same in JavaScript. */
export function plainDistances(memory: WebAssembly.Memory, words: number): Distances {
  return (rows, count, query, out, stride) => {
    const bits = new Int32Array(memory.buffer);
    for (let i = 0; i < count; i++) bits[out / 4 + i] = plainDistance(bits, rows + i * stride, words, query);
  };
}

/** The same in JavaScript. */
export function plainNearRows(memory: WebAssembly.Memory, words: number): NearRows {
  return (rows, count, query, out, bar, first) => {
    const bits = new Int32Array(memory.buffer);
    let size = 0;
    for (let i = 0; i < count; i++) {
      const distance = plainDistance(bits, rows + i * words * 8, words, query);
      if (distance > bar) continue;
      bits[out / 4 + 1 + size] = first + i;
      bits[out / 4 + 1 + MAX_NEAR + size++] = distance;
    }
    bits[out / 4] = size;
  };
}

function plainDistance(bits: Int32Array, row: number, words: number, query: number): number {
  let distance = 0;
  for (let half = 0; half < 2 * words; half++) {
    const at = query / 4 + (half >> 1) * 2 * PLANES + (half & 1);
    for (let plane = 0; plane < PLANES; plane++) distance += ones(bits[row / 4 + half] ^ bits[at + 2 * plane]) << plane;
  }
  return distance;
}

function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** (rows, count, query, out, stride) as in `Distances`. */
function assembleDistances(words: number): Uint8Array<ArrayBuffer> {
  const { get, set, constant, add, branchIf } = wasm;
  const [rows, count, query, out, stride, kept] = [0, 1, 2, 3, 4, 5];
  return wasm.assembleModule(5, queryLocals(words), [
    ...keepQuery(words, query, kept),
    ...wasm.block, // of no rows nothing is written
    ...[...get(count), ...wasm.isZero, ...branchIf(0)],
    ...wasm.loop, // over rows
    ...[...get(out), ...assembleDistance(words, rows, kept), ...wasm.store32],
    ...[...get(out), ...constant(4), ...add, ...set(out)],
    ...[...get(rows), ...get(stride), ...add, ...set(rows)],
    ...[...get(count), ...constant(1), ...wasm.subtract, ...wasm.tee(count), ...branchIf(0)],
    ...wasm.end,
    ...wasm.end,
  ]);
}

/** (rows, count, query, out, bar, first) as in `NearRows`. No branch on what is near: that is chance. */
function assembleNearRows(words: number): Uint8Array<ArrayBuffer> {
  const { get, set, constant, add, branchIf } = wasm;
  const [rows, count, query, out, bar, first, next, distance, kept] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  return wasm.assembleModule(
    6,
    [wasm.I32, wasm.I32, ...queryLocals(words)],
    [
      ...keepQuery(words, query, kept),
      ...[...get(out), ...constant(4), ...add, ...set(next)],
      ...wasm.block,
      ...[...get(count), ...wasm.isZero, ...branchIf(0)],
      ...wasm.loop, // over rows
      ...[...get(next), ...get(first), ...wasm.store32],
      ...[...get(next), ...assembleDistance(words, rows, kept), ...wasm.tee(distance)],
      ...wasm.store32At(DISTANCES_AFTER),
      ...[...get(next), ...get(distance), ...get(bar), ...wasm.atMost],
      ...[...constant(2), ...wasm.shiftLeft, ...add, ...set(next)],
      ...[...get(first), ...constant(1), ...add, ...set(first)],
      ...[...get(rows), ...constant(8 * words), ...add, ...set(rows)],
      ...[...get(count), ...constant(1), ...wasm.subtract, ...wasm.tee(count), ...branchIf(0)],
      ...wasm.end,
      ...wasm.end,
      ...[...get(out), ...get(next), ...get(out), ...wasm.subtract, ...constant(2), ...wasm.shiftRight],
      ...[...constant(1), ...wasm.subtract, ...wasm.store32],
    ],
  );
}

/**
 * The words of the query, which stay in locals during a call, and all of a row's one after the other, without a loop: so it takes
 * .6 to .85 of the time at 64 to 512 dimensions, .9 at 1,024 and 2,048.
 */
function queryLocals(words: number): number[] {
  return new Array<number>(words * PLANES).fill(wasm.I64);
}

/** Read the query at the address in a local into the locals from `kept` on. */
function keepQuery(words: number, query: number, kept: number): number[] {
  return queryLocals(words).flatMap((_, i) => [...wasm.get(query), ...wasm.loadLong(8 * i), ...wasm.set(kept + i)]);
}

/** Leaves the distance of the row at the address in a local on the stack; the query is in the locals from `kept` on. */
function assembleDistance(words: number, row: number, kept: number): number[] {
  const onesOf = (word: number, plane: number) => [
    ...[...wasm.get(row), ...wasm.loadLong(8 * word), ...wasm.get(kept + word * PLANES + plane)],
    ...[...wasm.longXor, ...wasm.longOnes],
  ];
  const distances = Array.from({ length: words }, (_, word) => [
    ...[...onesOf(word, 1), ...wasm.longConstant(1), ...wasm.longShiftLeft], // the plane of weight 2
    ...[...onesOf(word, 0), ...wasm.longAdd, ...(word === 0 ? [] : wasm.longAdd)],
  ]);
  return [...distances.flat(), ...wasm.longToInt];
}
