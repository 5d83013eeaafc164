/**
 * The page vectors of one embedding model, kept as a vector space of their own: the pooled vector of a page's chunks under the
 * page's first label. That label names this content for ever, so content that is indexed again gets a new entry, and
 * recovery is set difference as for chunks: a page comes in when all its chunks have vectors, and its vector stays the same from then on.
 * The truth are the chunk vectors in the store.
 * Owned by the indexes; one row a page, so that near pages are found in a fraction of the time that the chunks would take.
 */
import { meanPageVector } from '../compute/embedding/pool-vectors.ts';
import { addBit, type Bitmap, createBitmap } from '../compute/structures/bitmap.ts';
import type { ScoredLabels } from '../compute/structures/top-k.ts';
import { VectorSpace, type VectorSpaceOptions } from '../engine/vectors/vector-space.ts';
import type { StoreReader } from '../store/store.ts';
import type { Catalog } from './catalog.ts';

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
  /** Further pages that are not wanted. */
  except?: readonly number[];
  /** Only pages whose labels are in it. */
  allow?: Bitmap;
  minScore?: number;
  signal?: AbortSignal | undefined;
}

/** Numbers of chunk vectors that are read before others get their turn: 3 ms. */
const sliceNumbers = 1024 * 1024;
/** A page of more numbers has its vector kept once it was made: one of 12 MB takes 40 ms to read and add up. */
const longPage = 128 * 1024;
/** So many, the latest used: 1 MB of 1,024 dimensions. */
const keptVectors = 256;
/** Pages whose nearest are kept until any page comes or goes: some hundred bytes each. */
const keptNearest = 4096;

/** What is nearest to pages, as of one state of the space. */
interface KeptNearest {
  k: number;
  minScore: number | undefined;
  /** By first label. */
  lists: Map<number, ScoredLabels<Float32Array>>;
}

export class PageSpace {
  readonly #options: PageSpaceOptions;
  readonly #space: VectorSpace;
  #recovering: Promise<void> = Promise.resolve();
  #closing = false;
  /** Vectors of long pages by their first labels, the latest used last. */
  readonly #kept = new Map<number, Float32Array>();
  /** Null where pages are coming or going. */
  #nearest: KeptNearest | null = null;
  #changing = 0;
  /** Rows of the files that were not live when they were loaded. */
  dropped = 0;

  private constructor(options: PageSpaceOptions, space: VectorSpace) {
    this.#options = options;
    this.#space = space;
  }

  /** Load the space; missing pages are restored in the background. Errors: as of VectorSpace.open. */
  static async open(options: PageSpaceOptions): Promise<PageSpace> {
    const { reader, catalog, vectors, ...spaceOptions } = options;
    const live = createBitmap(catalog.labelEnd);
    const begun = reader.backfills.begunIn(vectors);
    for (const no of reader.vectors.pageNumbers(vectors)) {
      const range = catalog.labelsOf(no);
      if (range.count > 0 && catalog.isFlushed(range) && !begun.has(no)) addBit(live, range.first);
    }
    let lost: (labels: Uint32Array) => void = () => {};
    const opened = await VectorSpace.open({ ...spaceOptions, onMissing: (labels) => lost(labels) }, live);
    const pages = new PageSpace(options, opened.space);
    pages.dropped = opened.dropped;
    lost = (labels) => pages.#recover(labels);
    pages.#recover(opened.missing);
    return pages;
  }

