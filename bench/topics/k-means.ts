/** What clusters are compared with: k-means with the true number of labels. k-means++ starts, the best of some by its own measure. */
import { seededRandom } from '../../src/compute/seeded-random.ts';

const starts = 5;
const rounds = 50;

export function kMeans(rows: Float32Array, dim: number, k: number, seed: number): Int32Array {
  const random = seededRandom(seed);
  let best: { inertia: number; groups: Int32Array } = { inertia: Number.POSITIVE_INFINITY, groups: new Int32Array(0) };
  for (let start = 0; start < starts; start++) {
    const attempt = improve(rows, dim, firstCentres(rows, dim, k, random));
    if (attempt.inertia < best.inertia) best = attempt;
  }
  return best.groups;
}

function distance(rows: Float32Array, row: number, centres: Float64Array, centre: number, dim: number): number {
  let sum = 0;
  for (let i = 0; i < dim; i++) sum += (rows[row * dim + i] - centres[centre * dim + i]) ** 2;
  return sum;
}

function firstCentres(rows: Float32Array, dim: number, k: number, random: () => number): Float64Array {
  const count = rows.length / dim;
  const centres = new Float64Array(k * dim);
  const nearest = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  let chosen = Math.floor(random() * count);
  for (let centre = 0; centre < k; centre++) {
    centres.set(rows.subarray(chosen * dim, (chosen + 1) * dim), centre * dim);
    let total = 0;
    for (let row = 0; row < count; row++) {
      nearest[row] = Math.min(nearest[row], distance(rows, row, centres, centre, dim));
      total += nearest[row];
    }
    let rest = random() * total;
    for (chosen = 0; chosen < count - 1; chosen++) {
      rest -= nearest[chosen];
      if (rest <= 0) break;
    }
  }
  return centres;
}

function improve(rows: Float32Array, dim: number, start: Float64Array): { inertia: number; groups: Int32Array } {
  const count = rows.length / dim;
  const k = start.length / dim;
  let centres = start;
  const groups = new Int32Array(count).fill(-1);
  let inertia = 0;
  for (let round = 0; round < rounds; round++) {
    inertia = 0;
    let moved = 0;
    const sums = new Float64Array(k * dim);
    const sizes = new Float64Array(k);
    for (let row = 0; row < count; row++) {
      let nearest = 0;
      let least = Number.POSITIVE_INFINITY;
      for (let centre = 0; centre < k; centre++) {
        const far = distance(rows, row, centres, centre, dim);
        if (far < least) [least, nearest] = [far, centre];
      }
      if (groups[row] !== nearest) moved++;
      groups[row] = nearest;
      inertia += least;
      sizes[nearest]++;
      for (let i = 0; i < dim; i++) sums[nearest * dim + i] += rows[row * dim + i];
    }
    if (moved === 0) break;
    centres = sums.map((sum, at) => sum / Math.max(1, sizes[Math.floor(at / dim)]));
  }
  return { inertia, groups };
}
