/** Mean vectors of pages, minus the mean of their language; otherwise all pages of a language would be alike. */

import { longer } from '../structures/longer.ts';
import { meanPageVector } from './pool-vectors.ts';

/** Rows of unit length, one after another. */
export interface VectorTable {
  rows: Float32Array;
  count: number;
  dim: number;
}

/** Chunk vectors of some pages, page by page. */
export interface ChunkRows {
  counts: readonly number[];
  rows: Float32Array;
  /** Language of each page, ISO 639-1; '' if unknown. */
  languages: readonly string[];
}

/** Min pages of a language with a mean of its own. Other languages share the mean of all pages. */
const leastPages = 20;
/** A centred vector of a smaller squared length is rounding noise: copies of one page are alike, not zero. */
const noDifference = 1e-9;

export class PageVectors {
  readonly #dim: number;
  readonly #languages: string[] = [];
  #rows: Float32Array;

  constructor(dim: number) {
    this.#dim = dim;
    this.#rows = new Float32Array(1024 * dim);
  }

  /** Add pages. Returns for each page whether it has a vector. */
  add({ counts, rows, languages }: ChunkRows): boolean[] {
    const dim = this.#dim;
    let at = 0;
    return counts.map((count, page) => {
      const vector = meanPageVector(rows.subarray(at * dim, (at + count) * dim), dim);
      at += count;
      if (vector === null) return false;
      const to = this.#languages.length * dim;
      if (to === this.#rows.length) this.#rows = longer(this.#rows, 2 * to);
      this.#rows.set(vector, to);
      this.#languages.push(languages[page]);
      return true;
    });
  }

  /** The pages that have a vector, centred. Ends the use of this object: its memory is reused. */
  centred(): VectorTable {
    const dim = this.#dim;
    const count = this.#languages.length;
    const rows = this.#rows.subarray(0, count * dim);
    const sizes = new Map<string, number>();
    for (const language of this.#languages) sizes.set(language, (sizes.get(language) ?? 0) + 1);
    const groupOf = (page: number) =>
      (sizes.get(this.#languages[page]) ?? 0) < leastPages ? '' : this.#languages[page];
    const sums = new Map<string, { pages: number; sum: Float64Array }>();
    const all = { pages: 0, sum: new Float64Array(dim) };
    for (let page = 0; page < count; page++) {
      const own = sums.get(groupOf(page)) ?? { pages: 0, sum: new Float64Array(dim) };
      sums.set(groupOf(page), own);
      for (const each of [own, all]) {
        each.pages++;
        for (let i = 0; i < dim; i++) each.sum[i] += rows[page * dim + i];
      }
    }
    sums.set('', all);
    for (let page = 0; page < count; page++) {
      const { pages, sum } = sums.get(groupOf(page)) ?? all;
      const at = page * dim;
      let squares = 0;
      for (let i = 0; i < dim; i++) squares += (rows[at + i] - sum[i] / pages) ** 2;
      if (squares < noDifference) continue;
      const scale = 1 / Math.sqrt(squares);
      for (let i = 0; i < dim; i++) rows[at + i] = (rows[at + i] - sum[i] / pages) * scale;
    }
    return { rows, count, dim };
  }
}