  /** Add pages that have all vectors in the store, named by the first labels of their chunks. */
  async add(firstLabels: readonly number[]): Promise<void> {
    for (const label of firstLabels) this.#kept.delete(label);
    // Chunks that were refused have their vectors only now: files with the page's old vector must not outlast a crash.
    const replaced = firstLabels.filter((label) => this.#space.holds(label));
    if (replaced.length > 0) await this.remove(replaced);
    await this.#addFromStore(firstLabels);
    if (replaced.length > 0) await this.save();
  }

  /** Remove pages, named by the first labels of their chunks. */
  async remove(firstLabels: readonly number[]): Promise<void> {
    for (const label of firstLabels) this.#kept.delete(label);
    await this.#change(() => this.#space.remove(firstLabels));
  }

  /** The nearest pages, best first; none where no page asked about has a vector. */
  async near({ page_nos, k, except = [], allow, minScore, signal }: NearRequest): Promise<NearPage[]> {
    const { dim, catalog } = this.#options;
    const vectors: Float32Array[] = [];
    for (const no of page_nos) {
      const vector = await this.#vectorOf(no);
      if (vector !== null) vectors.push(vector);
    }
    const query = vectors.length === 0 ? null : meanPageVector(joined(vectors, dim), dim);
    if (query === null) return [];
    const unwanted = new Set([...page_nos, ...except]);
    const found = await this.#space.search(query, k + unwanted.size, {
      signal,
      ...(allow === undefined ? {} : { allow }),
      ...(minScore === undefined ? {} : { minScore }),
    });
    return Array.from(found.labels, (label, i) => ({ page_no: catalog.pageOf(label), score: found.scores[i] }))
      .filter(({ page_no }) => page_no !== 0 && !unwanted.has(page_no))
      .slice(0, k);
  }

  /** For each of the pages the `k` nearest to it, best first, in one trip to the threads. */
  async nearEach({ page_nos, k, allow, minScore, signal }: Omit<NearRequest, 'except'>): Promise<NearPage[][]> {
    const { catalog } = this.#options;
    const kept = allow === undefined ? this.#keptNearest(k, minScore) : null;
    const lists = new Map<number, ScoredLabels<Float32Array>>();
    const vectors = new Map<number, Float32Array>();
    for (const no of page_nos) {
      const label = catalog.labelsOf(no).first;
      const known = kept?.lists.get(label);
      if (known !== undefined) {
        lists.set(label, known);
        continue;
      }
      const vector = await this.#vectorOf(no);
      if (vector !== null) vectors.set(label, vector);
    }
    if (vectors.size > 0) {
      const found = await this.#space.searchEach(
        [...vectors.values()],
        k + 1, // the page itself
        { signal, ...(allow && { allow }), ...(minScore !== undefined && { minScore }) },
      );
      for (const [at, label] of [...vectors.keys()].entries()) {
        lists.set(label, found[at]);
        if (kept !== null && kept === this.#nearest && kept.lists.size < keptNearest) kept.lists.set(label, found[at]);
      }
    }
    return page_nos.map((page) => {
      const near = lists.get(catalog.labelsOf(page).first);
      if (near === undefined) return [];
      return Array.from(near.labels, (label, i) => ({ page_no: catalog.pageOf(label), score: near.scores[i] }))
        .filter(({ page_no }) => page_no !== 0 && page_no !== page)
        .slice(0, k);
    });
  }

  /** What is known of the present state; null where it is changing. */
  #keptNearest(k: number, minScore: number | undefined): KeptNearest | null {
    if (this.#changing > 0) return null;
    const kept = this.#nearest;
    if (kept?.k === k && kept.minScore === minScore && kept.lists.size < keptNearest) return kept;
    this.#nearest = { k, minScore, lists: new Map() };
    return this.#nearest;
  }

  /** Have pages come or go: what is nearest to the others may be different then. */
  async #change(work: () => Promise<void>): Promise<void> {
    this.#nearest = null;
    this.#changing++;
    try {
      await work();
    } finally {
      this.#changing--;
    }
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

  /** The rows of a page are read on this thread: of several long pages others get their turn in between. */
  async #vectorOf(pageNo: number): Promise<Float32Array | null> {
    const { first } = this.#options.catalog.labelsOf(pageNo);
    const kept = this.#kept.get(first);
    if (kept !== undefined) {
      this.#keep(first, kept);
      return kept;
    }
    const made = this.#makeVector(pageNo);
    if (made === null || made.numbers <= longPage) return made?.vector ?? null;
    this.#keep(first, made.vector);
    await new Promise(setImmediate);
    return made.vector;
  }

  #makeVector(pageNo: number): { vector: Float32Array; numbers: number } | null {
    const { reader, vectors, dim } = this.#options;
    const rows = reader.vectors.get(vectors, pageNo);
    const vector = rows === undefined ? null : meanPageVector(rows, dim);
    return rows === undefined || vector === null ? null : { vector, numbers: rows.length };
  }

  #keep(first: number, vector: Float32Array): void {
    this.#kept.delete(first);
    this.#kept.set(first, vector);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptVectors) this.#kept.delete(oldest);
  }

  #recover(labels: Uint32Array): void {
    this.#recovering = this.#recovering
      .then(() => this.#addFromStore(labels))
      .catch((error) => {
        this.#options.log.error({ err: error, pages: labels.length }, 'page vectors could not be brought back');
      });
  }

  async #addFromStore(labels: ArrayLike<number>): Promise<void> {
    const { catalog, dim } = this.#options;
    for (let at = 0; at < labels.length && !this.#closing; ) {
      const kept: number[] = [];
      const rows: Float32Array[] = [];
      for (let read = 0; at < labels.length && read < sliceNumbers; at++) {
        const made = this.#makeVector(catalog.pageOf(labels[at]));
        read += made?.numbers ?? dim;
        if (made === null) continue;
        kept.push(labels[at]);
        rows.push(made.vector);
      }
      if (kept.length > 0) await this.#change(() => this.#space.add(Uint32Array.from(kept), joined(rows, dim)));
      await new Promise(setImmediate);
    }
  }
}

function joined(vectors: readonly Float32Array[], dim: number): Float32Array {
  const rows = new Float32Array(vectors.length * dim);
  for (const [row, vector] of vectors.entries()) rows.set(vector, row * dim);
  return rows;
}
