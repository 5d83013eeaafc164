/**
 * Places pages on a plane so that near ones stay near (UMAP; McInnes, Healy & Melville 2018), for the map. It begins from the two
 * strongest axes, so that far regions lie where the collection as a whole puts them, and is the same for the same pages.
 */
import { UMAP } from 'umap-js';
import type { Neighbours } from './nearest-neighbours.ts';
import type { VectorTable } from './page-vectors.ts';
import { seededRandom } from './seeded-random.ts';

/** UMAP's own default; fewer neighbours would tear topics apart, more cost time. */
const neighboursUsed = 15;
const minDist = 0.1;
/** Steps of the layout: UMAP's own numbers for large and for small collections. */
const fewEpochs = 200;
const manyEpochs = 500;
const manyPages = 5000;
/** Half the width of the plane at the beginning. */
const halfWidth = 10;
const seed = 3;

/** x and y of each page, one after the other; all at the origin where there are too few to lay out. */
export function projectPages({ rows, count, dim }: VectorTable, { k, indices, cosines }: Neighbours): Float32Array {
  const points = new Float32Array(count * 2);
  const used = Math.min(neighboursUsed, k, count);
  if (count <= neighboursUsed || dim < 2) return points;
  const nearest: number[][] = [];
  const distances: number[][] = [];
  for (let row = 0; row < count; row++) {
    const mine = [row];
    const far = [0];
    for (let at = row * k; mine.length < used && at < (row + 1) * k; at++) {
      if (indices[at] < 0) continue;
      mine.push(indices[at]);
      far.push(Math.max(0, 1 - cosines[at]));
    }
    nearest.push(mine);
    distances.push(far);
  }
  const umap = new UMAP({
    nComponents: 2,
    nNeighbors: used,
    minDist,
    nEpochs: count > manyPages ? fewEpochs : manyEpochs,
    random: seededRandom(seed),
  });
  umap.setPrecomputedKNN(nearest, distances);
  const plane = Array.from({ length: count }, (_, row) => [rows[row * dim], rows[row * dim + 1]]);
  const epochs = umap.initializeFit(plane);
  const widest = Math.max(1e-9, ...[0, 1].map((axis) => plane.reduce((max, p) => Math.max(max, Math.abs(p[axis])), 0)));
  umap.getEmbedding().forEach((point, row) => {
    for (const axis of [0, 1]) point[axis] = (plane[row][axis] / widest) * halfWidth;
  });
  for (let epoch = 0; epoch < epochs; epoch++) umap.step();
  umap.getEmbedding().forEach(([x, y], row) => {
    points[row * 2] = x;
    points[row * 2 + 1] = y;
  });
  return points;
}
