/** The nearest other rows of each row by cosine, exact. The kernel of searches scores every pair once. */
import type { Neighbours } from '../../compute/embedding/page-graph.ts';
import type { VectorTable } from '../../compute/embedding/page-vectors.ts';
import { VectorRows } from './vector-rows.ts';

/** Rows per block. Two blocks stay in the processor's cache while they are scored with each other. */
const blockRows = 1024;

/** Shapes: `table` has finite rows of unit length. For equal cosines, the row with the lower number comes first. */
export function nearestRows(table: VectorTable, k: number): Neighbours {
  const comparison = new RowComparison(table, k);
  while (comparison.compareBlock());
  return comparison.neighbours();
}

/** `nearestRows` in steps of one block of rows, for tables that take minutes. */
export class RowComparison {
  readonly table: VectorTable;
  readonly #vectors: VectorRows;
  readonly #best: BestNeighbours;
  readonly #scores = new Float32Array(blockRows);
  #next = 0;

  constructor(table: VectorTable, k: number) {
    const { rows, count, dim } = table;
    this.table = table;
    this.#vectors = VectorRows.create(dim, count);
    for (let row = 0; row < count; row++) this.#vectors.append(row, rows, row * dim);
    this.#best = new BestNeighbours(count, k);
  }

  /** Compare the next block with itself and all later rows. Returns whether there is another block. */
  compareBlock(): boolean {
    const { rows, count, dim } = this.table;
    const a = this.#next;
    this.#next += blockRows;
    for (let b = a; b < count; b += blockRows) {
      const others = Uint32Array.from({ length: Math.min(blockRows, count - b) }, (_, i) => b + i);
      for (let row = a; row < Math.min(count, a + blockRows); row++) {
        const from = Math.max(0, row + 1 - b);
        this.#vectors.setQuery(rows.subarray(row * dim, (row + 1) * dim));
        this.#vectors.score(others.subarray(from), this.#scores);
        for (let i = from; i < others.length; i++) this.#best.offer(row, b + i, this.#scores[i - from]);
      }
    }
    return this.#next < count;
  }

  /** Neighbours within the blocks compared so far. */
  neighbours(): Neighbours {
    return this.#best.sorted();
  }
}

/** Keeps the k best neighbours of each row, with quick access to the worst of them. */
class BestNeighbours {
  readonly #k: number;
  readonly #indices: Int32Array;
  readonly #cosines: Float32Array;
  readonly #worst: Float32Array;
  readonly #worstAt: Uint16Array;

  constructor(count: number, k: number) {
    this.#k = k;
    this.#indices = new Int32Array(count * k).fill(-1);
    this.#cosines = new Float32Array(count * k).fill(Number.NEGATIVE_INFINITY);
    this.#worst = new Float32Array(count).fill(Number.NEGATIVE_INFINITY);
    this.#worstAt = new Uint16Array(count);
  }

  offer(row: number, other: number, cosine: number): void {
    if (cosine > this.#worst[row]) this.#replaceWorst(row, other, cosine);
    if (cosine > this.#worst[other]) this.#replaceWorst(other, row, cosine);
  }

  #replaceWorst(row: number, other: number, cosine: number): void {
    const cosines = this.#cosines;
    const base = row * this.#k;
    this.#indices[base + this.#worstAt[row]] = other;
    cosines[base + this.#worstAt[row]] = cosine;
    let worstAt = 0;
    for (let i = 1; i < this.#k; i++) if (cosines[base + i] < cosines[base + worstAt]) worstAt = i;
    this.#worstAt[row] = worstAt;
    this.#worst[row] = cosines[base + worstAt];
  }

  sorted(): Neighbours {
    const k = this.#k;
    const indices = new Int32Array(this.#indices.length);
    const cosines = new Float32Array(this.#cosines.length);
    for (let base = 0; base < indices.length; base += k) {
      const order = Array.from({ length: k }, (_, i) => base + i).sort(
        (a, b) => this.#cosines[b] - this.#cosines[a] || this.#indices[a] - this.#indices[b],
      );
      for (const [i, at] of order.entries()) {
        indices[base + i] = this.#indices[at];
        cosines[base + i] = this.#indices[at] < 0 ? 0 : this.#cosines[at];
      }
    }
    return { k, indices, cosines };
  }
}
