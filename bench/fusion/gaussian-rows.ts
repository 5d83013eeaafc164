import { randomStream } from '../workload.ts';

/** Rows of unit length in directions by chance. Shape: rows × dim. */
export function gaussianRows(rows: number, dim: number, seed: number, kind: number): Float32Array {
  const random = randomStream(seed, kind, rows);
  const out = new Float32Array(rows * dim);
  for (let at = 0; at < out.length; at++)
    out[at] = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  for (let row = 0; row < rows; row++) unit(out.subarray(row * dim, (row + 1) * dim));
  return out;
}

/** Made of length 1, in place; zeros stay. */
export function unit(row: Float32Array): Float32Array {
  const length = Math.hypot(...row);
  if (length > 0) for (let k = 0; k < row.length; k++) row[k] /= length;
  return row;
}
