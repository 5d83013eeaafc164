/**
 * The page vectors of one embedding model, kept as a vector space of their own: the pooled vector of a page's chunks under the
 * page's first label. That label names this content for ever, so that content which is indexed anew gets a new entry, and
 * recovery is set difference as for chunks. The truth are the chunk vectors in the store; nothing here is stored beside them.
 * Owned by the indexes; one row a page, so that near pages are found in a fraction of the time that the chunks would take.
 */
import { meanPageVector } from '../compute/embedding/pool-vectors.ts';
import { addLabel, createLabelSet, type LabelSet } from '../compute/structures/label-set.ts';
import type { LabelRange } from '../domain/page.ts';
import type { StoreReader } from '../store/store.ts';
import type { Catalog } from './catalog.ts';
import { VectorSpace, type VectorSpaceOptions } from './vector-space.ts';

export interface PageSpaceOptions extends Omit<VectorSpaceOptions, 'onMissing'> {
  reader: StoreReader;
  catalog: Catalog;
  /** Number of the model's vectors in the store. */
  vectors: number;
}

export interface NearPage {
  page_no: number;
  /** Cosine of the page vectors. */
  score: number;
}

export interface NearRequest {
  /** The pages to be near to: to the mean of their vectors. */
  page_nos: readonly number[];
  k: number;
  /** Pages that are not wanted, beside those above. */
  except?: readonly number[];
  /** Only pages whose labels are in it. */
  allow?: LabelSet;
  minScore?: number;
}

/** Pages whose vectors are made before others get their turn: a millisecond or two. */
const slicePages = 32;

export class PageSpace {
  readonly #options: PageSpaceOptions;
  readonly #space: VectorSpace;
  #recovering: Promise<void> = Promise.resolve();
  #closing = false;
  /** Rows of the files that were not live when they were loaded. */
  dropped = 0;

  private constructor(options: PageSpaceOptions, space: VectorSpace) {
    this.#options = options;
    this.#space = space;
  }

  /** Load the space; pages that it lacks are brought back beside whatever comes next. Errors: as of VectorSpace.open. */
  static async open(options: PageSpaceOptions): Promise<PageSpace> {
    const { reader, catalog, vectors, ...spaceOptions } = options;
    const live = createLabelSet(catalog.labelEnd);
    for (const no of reader.vectors.pageNumbers(vectors)) {
      const range = catalog.labelsOf(no);
      if (range.count > 0 && catalog.isFlushed(range)) addLabel(live, range.first);
    }
    let lost: (labels: Uint32Array) => void = () => {};
    const opened = await VectorSpace.open({ ...spaceOptions, onMissing: (labels) => lost(labels) }, live);
    const pages = new PageSpace(options, opened.space);
    pages.dropped = opened.dropped;
    lost = (labels) => pages.#recover(labels);
    pages.#recover(opened.missing);
    return pages;
  }

  /** Take in pages. Shapes: labels of the chunks of each; rows of all their chunks, page by page. */
  async add(pages: readonly LabelRange[], rows: Float32Array): Promise<void> {
    const { dim } = this.#options;
    const labels: number[] = [];
    const vectors: Float32Array[] = [];
    let row = 0;
    for (const { first, count } of pages) {
      const vector = meanPageVector(rows.subarray(row * dim, (row + count) * dim), dim);
      row += count;
      if (vector === null) continue;
      labels.push(first);
      vectors.push(vector);
    }
    // A page that has a vector already gets another one: chunks of it have theirs only now.
    const known = labels.filter((label) => this.#space.holds(label));
    if (known.length > 0) await this.#space.remove(known);
    if (labels.length > 0) await this.#space.add(Uint32Array.from(labels), joined(vectors, dim));
  }

  /** Let go of pages, named by the first labels of their chunks. */
  async remove(firstLabels: readonly number[]): Promise<void> {
    await this.#space.remove(firstLabels);
  }

  /** The nearest pages, best first; none where no page asked about has a vector. */
  async near({ page_nos, k, except = [], allow, minScore }: NearRequest): Promise<NearPage[]> {
    const { dim, catalog } = this.#options;
    const vectors = page_nos.flatMap((no) => this.#vectorOf(no) ?? []);
    const query = vectors.length === 0 ? null : meanPageVector(joined(vectors, dim), dim);
    if (query === null) return [];
    const unwanted = new Set([...page_nos, ...except]);
    const found = await this.#space.search(query, k + unwanted.size, {
      ...(allow === undefined ? {} : { allow }),
      ...(minScore === undefined ? {} : { minScore }),
    });
    return Array.from(found.labels, (label, i) => ({ page_no: catalog.pageOf(label), score: found.scores[i] }))
      .filter(({ page_no }) => page_no !== 0 && !unwanted.has(page_no))
      .slice(0, k);
  }

  /** Resolves when nothing is being brought back. */
  async settled(): Promise<void> {
    await this.#recovering;
  }

  save(): Promise<void> {
    return this.#space.save();
  }

  /** No byte of a removed page's vector stays in memory or on disk. */
  purge(): Promise<void> {
    return this.#space.purge();
  }

  saveIfWorthIt(): Promise<void> {
    return this.#space.saveIfWorthIt();
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#recovering;
    await this.#space.close();
  }

  /** Close without saving and delete the files. */
  async drop(): Promise<void> {
    this.#closing = true;
    await this.#recovering;
    await this.#space.drop();
  }

  #vectorOf(pageNo: number): Float32Array | null {
    const { reader, vectors, dim } = this.#options;
    const rows = reader.vectors.get(vectors, pageNo);
    return rows === undefined ? null : meanPageVector(rows, dim);
  }

  #recover(labels: Uint32Array): void {
    this.#recovering = this.#recovering
      .then(() => this.#addAgain(labels))
      .catch((error) => {
        this.#options.log.error({ err: error, pages: labels.length }, 'page vectors could not be brought back');
      });
  }

  async #addAgain(labels: Uint32Array): Promise<void> {
    const { catalog, dim } = this.#options;
    for (let at = 0; at < labels.length && !this.#closing; at += slicePages) {
      const kept: number[] = [];
      const rows: Float32Array[] = [];
      for (const label of labels.subarray(at, at + slicePages)) {
        const vector = this.#vectorOf(catalog.pageOf(label));
        if (vector === null) continue;
        kept.push(label);
        rows.push(vector);
      }
      if (kept.length > 0) await this.#space.add(Uint32Array.from(kept), joined(rows, dim));
      await new Promise(setImmediate);
    }
  }
}

function joined(vectors: readonly Float32Array[], dim: number): Float32Array {
  const rows = new Float32Array(vectors.length * dim);
  for (const [row, vector] of vectors.entries()) rows.set(vector, row * dim);
  return rows;
}
