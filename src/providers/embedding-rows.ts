/** Parses and checks the rows of an embedding answer; one bad row refuses the whole answer. */
import { findBadRows } from '../compute/embedding/pool-vectors.ts';

function copyNumbers(row: readonly unknown[], out: Float32Array): string | null {
  for (let i = 0; i < out.length; i++) {
    const value = row[i];
    if (typeof value !== 'number') return 'not a number';
    out[i] = value;
  }
  return null;
}

/** Little-endian float32 as base64: the format of OpenAI and Voyage. */
function copyBase64(row: string, out: Float32Array, native: number): string | null {
  const bytes = Buffer.from(row, 'base64');
  if (bytes.length % out.BYTES_PER_ELEMENT !== 0) return `${bytes.length} bytes, which are no floats`;
  const length = bytes.length / out.BYTES_PER_ELEMENT;
  if (length !== out.length && length !== native) return `length ${length} instead of ${out.length}`;
  for (let i = 0; i < out.length; i++) out[i] = bytes.readFloatLE(4 * i);
  return null;
}

function copyRow(row: unknown, out: Float32Array, native: number): string | null {
  if (typeof row === 'string') return copyBase64(row, out, native);
  if (!Array.isArray(row)) return 'not a vector';
  const fits = row.length === out.length || row.length === native;
  return fits ? copyNumbers(row, out) : `length ${row.length} instead of ${out.length}`;
}

function makeUnit(row: Float32Array): void {
  let largest = 0;
  for (const value of row) largest = Math.max(largest, Math.abs(value));
  let sum = 0;
  for (const value of row) sum += (value / largest) ** 2;
  const scale = 1 / Math.sqrt(sum);
  for (let i = 0; i < row.length; i++) row[i] = (row[i] / largest) * scale;
}

/**
 * The rows of an answer as unit vectors.
 * Shapes: `rows` from JSON; the result has `count` × `dim` numbers: of `native` numbers per row the first `dim` (Matryoshka
 * Representation Learning, Kusupati et al. 2022).
 * Errors: none; `problem` names the first bad row, never a value.
 */
export function readRows(
  rows: readonly unknown[],
  count: number,
  dim: number,
  native = dim,
): Float32Array | { problem: string } {
  if (rows.length !== count) return { problem: `${rows.length} rows instead of ${count}` };
  const out = new Float32Array(count * dim);
  for (const [at, row] of rows.entries()) {
    const problem = copyRow(row, out.subarray(at * dim, (at + 1) * dim), native);
    if (problem !== null) return { problem: `row ${at}: ${problem}` };
  }
  const [bad] = findBadRows(out, dim, count);
  if (bad !== undefined) return { problem: `row ${bad.row}: ${bad.reason}` };
  for (let at = 0; at < count; at++) makeUnit(out.subarray(at * dim, (at + 1) * dim));
  return out;
}
