/**
 * The directions in which the words of pages differ most: what a model of word vectors mixes up, as two subjects with one vocabulary of everyday
 * words, the pages' own words often tell apart. Learned from a sample of pages, as their vectors' axes are.
 * Source: latent semantic analysis (Deerwester et al. 1990), by subspace iteration (Halko, Martinsson & Tropp 2011).
 */
import { seededRandom } from '../seeded-random.ts';
import { normalizeRow } from './page-vectors.ts';
import { orthonormalize } from './principal-axes.ts';

/** What a page's beginning says. */
export interface PageWords {
  /** Times of each term. */
  terms: ReadonlyMap<string, number>;
  /** ISO 639-1 code, '' where it is not known. */
  language: string;
}

/** A term on fewer pages of the sample relates no two of them. */
const leastPages = 3;
/** One on a larger share of the pages of a language tells of the language, if there are enough of them to say so. */
const mostOfLanguage = 0.2;
const leastOfLanguage = leastPages / mostOfLanguage;
const rounds = 5;
const seed = 7;

/** Terms of a page by number, with weights of unit length. */
interface Weighted {
  terms: number[];
  weights: number[];
}

export class WordAxes {
  readonly count: number;
  readonly #numbers = new Map<string, number>();
  readonly #idf: number[] = [];
  /** A row for each term. */
  readonly #axes: Float32Array;

  /** The `most` strongest axes of a sample, or as many as it has; none where its pages have no words in common. */
  constructor(sample: readonly PageWords[], most: number) {
    for (const [term, pages] of tellingTerms(sample)) {
      this.#numbers.set(term, this.#numbers.size);
      this.#idf.push(Math.log(sample.length / pages));
    }
    const pages = sample.map((page) => this.#weigh(page));
    this.count = Math.min(most, this.#idf.length, Math.max(0, sample.length - 1));
    this.#axes = strongestAxes(pages, this.#idf.length, this.count);
  }

  /** A page along the axes, of unit length, into target[to .. to + count), zeros where it has no known term; gives how many it has. */
  project(page: PageWords, target: Float32Array, to: number): number {
    const weighted = this.#weigh(page);
    addRow(weighted, this.#axes, this.count, target.fill(0, to, to + this.count), to);
    normalizeRow(target, to, this.count);
    return weighted.terms.length;
  }

  #weigh({ terms }: PageWords): Weighted {
    const weighted: Weighted = { terms: [], weights: [] };
    let squares = 0;
    for (const [term, times] of terms) {
      const number = this.#numbers.get(term);
      if (number === undefined) continue;
      const weight = (1 + Math.log(times)) * this.#idf[number];
      weighted.terms.push(number);
      weighted.weights.push(weight);
      squares += weight ** 2;
    }
    const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
    weighted.weights = weighted.weights.map((weight) => weight * scale);
    return weighted;
  }
}

/** The terms that relate pages, with the number of pages that have them. */
function tellingTerms(sample: readonly PageWords[]): Map<string, number> {
  const all = pagesByTerm(sample);
  for (const language of new Set(sample.map((page) => page.language))) {
    const pages = sample.filter((page) => page.language === language);
    if (pages.length < leastOfLanguage) continue;
    for (const [term, count] of pagesByTerm(pages)) if (count > mostOfLanguage * pages.length) all.delete(term);
  }
  for (const [term, count] of all) if (count < leastPages) all.delete(term);
  return all;
}

function pagesByTerm(pages: readonly PageWords[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { terms } of pages) for (const term of terms.keys()) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/** terms × count, orthonormal columns that span the strongest directions of the pages. */
function strongestAxes(pages: readonly Weighted[], terms: number, count: number): Float32Array {
  const random = seededRandom(seed);
  let axes = settled(
    Float32Array.from({ length: terms * count }, () => random() - 0.5),
    terms,
    count,
  );
  const along = new Float32Array(count);
  for (let round = 0; round < rounds; round++) {
    const next = new Float32Array(terms * count);
    for (const page of pages) {
      addRow(page, axes, count, along.fill(0), 0);
      for (const [at, term] of page.terms.entries()) {
        const weight = page.weights[at];
        for (let axis = 0, to = term * count; axis < count; axis++, to++) next[to] += weight * along[axis];
      }
    }
    axes = settled(next, terms, count);
  }
  return axes;
}

/** The same directions, orthonormal. */
function settled(axes: Float32Array, terms: number, count: number): Float32Array {
  const byAxis = transposed(axes, terms, count);
  orthonormalize(byAxis, count, terms);
  return transposed(byAxis, count, terms);
}

function transposed(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(matrix.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) turned[column * rows + row] = matrix[row * columns + column];
  return turned;
}

/** Add what a page is along each axis. */
function addRow(
  { terms, weights }: Weighted,
  axes: Float32Array,
  count: number,
  target: Float32Array,
  to: number,
): void {
  for (const [at, term] of terms.entries()) {
    const weight = weights[at];
    for (let axis = 0, from = term * count; axis < count; axis++, from++) target[to + axis] += weight * axes[from];
  }
}
