/**
 * Distances of bit sketches to a query of two bits per dimension, many rows a call: the first look at long vectors. The
 * query's component is one of -3, -1, 1, 3, kept as two planes of signs (weights 1 and 2); a row is one plane. What differs in
 * sign counts by the plane's weight, so the dot product is weights * dim - 2 * distance: the smaller, the nearer.
 * `plainDistances` is the same in JavaScript: the reference of the tests.
 */
import * as wasm from './wasm-module.ts';

/** Sketches are multiples of this many bytes. */
export const SKETCH_STEP = 64;
/** Bits of a query's component. */
export const PLANES = 2;

/**
 * For i < count: out[i] = sum over planes p of 2^p * ones(row i xor query plane p).
 * `rows`, `query`, `out` are byte addresses: count rows of `length` bytes one after the other; the query's planes 8 bytes by
 * 8 bytes in turn (plane 0, plane 1, plane 0, …); out i32[]. `length` is a positive multiple of SKETCH_STEP.
 */
export type Distances = (rows: number, count: number, length: number, query: number, out: number) => void;

export function openDistances(memory: WebAssembly.Memory): Distances {
  const run = wasm.instantiate(assembleDistances(), memory);
  return run === undefined ? plainDistances(memory) : (run as Distances);
}

/** The same in JavaScript. */
export function plainDistances(memory: WebAssembly.Memory): Distances {
  return (rows, count, length, query, out) => {
    const words = new Int32Array(memory.buffer);
    for (let i = 0; i < count; i++) {
      let distance = 0;
      for (let word = 0; word < length / 4; word++) {
        const bits = words[(rows + i * length) / 4 + word];
        const at = query / 4 + (word >> 1) * 2 * PLANES + (word & 1);
        for (let plane = 0; plane < PLANES; plane++) distance += ones(bits ^ words[at + 2 * plane]) << plane;
      }
      words[out / 4 + i] = distance;
    }
  };
}

function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** (rows, count, length, query, out) as in `Distances`. */
function assembleDistances(): Uint8Array<ArrayBuffer> {
  const { get, set, tee, constant, add, branchIf } = wasm;
  const [rows, count, length, query, out] = [0, 1, 2, 3, 4];
  const [rowEnd, part, sum] = [5, 6, 7];
  const steps: number[] = [];
  for (let at = 0; at < SKETCH_STEP; at += 8) {
    for (let plane = 0; plane < PLANES; plane++) {
      steps.push(...get(rows), ...wasm.loadLong(at), ...get(part), ...wasm.loadLong(at * PLANES + 8 * plane));
      steps.push(...wasm.longXor, ...wasm.longOnes, ...wasm.longConstant(plane), ...wasm.longShiftLeft);
      steps.push(...get(sum), ...wasm.longAdd, ...set(sum));
    }
  }
  return wasm.assembleModule(
    5,
    [wasm.I32, wasm.I32, wasm.I64],
    [
      ...wasm.block, // of no rows nothing is written
      ...[...get(count), ...wasm.isZero, ...branchIf(0)],
      ...wasm.loop, // over rows
      ...[...get(rows), ...get(length), ...add, ...set(rowEnd)],
      ...[...get(query), ...set(part), ...wasm.longConstant(0), ...set(sum)],
      ...wasm.loop, // over SKETCH_STEP bytes
      ...steps,
      ...[...get(part), ...constant(SKETCH_STEP * PLANES), ...add, ...set(part)],
      ...[...get(rows), ...constant(SKETCH_STEP), ...add, ...tee(rows), ...get(rowEnd), ...wasm.below, ...branchIf(0)],
      ...wasm.end,
      ...[...get(out), ...get(sum), ...wasm.longToInt, ...wasm.store32],
      ...[...get(out), ...constant(4), ...add, ...set(out)],
      ...[...get(count), ...constant(1), ...wasm.subtract, ...tee(count), ...branchIf(0)],
      ...wasm.end,
      ...wasm.end,
    ],
  );
}
