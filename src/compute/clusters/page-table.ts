/**
 * The vectors of a run's pages as they come in: pooled, then kept along the strongest axes only, so that 50,000 pages take some
 * 25 MB whatever the model's dimension is. The axes are learned from a sample that comes first.
 * What the pages of a language have in common is taken off: a model that knows another language little sees little but the language,
 * and all of its pages would be one topic.
 */
import { meanPageVector } from '../embedding/pool-vectors.ts';
import { longer } from '../structures/longer.ts';
import { detectLanguage } from '../text/detect-language.ts';
import { comparedAxes } from './cluster-pages.ts';
import type { VectorTable } from './page-vectors.ts';
import { type PrincipalAxes, principalAxes, projectRow } from './principal-axes.ts';

/** Chunk vectors of some pages, page by page. */
export interface ChunkRows {
  /** Number of chunks of each page. */
  counts: readonly number[];
  rows: Float32Array;
  /** How each page's text begins: its language is told by it. */
  openings: readonly string[];
}

/** Pages of a language in the sample from which on they have a mean of their own. */
const leastPages = 5;

export class PageTable {
  readonly #axes: PrincipalAxes;
  /** By language: its mean less that of all pages. */
  readonly #offsets: ReadonlyMap<string, Float32Array>;
  #rows: Float32Array;
  #count = 0;

  /** Learn the axes from a sample of pages; at least one of them with a vector. */
  constructor(sample: readonly ChunkRows[], dim: number) {
    const pages = sample.flatMap((each) => [...pooled(each, dim)]).filter(({ vector }) => vector !== null);
    this.#offsets = offsetsOf(pages, dim);
    const rows = new Float32Array(pages.length * dim);
    for (const [row, page] of pages.entries()) rows.set(this.#withoutLanguage(page) ?? [], row * dim);
    this.#axes = principalAxes({ rows, count: pages.length, dim }, comparedAxes);
    this.#rows = new Float32Array(1024 * this.#axes.count);
  }

  /** Take in pages; for each whether it has a vector and is in the table now. */
  add(pages: ChunkRows): boolean[] {
    const { dim, count: axes } = this.#axes;
    return [...pooled(pages, dim)].map((page) => {
      const vector = this.#withoutLanguage(page);
      if (vector === null) return false;
      if ((this.#count + 1) * axes > this.#rows.length) this.#rows = longer(this.#rows, this.#rows.length * 2);
      if (!projectRow(this.#axes, vector, this.#rows, this.#count * axes)) return false;
      this.#count++;
      return true;
    });
  }

  #withoutLanguage({ vector, language }: PooledPage): Float32Array | null {
    const offset = this.#offsets.get(language);
    return vector === null || offset === undefined ? vector : vector.map((value, i) => value - offset[i]);
  }

  get vectors(): VectorTable {
    const { count: dim } = this.#axes;
    return { rows: this.#rows.subarray(0, this.#count * dim), count: this.#count, dim };
  }
}

interface PooledPage {
  vector: Float32Array | null;
  language: string;
}

function* pooled({ counts, rows, openings }: ChunkRows, dim: number): Generator<PooledPage> {
  let at = 0;
  for (const [page, count] of counts.entries()) {
    yield {
      vector: meanPageVector(rows.subarray(at * dim, (at + count) * dim), dim),
      language: detectLanguage(openings[page]),
    };
    at += count;
  }
}

function offsetsOf(pages: readonly PooledPage[], dim: number): Map<string, Float32Array> {
  const mean = meanOf(pages, dim);
  const offsets = new Map<string, Float32Array>();
  for (const language of new Set(pages.map((page) => page.language))) {
    const ofLanguage = pages.filter((page) => page.language === language);
    if (ofLanguage.length < leastPages || ofLanguage.length === pages.length) continue;
    offsets.set(
      language,
      meanOf(ofLanguage, dim).map((value, i) => value - mean[i]),
    );
  }
  return offsets;
}

function meanOf(pages: readonly PooledPage[], dim: number): Float32Array {
  const mean = new Float32Array(dim);
  for (const { vector } of pages)
    vector?.forEach((value, i) => {
      mean[i] += value / pages.length;
    });
  return mean;
}
