/** From the vectors of a page's chunks to the vector of the page. Pure; called by the index. */

/**
 * The mean of the chunks' vectors, of length one (setting `indexing.page_vector_pooling`, `mean`).
 * Shapes: rows of `dim` numbers, one after the other; rows of zeros and of what is not finite do not count.
 * Gives null where no row counts, or they cancel out.
 */
export function meanPageVector(rows: Float32Array, dim: number): Float32Array | null {
  const sum = new Float64Array(dim);
  for (let at = 0; at < rows.length; at += dim) {
    let squares = 0;
    for (let i = 0; i < dim; i++) squares += rows[at + i] * rows[at + i];
    if (!(squares > 0 && squares < Number.POSITIVE_INFINITY)) continue;
    const length = Math.sqrt(squares);
    for (let i = 0; i < dim; i++) sum[i] += rows[at + i] / length;
  }
  let squares = 0;
  for (let i = 0; i < dim; i++) squares += sum[i] * sum[i];
  if (squares === 0) return null;
  const length = Math.sqrt(squares);
  const mean = new Float32Array(dim);
  for (let i = 0; i < dim; i++) mean[i] = sum[i] / length;
  return mean;
}
