/** Page vectors as the clustering reads them: rows of unit length, one after the other. */
export interface VectorTable {
  rows: Float32Array;
  count: number;
  dim: number;
  /** By row the language of its page, as a number; absent where all are of one. */
  languages?: Uint16Array;
}

/** Make a row's length one; false for a row of zeros, which is left as it is. */
export function normalizeRow(rows: Float32Array, offset: number, dim: number): boolean {
  let squares = 0;
  for (let i = offset; i < offset + dim; i++) squares += rows[i] * rows[i];
  if (squares === 0) return false;
  const scale = 1 / Math.sqrt(squares);
  for (let i = offset; i < offset + dim; i++) rows[i] *= scale;
  return true;
}

/** Cosine of two rows of unit length. */
export function dotOfRows(rows: Float32Array, a: number, other: Float32Array, b: number, dim: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  const whole = dim - (dim % 4);
  for (let i = 0; i < whole; i += 4) {
    s0 += rows[a + i] * other[b + i];
    s1 += rows[a + i + 1] * other[b + i + 1];
    s2 += rows[a + i + 2] * other[b + i + 2];
    s3 += rows[a + i + 3] * other[b + i + 3];
  }
  for (let i = whole; i < dim; i++) s0 += rows[a + i] * other[b + i];
  return s0 + s1 + s2 + s3;
}
