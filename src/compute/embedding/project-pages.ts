/** Lays pages out on the map by UMAP (McInnes et al. 2018): first a sample, then the others near it. Deterministic. */
import { UMAP } from 'umap-js';
import { seededRandom } from '../seeded-random.ts';
import type { Neighbours } from './page-graph.ts';

/** UMAP's default. Fewer neighbours would tear topics apart, more take more time. */
const neighboursUsed = 15;
const minDist = 0.1;
/** UMAP's number for large collections. Small ones, which get more by default, look alike with these. */
const epochs = 200;
/** Number of neighbours that place a page, and the exponent that gives nearer ones more weight. */
const placedBy = 3;
const sharpness = 4;
/** Rounds of averaging over neighbours, which give the layout its initial shape. */
const smoothings = 60;
/** Half the width of the plane at the start. */
const halfWidth = 10;
const seed = 3;
const mostLaidOut = 5000;

/** x and y per page; all 0 if there are too few pages. `among`: neighbours in the list of some pages, by index. */
export function projectPages(
  near: Neighbours,
  among: (pages: readonly number[]) => Neighbours,
  laidOut = mostLaidOut,
): Float32Array {
  const count = near.indices.length / near.k;
  if (count <= laidOut) return layOut(near);
  const random = seededRandom(seed);
  const chosen = Array.from({ length: count }, (_, page) => page).filter(() => random() < laidOut / count);
  const places = layOut(among(chosen));
  const points = new Float32Array(2 * count).fill(Number.NaN);
  for (const [row, page] of chosen.entries()) points.set(places.subarray(2 * row, 2 * row + 2), 2 * page);
  placeAmongNeighbours(points, near);
  return points;
}

/** Places pages without a place (NaN) among their placed neighbours, in rounds. The rest goes to the middle. */
function placeAmongNeighbours(points: Float32Array, { k, indices, cosines }: Neighbours): void {
  let waiting = Array.from({ length: points.length / 2 }, (_, page) => page).filter((page) =>
    Number.isNaN(points[2 * page]),
  );
  for (let before = Number.POSITIVE_INFINITY; waiting.length < before; ) {
    before = waiting.length;
    const placed = waiting.map((page): [number, number, number] => {
      let [x, y, weights, found] = [0, 0, 0, 0];
      for (let at = page * k; at < (page + 1) * k && found < placedBy; at++) {
        const other = indices[at];
        if (other < 0 || Number.isNaN(points[2 * other]) || !(cosines[at] > 0)) continue;
        const weight = cosines[at] ** sharpness;
        x += weight * points[2 * other];
        y += weight * points[2 * other + 1];
        weights += weight;
        found++;
      }
      return [page, x / weights, y / weights];
    });
    for (const [page, x, y] of placed) points.set([x, y], 2 * page);
    waiting = waiting.filter((page) => Number.isNaN(points[2 * page]));
  }
  for (const page of waiting) points.set([0, 0], 2 * page);
}

function layOut(near: Neighbours): Float32Array {
  const { k, indices, cosines } = near;
  const count = indices.length / k;
  const points = new Float32Array(2 * count);
  if (count <= neighboursUsed) return points;
  const nearest: number[][] = [];
  const distances: number[][] = [];
  for (let row = 0; row < count; row++) {
    nearest.push([row]);
    distances.push([0]);
    for (let at = row * k; nearest[row].length < neighboursUsed && at < (row + 1) * k; at++) {
      if (indices[at] < 0) continue;
      nearest[row].push(indices[at]);
      distances[row].push(Math.max(0, 1 - cosines[at]));
    }
  }
  const umap = new UMAP({
    nComponents: 2,
    nNeighbors: neighboursUsed,
    minDist,
    nEpochs: epochs,
    random: seededRandom(seed),
  });
  umap.setPrecomputedKNN(nearest, distances);
  const first = smoothAxis(near, []);
  const axes = [first, smoothAxis(near, [first])];
  umap.initializeFit(nearest);
  for (const [row, point] of umap.getEmbedding().entries()) for (const axis of [0, 1]) point[axis] = axes[axis][row];
  for (let epoch = 0; epoch < epochs; epoch++) umap.step();
  for (const [row, place] of umap.getEmbedding().entries()) points.set(place, 2 * row);
  return points;
}

/** An axis for the start of the layout: it changes little between neighbours and differs from those in `before`. */
function smoothAxis({ k, indices }: Neighbours, before: readonly Float64Array[]): Float64Array {
  const count = indices.length / k;
  const random = seededRandom(seed + before.length);
  let axis = Float64Array.from({ length: count }, () => random() - 0.5);
  for (let round = 0; round < smoothings; round++) {
    const next = axis.slice();
    for (let at = 0; at < indices.length; at++) {
      if (indices[at] < 0) continue;
      const row = Math.floor(at / k);
      next[row] += axis[indices[at]] / k;
      next[indices[at]] += axis[row] / k;
    }
    for (const other of [new Float64Array(count).fill(1), ...before]) {
      const share = dot(next, other) / (dot(other, other) || 1);
      for (let i = 0; i < count; i++) next[i] -= share * other[i];
    }
    const widest = next.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
    axis = next.map((value) => (value / widest) * halfWidth);
  }
  return axis;
}

const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, value, i) => sum + value * b[i], 0);
