/**
 * Dot products of many int8 rows with an int16 query: the inner loop of exact scoring, in WebAssembly SIMD (models/dots.wat), 35 times
 * faster than in JavaScript. `plainDots` is the JavaScript loop: reference of the tests, and fallback without SIMD.
 * Integer arithmetic: with |row| <= 127, |query| <= QUERY_PEAK and at most 8,192 dimensions sums fit 31 bits.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programDir } from '../../files/program-files.ts';

/** Largest absolute component of a query: 127 * 2,047 * 8,192 < 2^31. */
export const QUERY_PEAK = 2047;
/** Row lengths are multiples of this many bytes. */
export const LANES = 16;
/** Pages of 64 KiB in the largest memory, 4 GiB. */
export const MAX_PAGES = 65_536;

/**
 * For i < count: out[i] = sum over j < length of row(addresses[i])[j] * query[j].
 * Arguments other than counts are byte addresses: addresses u32[], query i16[], out i32[], rows i8[]. `length` is a positive multiple of
 * LANES.
 */
export type Dots = (addresses: number, count: number, length: number, query: number, out: number) => void;

/** Uses SIMD, or the plain loop if SIMD does not compile. */
export function openDots(memory: WebAssembly.Memory): Dots {
  const bytes = readFileSync(join(programDir, 'models', 'dots.wasm'));
  if (!WebAssembly.validate(bytes)) return plainDots(memory);
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } }).exports.run as Dots;
}

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
