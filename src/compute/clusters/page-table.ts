/**
 * The vectors of a run's pages as they come in: pooled, then kept along the strongest axes only, so that 50,000 pages take some
 * 25 MB whatever the model's dimension is. The axes are learned from a sample that comes first.
 */
import { meanPageVector } from '../embedding/pool-vectors.ts';
import { longer } from '../structures/longer.ts';
import { comparedAxes } from './cluster-pages.ts';
import type { VectorTable } from './page-vectors.ts';
import { type PrincipalAxes, principalAxes, projectRow } from './principal-axes.ts';

/** Chunk vectors of some pages, page by page. */
export interface ChunkRows {
  /** Number of chunks of each page. */
  counts: readonly number[];
  rows: Float32Array;
}

export class PageTable {
  readonly #axes: PrincipalAxes;
  #rows: Float32Array;
  #count = 0;

  /** Learn the axes from a sample of pages; at least one of them with a vector. */
  constructor(sample: readonly ChunkRows[], dim: number) {
    const vectors = sample.flatMap((pages) => [...pooled(pages, dim)].filter((vector) => vector !== null));
    const rows = new Float32Array(vectors.length * dim);
    for (const [row, vector] of vectors.entries()) rows.set(vector, row * dim);
    this.#axes = principalAxes({ rows, count: vectors.length, dim }, comparedAxes);
    this.#rows = new Float32Array(1024 * this.#axes.count);
  }

  /** Take in pages; for each whether it has a vector and is in the table now. */
  add(pages: ChunkRows): boolean[] {
    const { dim, count: axes } = this.#axes;
    return [...pooled(pages, dim)].map((vector) => {
      if (vector === null) return false;
      if ((this.#count + 1) * axes > this.#rows.length) this.#rows = longer(this.#rows, this.#rows.length * 2);
      if (!projectRow(this.#axes, vector, this.#rows, this.#count * axes)) return false;
      this.#count++;
      return true;
    });
  }

  get vectors(): VectorTable {
    const { count: dim } = this.#axes;
    return { rows: this.#rows.subarray(0, this.#count * dim), count: this.#count, dim };
  }
}

function* pooled({ counts, rows }: ChunkRows, dim: number): Generator<Float32Array | null> {
  let at = 0;
  for (const count of counts) {
    yield meanPageVector(rows.subarray(at * dim, (at + count) * dim), dim);
    at += count;
  }
}
