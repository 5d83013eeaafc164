/**
 * The nearest neighbours of every page by cosine: exact for collections of usual size, and above that among the cells of a coarse
 * partition, of which each page looks at the nearest few (an inverted file; Jégou, Douze & Schmid 2011).
 */

import { seededRandom } from '../seeded-random.ts';
import { dotOfRows, normalizeRow, type VectorTable } from './page-vectors.ts';

/** For each row k neighbours, best first; -1 and 0 where there are fewer. */
export interface Neighbours {
  k: number;
  indices: Int32Array;
  cosines: Float32Array;
}

/** Up to here every pair is compared. */
const exactUpTo = 5000;
/** Nearest cells that a page looks at. */
const probedCells = 10;
const cellRounds = 4;
const seed = 11;
/** Rows compared with each other before moving on, so that both stay in the cache. */
const blockRows = 256;

/** Of a table with languages each row has neighbours of its own. */
export function nearestNeighbours(table: VectorTable, k: number): Neighbours {
  const { count, dim, rows, languages } = table;
  const best = new BestNeighbours(count, k);
  if (count <= exactUpTo) compareAll(table, best);
  else {
    const cells = partition(table);
    for (let cell = 0; cell < cells.members.length; cell++) {
      const near = nearestCells(cells.centres, cell, dim);
      for (const row of cells.members[cell]) {
        for (const other of near) {
          for (const candidate of cells.members[other]) {
            if (candidate !== row && languages?.[candidate] === languages?.[row])
              best.offer(row, candidate, dotOfRows(rows, row * dim, rows, candidate * dim, dim));
          }
        }
      }
    }
  }
  return best.sorted();
}

function compareAll({ rows, count, dim, languages }: VectorTable, best: BestNeighbours): void {
  for (let a = 0; a < count; a += blockRows) {
    for (let b = a; b < count; b += blockRows) {
      for (let i = a; i < Math.min(count, a + blockRows); i++) {
        for (let j = Math.max(i + 1, b); j < Math.min(count, b + blockRows); j++) {
          if (languages?.[i] !== languages?.[j]) continue;
          const cosine = dotOfRows(rows, i * dim, rows, j * dim, dim);
          best.offer(i, j, cosine);
          best.offer(j, i, cosine);
        }
      }
    }
  }
}

/** Keeps for each row the k best, the worst of them at hand. */
class BestNeighbours {
  readonly #k: number;
  readonly #count: number;
  readonly #indices: Int32Array;
  readonly #cosines: Float32Array;
  readonly #worst: Float32Array;
  readonly #worstAt: Uint16Array;

  constructor(count: number, k: number) {
    this.#k = k;
    this.#count = count;
    this.#indices = new Int32Array(count * k).fill(-1);
    this.#cosines = new Float32Array(count * k).fill(Number.NEGATIVE_INFINITY);
    this.#worst = new Float32Array(count).fill(Number.NEGATIVE_INFINITY);
    this.#worstAt = new Uint16Array(count);
  }

  offer(row: number, candidate: number, cosine: number): void {
    if (!(cosine > this.#worst[row])) return;
    const base = row * this.#k;
    this.#indices[base + this.#worstAt[row]] = candidate;
    this.#cosines[base + this.#worstAt[row]] = cosine;
    let worstAt = 0;
    for (let i = 1; i < this.#k; i++) if (this.#cosines[base + i] < this.#cosines[base + worstAt]) worstAt = i;
    this.#worstAt[row] = worstAt;
    this.#worst[row] = this.#cosines[base + worstAt];
  }

  sorted(): Neighbours {
    const k = this.#k;
    const indices = new Int32Array(this.#indices.length);
    const cosines = new Float32Array(this.#cosines.length);
    for (let row = 0; row < this.#count; row++) {
      const base = row * k;
      const order = Array.from({ length: k }, (_, i) => base + i).sort(
        (a, b) => this.#cosines[b] - this.#cosines[a] || this.#indices[a] - this.#indices[b],
      );
      order.forEach((at, i) => {
        indices[base + i] = this.#indices[at];
        cosines[base + i] = this.#indices[at] < 0 ? 0 : this.#cosines[at];
      });
    }
    return { k, indices, cosines };
  }
}

interface Cells {
  centres: Float32Array;
  members: number[][];
}

/** Spherical k-means with few rounds: cells need not be good, only of neighbouring rows. */
function partition({ rows, count, dim }: VectorTable): Cells {
  const random = seededRandom(seed);
  const cells = Math.ceil(Math.sqrt(count));
  let centres = new Float32Array(cells * dim);
  for (let cell = 0; cell < cells; cell++) {
    const row = Math.floor(random() * count);
    centres.set(rows.subarray(row * dim, (row + 1) * dim), cell * dim);
  }
  let members: number[][] = [];
  for (let round = 0; round < cellRounds; round++) {
    members = Array.from({ length: cells }, () => []);
    const sums = new Float32Array(cells * dim);
    for (let row = 0; row < count; row++) {
      let nearest = 0;
      let best = Number.NEGATIVE_INFINITY;
      for (let cell = 0; cell < cells; cell++) {
        const cosine = dotOfRows(rows, row * dim, centres, cell * dim, dim);
        if (cosine > best) [best, nearest] = [cosine, cell];
      }
      members[nearest].push(row);
      for (let i = 0; i < dim; i++) sums[nearest * dim + i] += rows[row * dim + i];
    }
    for (let cell = 0; cell < cells; cell++) normalizeRow(sums, cell * dim, dim);
    centres = sums;
  }
  return { centres, members };
}

function nearestCells(centres: Float32Array, cell: number, dim: number): number[] {
  const cells = centres.length / dim;
  const cosine = (other: number) => dotOfRows(centres, cell * dim, centres, other * dim, dim);
  return Array.from({ length: cells }, (_, other) => ({ other, cosine: other === cell ? 2 : cosine(other) }))
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, probedCells)
    .map(({ other }) => other);
}
