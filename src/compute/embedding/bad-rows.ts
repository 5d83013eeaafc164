/**
 * What no index may be given: vectors that are not finite numbers or have no direction. Nothing can be scored against them, so they are refused at every
 * border where vectors come in.
 */
export type BadRowReason = 'nan' | 'infinite' | 'zero' | 'length';

export interface BadRow {
  /** Place in the batch, from 0. */
  row: number;
  reason: BadRowReason;
}

/**
 * The rows of a batch that cannot be indexed, in order; none is the usual answer.
 * Shapes: rows of `dim` numbers, one after the other, `count` of them; a missing or superfluous end is a bad row, too.
 */
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
