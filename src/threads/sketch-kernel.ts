/**
 * Distances of bit sketches to a query of two bits per dimension, many rows a call: the first look at long vectors. The
 * query's component is one of -3, -1, 1, 3, kept as two planes of signs (weights 1 and 2); a row is one plane. What differs in
 * sign counts by the plane's weight, so the dot product is weights * dim - 2 * distance: the smaller, the nearer.
 * `plainDistances` and `plainNearRows` are the same in JavaScript: the reference of the tests.
 */
import * as wasm from './wasm-module.ts';

/** Bytes that the kernels take at a time, at most: sketches of more are multiples of it. */
export const MAX_STEP = 64;
/** Bits of a query's component. */
export const PLANES = 2;

/**
 * For i < count: out[i] = distance of row i = sum over planes p of 2^p * ones(row i xor query plane p).
 * `rows`, `query`, `out` are byte addresses: count rows of `length` bytes, `stride` bytes from one to the next; the query's
 * planes 8 bytes by 8 bytes in turn (plane 0, plane 1, plane 0, …); out i32[]. `length` is a positive multiple of the step.
 */
export type Distances = (
  rows: number,
  count: number,
  length: number,
  query: number,
  out: number,
  stride: number,
) => void;

/**
 * The numbers of the rows whose distance is at most `bar`, in order: out[0] is how many, then those, where the first row has
 * the number `first`. Rows lie one after the other; up to count + 2 words of out are written. Otherwise as `Distances`.
 */
export type NearRows = (
  rows: number,
  count: number,
  length: number,
  query: number,
  out: number,
  bar: number,
  first: number,
) => void;

/** Bytes that the kernels of sketches of `dim` dimensions take at a time: whole words of 8, and no more than there are. */
export function stepOf(dim: number): number {
  return Math.min(MAX_STEP, Math.ceil(dim / 64) * 8);
}

export function openDistances(memory: WebAssembly.Memory, step: number): Distances {
  const run = wasm.instantiate(assembleDistances(step), memory);
  return run === undefined ? plainDistances(memory) : (run as Distances);
}

export function openNearRows(memory: WebAssembly.Memory, step: number): NearRows {
  const run = wasm.instantiate(assembleNearRows(step), memory);
  return run === undefined ? plainNearRows(memory) : (run as NearRows);
}

/** The same in JavaScript. */
export function plainDistances(memory: WebAssembly.Memory): Distances {
  return (rows, count, length, query, out, stride) => {
    const words = new Int32Array(memory.buffer);
    for (let i = 0; i < count; i++) words[out / 4 + i] = plainDistance(words, rows + i * stride, length, query);
  };
}

/** The same in JavaScript. */
export function plainNearRows(memory: WebAssembly.Memory): NearRows {
  return (rows, count, length, query, out, bar, first) => {
    const words = new Int32Array(memory.buffer);
    let size = 0;
    for (let i = 0; i < count; i++) {
      if (plainDistance(words, rows + i * length, length, query) <= bar) words[out / 4 + 1 + size++] = first + i;
    }
    words[out / 4] = size;
  };
}

function plainDistance(words: Int32Array, row: number, length: number, query: number): number {
  let distance = 0;
  for (let word = 0; word < length / 4; word++) {
    const bits = words[row / 4 + word];
    const at = query / 4 + (word >> 1) * 2 * PLANES + (word & 1);
    for (let plane = 0; plane < PLANES; plane++) distance += ones(bits ^ words[at + 2 * plane]) << plane;
  }
  return distance;
}

