/**
 * Dot products of int8 rows with several int16 queries at once: each row is read and widened once for all of them. The
 * reranker's inner loop, where few queries (the words of a query) meet thousands of short rows (the words of its candidates);
 * dot-kernel.ts is the one for a single long query. `plainManyDots` is the reference of the tests, and what runs where the
 * engine has no SIMD.
 * Arithmetic is whole: with |row| <= 127 and |query| * length <= 2^24 no sum leaves 31 bits.
 */
import { LANES } from './dot-kernel.ts';
import * as wasm from './wasm-module.ts';

/** Most queries of one kernel: their sums and a row's parts fit the registers. */
export const MAX_QUERIES = 8;

/**
 * For i < count, q < queries: out[i * queries + q] = sum over j < length of row(addresses[i])[j] * query[q * length + j].
 * All arguments but the count are byte addresses in the memory: addresses u32[], query i16[], out i32[], rows i8[].
 */
export type ManyDots = (addresses: number, count: number, query: number, out: number) => void;

/** The kernel for so many queries, 1..MAX_QUERIES, of a length that is a multiple of LANES. */
export function openManyDots(memory: WebAssembly.Memory, length: number, queries: number): ManyDots {
  const run = wasm.instantiate(assemble(length, queries), memory);
  return run === undefined ? plainManyDots(memory, length, queries) : (run as ManyDots);
}

/** The same in JavaScript. */
export function plainManyDots(memory: WebAssembly.Memory, length: number, queries: number): ManyDots {
  return (addresses, count, query, out) => {
    const bytes = new Int8Array(memory.buffer);
    const halves = new Int16Array(memory.buffer, query, queries * length);
    const words = new Int32Array(memory.buffer);
    for (let i = 0; i < count; i++) {
      const row = words[addresses / 4 + i] >>> 0;
      for (let q = 0; q < queries; q++) {
        let sum = 0;
        for (let j = 0; j < length; j++) sum += bytes[row + j] * halves[q * length + j];
        words[out / 4 + i * queries + q] = sum;
      }
    }
  };
}

/** (addresses, count, query, out) as in `ManyDots`. The components are unrolled, 16 at a time. */
function assemble(length: number, queries: number): Uint8Array<ArrayBuffer> {
  const { get, set, tee, constant, add, addLanes, loadVector, loadWidened, lane, branchIf } = wasm;
  const [addresses, count, query, out, row, low, high, sums] = [0, 1, 2, 3, 4, 5, 6, 7];
  const all = Array.from({ length: queries }, (_, q) => q);
  const locals = [wasm.I32, wasm.V128, wasm.V128, ...all.map(() => wasm.V128)];
  const addProducts = (part: number, q: number, offset: number) => [
    ...[...get(part), ...get(query), ...loadVector(2 * length * q + offset), ...wasm.multiplyAddPairs],
    ...[...get(sums + q), ...addLanes, ...set(sums + q)],
  ];
  const sixteen = (from: number) => [
    ...[...get(row), ...loadWidened(from), ...set(low)],
    ...[...get(row), ...loadWidened(from + LANES / 2), ...set(high)],
    ...all.flatMap((q) => [...addProducts(low, q, 2 * from), ...addProducts(high, q, 2 * from + LANES)]),
  ];
  const store = (q: number) => [
    ...[...get(out), ...get(sums + q), ...lane(0)],
    ...[1, 2, 3].flatMap((at) => [...get(sums + q), ...lane(at), ...add]),
    ...wasm.store32,
    ...[...get(out), ...constant(4), ...add, ...set(out)],
  ];
  return wasm.assembleModule(4, locals, [
    ...wasm.block, // of no rows nothing is written
    ...[...get(count), ...wasm.isZero, ...branchIf(0)],
    ...wasm.loop, // over rows
    ...[...get(addresses), ...wasm.load32, ...set(row)],
    ...all.flatMap((q) => [...wasm.zeroVector, ...set(sums + q)]),
    ...Array.from({ length: length / LANES }, (_, part) => sixteen(part * LANES)).flat(),
    ...all.flatMap(store),
    ...[...get(addresses), ...constant(4), ...add, ...set(addresses)],
    ...[...get(count), ...constant(1), ...wasm.subtract, ...tee(count), ...branchIf(0)],
    ...wasm.end,
    ...wasm.end,
  ]);
}
