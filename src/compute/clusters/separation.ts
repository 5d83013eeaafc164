/**
 * How far apart clusters are: for each page its mean cosine with its own cluster less that with the next nearest one, over all
 * pages. The silhouette (Rousseeuw 1987) in its simplified form, with cosines and without its division, which prefers few clusters.
 */
import { dotOfRows, type VectorTable } from './page-vectors.ts';

/** Shapes: the cluster of each row from 0, -1 for noise, which counts as not separated. 0 where there are fewer than two clusters. */
export function separation({ rows, count, dim }: VectorTable, clusters: Int32Array, clusterCount: number): number {
  if (clusterCount < 2) return 0;
  const sums = new Float32Array(clusterCount * dim);
  const sizes = new Float64Array(clusterCount);
  for (let row = 0; row < count; row++) {
    const cluster = clusters[row];
    if (cluster < 0) continue;
    sizes[cluster]++;
    for (let i = 0; i < dim; i++) sums[cluster * dim + i] += rows[row * dim + i];
  }
  let total = 0;
  for (let row = 0; row < count; row++) {
    if (clusters[row] < 0) continue;
    let own = 0;
    let next = Number.NEGATIVE_INFINITY;
    for (let cluster = 0; cluster < clusterCount; cluster++) {
      const dot = dotOfRows(rows, row * dim, sums, cluster * dim, dim);
      if (cluster === clusters[row]) own = (dot - 1) / Math.max(1, sizes[cluster] - 1);
      else next = Math.max(next, dot / sizes[cluster]);
    }
    total += own - next;
  }
  return total / count;
}