function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** (rows, count, length, query, out, stride) as in `Distances`. */
function assembleDistances(step: number): Uint8Array<ArrayBuffer> {
  const { get, set, constant, add, branchIf } = wasm;
  const [rows, count, length, query, out, stride] = [0, 1, 2, 3, 4, 5];
  const [rowAt, rowEnd, part, sum] = [6, 7, 8, 9];
  return wasm.assembleModule(
    6,
    [wasm.I32, wasm.I32, wasm.I32, wasm.I64],
    [
      ...wasm.block, // of no rows nothing is written
      ...[...get(count), ...wasm.isZero, ...branchIf(0)],
      ...wasm.loop, // over rows
      ...[...get(rows), ...set(rowAt)],
      ...assembleDistance(step, { rowAt, rowEnd, length, query, part, sum }),
      ...[...get(out), ...get(sum), ...wasm.longToInt, ...wasm.store32],
      ...[...get(out), ...constant(4), ...add, ...set(out)],
      ...[...get(rows), ...get(stride), ...add, ...set(rows)],
      ...[...get(count), ...constant(1), ...wasm.subtract, ...wasm.tee(count), ...branchIf(0)],
      ...wasm.end,
      ...wasm.end,
    ],
  );
}

/** (rows, count, length, query, out, bar, first) as in `NearRows`. No branch on what is near: that is chance. */
function assembleNearRows(step: number): Uint8Array<ArrayBuffer> {
  const { get, set, constant, add, branchIf } = wasm;
  const [rows, count, length, query, out, bar, first] = [0, 1, 2, 3, 4, 5, 6];
  const [next, rowEnd, part, sum] = [7, 8, 9, 10];
  return wasm.assembleModule(
    7,
    [wasm.I32, wasm.I32, wasm.I32, wasm.I64],
    [
      ...[...get(out), ...constant(4), ...add, ...set(next)],
      ...wasm.block,
      ...[...get(count), ...wasm.isZero, ...branchIf(0)],
      ...wasm.loop, // over rows
      ...assembleDistance(step, { rowAt: rows, rowEnd, length, query, part, sum }),
      ...[...get(next), ...get(first), ...wasm.store32],
      ...[...get(next), ...get(sum), ...wasm.longToInt, ...get(bar), ...wasm.atMost],
      ...[...constant(2), ...wasm.shiftLeft, ...add, ...set(next)],
      ...[...get(first), ...constant(1), ...add, ...set(first)],
      ...[...get(count), ...constant(1), ...wasm.subtract, ...wasm.tee(count), ...branchIf(0)],
      ...wasm.end,
      ...wasm.end,
      ...[...get(out), ...get(next), ...get(out), ...wasm.subtract, ...constant(2), ...wasm.shiftRight],
      ...[...constant(1), ...wasm.subtract, ...wasm.store32],
    ],
  );
}

/** Locals of one row's distance: its address, which is that of its end afterwards, and `sum`, where the distance is left. */
interface DistanceLocals {
  rowAt: number;
  rowEnd: number;
  length: number;
  query: number;
  part: number;
  sum: number;
}

function assembleDistance(step: number, { rowAt, rowEnd, length, query, part, sum }: DistanceLocals): number[] {
  const { get, set, constant, add, branchIf } = wasm;
  const words: number[] = [];
  for (let at = 0; at < step; at += 8) {
    for (let plane = 0; plane < PLANES; plane++) {
      words.push(...get(rowAt), ...wasm.loadLong(at), ...get(part), ...wasm.loadLong(at * PLANES + 8 * plane));
      words.push(...wasm.longXor, ...wasm.longOnes, ...wasm.longConstant(plane), ...wasm.longShiftLeft);
      words.push(...get(sum), ...wasm.longAdd, ...set(sum));
    }
  }
  return [
    ...[...get(rowAt), ...get(length), ...add, ...set(rowEnd)],
    ...[...get(query), ...set(part), ...wasm.longConstant(0), ...set(sum)],
    ...wasm.loop, // over `step` bytes
    ...words,
    ...[...get(part), ...constant(step * PLANES), ...add, ...set(part)],
    ...[...get(rowAt), ...constant(step), ...add, ...wasm.tee(rowAt), ...get(rowEnd), ...wasm.below, ...branchIf(0)],
    ...wasm.end,
  ];
}
