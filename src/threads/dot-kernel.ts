/**
 * Dot products of int8 rows with an int16 query, many rows a call: the inner loop of every exact score.
 * The rows lie in a WebAssembly memory and a SIMD loop runs over them, 16 components at a time. Measured against the same loop
 * in JavaScript: 40 times faster (bench/dense.ts). `plainDots` is that loop: the reference of the tests, and what runs where the
 * engine has no SIMD.
 * Arithmetic is whole: with |row| <= 127, |query| <= QUERY_PEAK and at most 8,192 dimensions no sum leaves 31 bits.
 */
import * as wasm from './wasm-module.ts';

/** Largest absolute component of a query: 127 * 2,047 * 8,192 < 2^31. */
export const QUERY_PEAK = 2047;
/** Row lengths are multiples of this many bytes. */
export const LANES = 16;

/**
 * For i < count: out[i] = sum over j < length of row(addresses[i])[j] * query[j].
 * All arguments but counts are byte addresses in the memory: addresses u32[], query i16[], out i32[], rows i8[].
 * `length` is a positive multiple of LANES.
 */
export type Dots = (addresses: number, count: number, length: number, query: number, out: number) => void;

/** The kernel over a memory: SIMD, or the plain loop where WebAssembly SIMD does not compile. */
export function openDots(memory: WebAssembly.Memory): Dots {
  const run = wasm.instantiate(assembleDots(), memory);
  return run === undefined ? plainDots(memory) : (run as Dots);
}

/** The same in JavaScript. */
export function plainDots(memory: WebAssembly.Memory): Dots {
  return (addresses, count, length, query, out) => {
    const bytes = new Int8Array(memory.buffer);
    const halves = new Int16Array(memory.buffer, query, length);
    const words = new Int32Array(memory.buffer);
    for (let i = 0; i < count; i++) {
      const row = words[addresses / 4 + i] >>> 0;
      let sum = 0;
      for (let j = 0; j < length; j++) sum += bytes[row + j] * halves[j];
      words[out / 4 + i] = sum;
    }
  };
}

/** (addresses, count, length, query, out) as in `Dots`. */
function assembleDots(): Uint8Array<ArrayBuffer> {
  const { get, set, tee, constant, add, addLanes, loadVector, lane, branchIf } = wasm;
  const [addresses, count, length, query, out] = [0, 1, 2, 3, 4];
  const [row, rowEnd, part, low, high, bytes] = [5, 6, 7, 8, 9, 10];
  const locals = [wasm.I32, wasm.I32, wasm.I32, wasm.V128, wasm.V128, wasm.V128];
  return wasm.assembleModule(5, locals, [
    ...wasm.block, // of no rows nothing is written
    ...[...get(count), ...wasm.isZero, ...branchIf(0)],
    ...wasm.loop, // over rows
    ...[...get(addresses), ...wasm.load32, ...tee(row), ...get(length), ...add, ...set(rowEnd)],
    ...[...get(query), ...set(part)],
    ...[...wasm.zeroVector, ...tee(low), ...set(high)],
    ...wasm.loop, // over 16 components: 8 into `low`, 8 into `high`, each 4 sums of 32 bits
    ...[...get(row), ...loadVector(0), ...tee(bytes), ...wasm.widenLow],
    ...[...get(part), ...loadVector(0), ...wasm.multiplyAddPairs, ...get(low), ...addLanes, ...set(low)],
    ...[...get(bytes), ...wasm.widenHigh],
    ...[...get(part), ...loadVector(16), ...wasm.multiplyAddPairs, ...get(high), ...addLanes, ...set(high)],
    ...[...get(part), ...constant(2 * LANES), ...add, ...set(part)],
    ...[...get(row), ...constant(LANES), ...add, ...tee(row), ...get(rowEnd), ...wasm.below, ...branchIf(0)],
    ...wasm.end,
    ...get(out),
    ...[...get(low), ...get(high), ...addLanes, ...tee(low), ...lane(0)],
    ...[...get(low), ...lane(1), ...add, ...get(low), ...lane(2), ...add, ...get(low), ...lane(3), ...add],
    ...wasm.store32,
    ...[...get(out), ...constant(4), ...add, ...set(out)],
    ...[...get(addresses), ...constant(4), ...add, ...set(addresses)],
    ...[...get(count), ...constant(1), ...wasm.subtract, ...tee(count), ...branchIf(0)],
    ...wasm.end,
    ...wasm.end,
  ]);
}
