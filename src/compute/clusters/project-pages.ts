/**
 * Places pages on a plane so that near ones stay near (UMAP; McInnes, Healy & Melville 2018), for the map. It begins from the two
 * strongest axes, so that far regions lie where the collection as a whole puts them, and is the same for the same pages.
 */
import { UMAP } from 'umap-js';
import { seededRandom } from '../seeded-random.ts';
import { type Neighbours, nearestNeighbours } from './nearest-neighbours.ts';
import type { VectorTable } from './page-vectors.ts';

/** UMAP's own default; fewer neighbours would tear topics apart, more cost time. */
const neighboursUsed = 15;
const minDist = 0.1;
/** Steps of the layout: what UMAP takes for large collections; small ones, which it gives more, look alike after as many. */
const epochsTaken = 200;
/** Neighbours that give a page its place, and how much more the nearer of them count. */
const placedBy = 3;
const sharpness = 4;
/** Half the width of the plane at the beginning. */
const halfWidth = 10;
const seed = 3;

/** Pages that are laid out; the others of a larger collection are put among their neighbours. Bounds the time, not the picture. */
const mostLaidOut = 5000;

/** x and y of each page, one after the other; all at the origin where there are too few to lay out. */
export function projectPages(table: VectorTable, neighbours: Neighbours, laidOut = mostLaidOut): Float32Array {
  const { rows, count, dim } = table;
  if (count <= laidOut) return layOut(table, neighbours);
  const random = seededRandom(seed);
  const chosen = Array.from({ length: count }, (_, page) => page).filter(() => random() < laidOut / count);
  const some = new Float32Array(chosen.length * dim);
  for (const [row, page] of chosen.entries()) some.set(rows.subarray(page * dim, (page + 1) * dim), row * dim);
  const part = { rows: some, count: chosen.length, dim };
  const places = layOut(part, nearestNeighbours(part, neighboursUsed));
  return placeAmongNeighbours(places, chosen, count, neighbours);
}

/** Pages in `chosen` have their places; each other one goes where those of its neighbours that have one are, the near ones more. */
function placeAmongNeighbours(
  places: Float32Array,
  chosen: readonly number[],
  count: number,
  { k, indices, cosines }: Neighbours,
): Float32Array {
  const points = new Float32Array(count * 2).fill(Number.NaN);
  for (const [row, page] of chosen.entries()) points.set(places.subarray(row * 2, row * 2 + 2), page * 2);
  const isPlaced = points.map((coordinate) => (Number.isNaN(coordinate) ? 0 : 1));
  for (let page = 0; page < count; page++) {
    if (isPlaced[page * 2] === 1) continue;
    let [x, y, weights, found] = [0, 0, 0, 0];
    for (let at = page * k; at < (page + 1) * k && found < placedBy; at++) {
      const other = indices[at];
      if (other < 0 || isPlaced[other * 2] === 0 || cosines[at] <= 0) continue;
      const weight = cosines[at] ** sharpness;
      x += weight * points[other * 2];
      y += weight * points[other * 2 + 1];
      weights += weight;
      found++;
    }
    // Without a placed neighbour it goes to the middle, where it is near to nothing in particular.
    points[page * 2] = weights > 0 ? x / weights : 0;
    points[page * 2 + 1] = weights > 0 ? y / weights : 0;
  }
  return points;
}

function layOut({ rows, count, dim }: VectorTable, { k, indices, cosines }: Neighbours): Float32Array {
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
    nEpochs: epochsTaken,
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
