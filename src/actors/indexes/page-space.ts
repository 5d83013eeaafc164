/** Page vectors of a model: the mean of a page's chunk vectors, stored under the first label of its current content. */
import { joinedRows, meanPageVector } from '../../compute/embedding/pool-vectors.ts';
import { addBit, createBitmap } from '../../compute/structures/bitmap.ts';
import { type SpaceSearchOptions, VectorSpace, type VectorSpaceOptions } from '../../engine/vectors/vector-space.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Catalog } from './catalog.ts';

export interface PageSpaceOptions extends VectorSpaceOptions {
  reader: StoreReader;
  catalog: Catalog;
  /** The model's space number in the store. */
  vectors: number;
}

export interface NearPage {
  page_no: number;
  /** Cosine of the page vectors. */
  score: number;
}

/** `allow`: only pages whose labels are in it. */
export interface NearRequest extends SpaceSearchOptions {
  /** The result is near the mean of these pages' vectors. */
  page_nos: readonly number[];
  k: number;
  except?: readonly number[];
}

export interface RelatedRequest extends NearRequest {
  /** Two pages are related if each is among the `few` nearest of the other. */
  few: number;
}

export interface RelatedPage extends NearPage {
  /** The page it is related to. */
  to: number;
}

/** Numbers of chunk vectors read per turn of the event loop: 3 ms. */
const sliceNumbers = 1024 * 1024;

export type PageSpace = Awaited<ReturnType<typeof openPageSpace>>;

/** Load the space. Missing pages are restored in the background. Errors: as of VectorSpace.open. */
export async function openPageSpace(options: PageSpaceOptions) {
  const { reader, catalog, vectors, ...spaceOptions } = options;
  const { dim, log } = spaceOptions;
  const live = createBitmap(catalog.labelEnd);
  const begun = reader.backfills.begunIn(vectors);
  for (const no of reader.vectors.pageNumbers(vectors)) {
    const range = catalog.labelsOf(no);
    if (range.count > 0 && catalog.isFlushed(range) && !begun.has(no)) addBit(live, range.first);
  }
  const { space, missing, dropped } = await VectorSpace.open(spaceOptions, live);
  let isClosing = false;

  const addFromStore = async (labels: ArrayLike<number>): Promise<void> => {
    for (let at = 0; at < labels.length && !isClosing; ) {
      const kept: number[] = [];
      const means: Float32Array[] = [];
      for (let read = 0; at < labels.length && read < sliceNumbers; at++) {
        const rows = reader.vectors.get(vectors, catalog.pageOf(labels[at]));
        const mean = rows === undefined ? null : meanPageVector(rows, dim);
        read += rows?.length ?? dim;
        if (mean === null) continue;
        kept.push(labels[at]);
        means.push(mean);
      }
      if (kept.length > 0) await space.add(Uint32Array.from(kept), joinedRows(means));
      await new Promise(setImmediate);
    }
  };
  const recovering = addFromStore(missing).catch((error) => {
    log.error({ err: error, pages: missing.length }, 'page vectors could not be restored');
  });
  const labelsOf = (pages: readonly number[]) => Uint32Array.from(pages, (no) => catalog.labelsOf(no).first);

  return {
    /** Rows of the files that were dead when the files were loaded. */
    dropped,
    /** Add pages that have all vectors in the store, named by the first labels of their chunks. */
    async add(firstLabels: readonly number[]): Promise<void> {
      // A page with refused chunks gets vectors only now. No file with its old vector may survive a crash.
      const replaced = firstLabels.filter((label) => space.holds(label));
      if (replaced.length > 0) {
        await space.leaveGraph();
        space.remove(replaced);
      }
      await addFromStore(firstLabels);
      if (replaced.length > 0) await space.save();
    },
    remove: (firstLabels: readonly number[]) => space.remove(firstLabels),
    /** The nearest pages, best first; none if none of the given pages has a vector. */
    async near({ page_nos, k, except = [], ...among }: NearRequest): Promise<NearPage[]> {
      const unwanted = new Set([...page_nos, ...except]);
      const found = await space.search(labelsOf(page_nos), k + unwanted.size, among);
      return Array.from(found.labels, (label, i) => ({ page_no: catalog.pageOf(label), score: found.scores[i] }))
        .filter(({ page_no }) => page_no !== 0 && !unwanted.has(page_no))
        .slice(0, k);
    },
    /** Pages related to at least one of these pages, best first. */
    async related({ page_nos, except = [], ...request }: RelatedRequest): Promise<RelatedPage[]> {
      const found = await space.related({ ...request, to: labelsOf(page_nos), except: new Set(labelsOf(except)) });
      return found
        .map(({ label, to, score }) => ({ page_no: catalog.pageOf(label), to: catalog.pageOf(to), score }))
        .filter(({ page_no, to }) => page_no !== 0 && to !== 0);
    },
    settled: () => recovering,
    save: () => space.save(),
    /** No byte of a removed page's vector stays in memory or on disk. */
    purge: () => space.purge(),
    saveIfWorthIt: () => space.saveIfWorthIt(),
    async close(): Promise<void> {
      isClosing = true;
      await recovering;
      await space.close();
    },
    async drop(): Promise<void> {
      isClosing = true;
      await recovering;
      await space.drop();
    },
  };
}
