/** Unit mean of rows of `dim` numbers, ignoring zero and non-finite rows. Null if none is left or they cancel out. */
export function meanPageVector(rows: Float32Array, dim: number): Float32Array | null {
  const sum = new Float64Array(dim);
  for (let at = 0; at < rows.length; at += dim) {
    const length = Math.sqrt(squaresOf(rows.subarray(at, at + dim)));
    if (!(length > 0 && length < Number.POSITIVE_INFINITY)) continue;
    for (let i = 0; i < dim; i++) sum[i] += rows[at + i] / length;
  }
  const length = Math.sqrt(squaresOf(sum));
  return length === 0 ? null : Float32Array.from(sum, (each) => each / length);
}

function squaresOf(row: Float32Array | Float64Array): number {
  let squares = 0;
  for (const each of row) squares += each * each;
  return squares;
}

/** Joins rows into one array. */
export function joinedRows(parts: readonly Float32Array[]): Float32Array {
  const rows = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    rows.set(part, at);
    at += part.length;
  }
  return rows;
}

/** A vector that cannot be scored, and is therefore refused wherever vectors arrive. */
export interface BadRow {
  /** Place in the batch, from 0. */
  row: number;
  reason: 'nan' | 'infinite' | 'zero' | 'length';
}

/** Rows that cannot be indexed, in order. `vectors`: `count` rows of `dim`; a wrong length is a bad row, too. */
export function findBadRows(vectors: Float32Array, dim: number, count: number): BadRow[] {
  const bad: BadRow[] = [];
  const whole = Math.min(count, Math.floor(vectors.length / dim));
  for (let row = 0; row < whole; row++) {
    let sum = 0;
    for (let i = row * dim; i < (row + 1) * dim; i++) sum += Math.abs(vectors[i]);
    if (Number.isNaN(sum)) bad.push({ row, reason: 'nan' });
    else if (sum === Number.POSITIVE_INFINITY) bad.push({ row, reason: 'infinite' });
    else if (sum === 0) bad.push({ row, reason: 'zero' });
  }
  if (vectors.length !== count * dim) bad.push({ row: whole, reason: 'length' });
  return bad;
}
