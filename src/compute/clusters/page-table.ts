/**
 * The vectors of a run's pages as they come in: pooled, then kept along the strongest axes only, so that 50,000 pages take some
 * 50 MB whatever the model's dimension is. The axes are learned from a sample that comes first. Beside them a page has axes of its own words, the
 * more of its length the more words it begins with.
 * What the pages of a language have in common is taken off: a model that knows another language little sees little but the language,
 * and all of its pages would be one topic.
 */
import { meanPageVector } from '../embedding/pool-vectors.ts';
import { longer } from '../structures/longer.ts';
import { detectLanguage } from '../text/detect-language.ts';
import { comparedAxes } from './cluster-pages.ts';
import type { KeywordTermsOf } from './keyword-terms.ts';
import type { VectorTable } from './page-vectors.ts';
import { type PrincipalAxes, principalAxes, projectRow } from './principal-axes.ts';
import { type PageWords, WordAxes } from './word-axes.ts';

/** Chunk vectors of some pages, page by page. */
export interface ChunkRows {
  /** Number of chunks of each page. */
  counts: readonly number[];
  rows: Float32Array;
  /** How each page begins: its language is told by it, and its words are compared. */
  openings: readonly string[];
}

/** Pages of a language in the sample from which on they have a mean of their own, and are compared with each other alone. */
const leastPages = 5;

/** Share of a page's squared length that its words have, if it has many, and how many of them have half of that (bench/results/2026-11-topics.md). */
const wordShare = 0.7;
const halfWords = 30;

export class PageTable {
  readonly #axes: PrincipalAxes;
  readonly #words: WordAxes;
  readonly #termsOf: KeywordTermsOf;
  /** By language: its mean less that of all pages. */
  readonly #offsets: ReadonlyMap<string, Float32Array>;
  #rows: Float32Array;
  #count = 0;
  readonly #languages: number[] = [];
  readonly #numbers = new Map<string, number>();

  /** Learn the axes from a sample of pages; at least one of them with a vector. */
  constructor(sample: readonly ChunkRows[], dim: number, termsOf: KeywordTermsOf) {
    this.#termsOf = termsOf;
    const pages = sample.flatMap((each) => [...this.#pooled(each, dim)]).filter(({ vector }) => vector !== null);
    this.#offsets = offsetsOf(pages, dim);
    const rows = new Float32Array(pages.length * dim);
    for (const [row, page] of pages.entries()) rows.set(this.#withoutLanguage(page) ?? [], row * dim);
    this.#axes = principalAxes({ rows, count: pages.length, dim }, comparedAxes);
    this.#words = new WordAxes(pages, comparedAxes);
    this.#rows = new Float32Array(1024 * this.#length);
  }

  /** Take in pages; for each whether it has a vector and is in the table now. */
  add(pages: ChunkRows): boolean[] {
    return [...this.#pooled(pages, this.#axes.dim)].map((page) => {
      const vector = this.#withoutLanguage(page);
      if (vector === null) return false;
      const to = this.#count * this.#length;
      if (to + this.#length > this.#rows.length) this.#rows = longer(this.#rows, this.#rows.length * 2);
      if (!projectRow(this.#axes, vector, this.#rows, to)) return false;
      this.#addWords(page, to);
      this.#count++;
      this.#languages.push(this.#numberOf(this.#offsets.has(page.language) ? page.language : ''));
      return true;
    });
  }

  /** Numbers of a row. */
  get #length(): number {
    return this.#axes.count + this.#words.count;
  }

  /** Put a page's words beside its vector, in the row from `to` on. */
  #addWords(page: PageWords, to: number): void {
    const { count } = this.#axes;
    const words = this.#words.project(page, this.#rows, to + count);
    const share = (wordShare * words) / (words + halfWords);
    for (let i = 0; i < this.#length; i++) this.#rows[to + i] *= Math.sqrt(i < count ? 1 - share : share);
  }

  #numberOf(language: string): number {
    const number = this.#numbers.get(language) ?? this.#numbers.size;
    this.#numbers.set(language, number);
    return number;
  }

  #withoutLanguage({ vector, language }: PooledPage): Float32Array | null {
    const offset = this.#offsets.get(language);
    return vector === null || offset === undefined ? vector : vector.map((value, i) => value - offset[i]);
  }

  get vectors(): VectorTable {
    const dim = this.#length;
    const table = { rows: this.#rows.subarray(0, this.#count * dim), count: this.#count, dim };
    return this.#numbers.size > 1 ? { ...table, languages: Uint16Array.from(this.#languages) } : table;
  }

  *#pooled({ counts, rows, openings }: ChunkRows, dim: number): Generator<PooledPage> {
    let at = 0;
    for (const [page, count] of counts.entries()) {
      const vector = meanPageVector(rows.subarray(at * dim, (at + count) * dim), dim);
      at += count;
      const language = detectLanguage(openings[page]);
      // Pages are compared within a language, and what is common in one need not be in another.
      const terms = new Map<string, number>();
      for (const { key } of this.#termsOf(openings[page], language))
        if (!key.includes(' ')) terms.set(`${language} ${key}`, (terms.get(`${language} ${key}`) ?? 0) + 1);
      yield { vector, language, terms };
    }
  }
}

interface PooledPage extends PageWords {
  vector: Float32Array | null;
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
