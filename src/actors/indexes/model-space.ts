/**
 * One embedding model in the index: vectors of chunks and pages, and their recovery. The store's chunk vectors are the truth, so an
 * unused model need not be in memory: opened later, it catches up from its files and the store.
 */
import { join } from 'node:path';
import { addBitRange, type Bitmap, createBitmap } from '../../compute/structures/bitmap.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import type { LabelRange } from '../../domain/page.ts';
import type { IndexLog } from '../../engine/index-log.ts';
import type { Searchers } from '../../engine/searchers.ts';
import type { Graphs } from '../../engine/vectors/space-graph.ts';
import { type RowTasks, VectorSpace } from '../../engine/vectors/vector-space.ts';
import type { StoreReader } from '../../store/store.ts';
import type { SharedPool } from '../../threads/thread-pool.ts';
import type { Catalog } from './catalog.ts';
import { openPageSpace } from './page-space.ts';
import { indexRecovery } from './recover-index.ts';

export interface ModelSpaceOptions {
  dir: string;
  storeId: string;
  reader: StoreReader;
  catalog: Catalog;
  searchers: Searchers;
  worker: SharedPool<RowTasks>;
  graphs?: Graphs | null;
  log: IndexLog;
  /** Called before files become valid, so the mark covers their labels. */
  noteLabels?: () => Promise<void>;
}

export function spaceFolders(dir: string, space: number): { chunks: string; pages: string } {
  return { chunks: join(dir, 'dense', String(space)), pages: join(dir, 'pages', String(space)) };
}

export type ModelSpace = Awaited<ReturnType<typeof openModelSpace>>;

/** Load a model's files. Errors: as of VectorSpace.open. */
export async function openModelSpace(model: EmbeddingModel, options: ModelSpaceOptions) {
  const { dir, reader, catalog, ...rest } = options;
  const folders = spaceFolders(dir, model.space);
  const shared = { ...rest, dim: model.dim };
  const [opened, pages] = await Promise.all([
    VectorSpace.open(
      { ...shared, modelId: model.id, dir: folders.chunks },
      embeddedLabels(reader, catalog, model.space),
    ),
    openPageSpace({
      ...shared,
      reader,
      catalog,
      vectors: model.space,
      modelId: `pages of ${model.id}`,
      dir: folders.pages,
    }),
  ]);
  const { space: chunks, missing, lost } = opened;
  const recoverPage = async (no: number) => {
    const page = reader.pages.head(no);
    const rows = reader.vectors.get(model.space, no);
    if (page === undefined || rows === undefined) return;
    const labels = labelsOfPage(page);
    if (catalog.isFlushed(labels)) await addRows(chunks, [labels], rows);
  };
  const recovery = indexRecovery({ reader, catalog, side: model.id, recoverPage, log: rest.log });
  const settled = () => Promise.all([recovery.settled(), pages.settled()]);
  const recoveryStopped = () => {
    recovery.stop();
    return recovery.settled();
  };
  return {
    chunks,
    pages,
    /** Stored labels that the files lack, for `recover`, and whether files existed and are unusable. */
    ...{ missing, lost },
    /** Dead rows in the loaded files. */
    dropped: opened.dropped + pages.dropped,
    lacking: recovery.lacking,
    isWhole: recovery.isWhole,
    /** Restore labels from the store; resolves to whether all are back. Errors: none. */
    recover: recovery.recover,
    /** Add stored rows of chunks. `whole`: first labels of pages that are complete with them. Errors: as of VectorSpace.add. */
    async add(ranges: readonly LabelRange[], rows: Float32Array, whole: readonly number[]): Promise<void> {
      await Promise.all([addRows(chunks, ranges, rows), pages.add(whole)]);
    },
    remove(ranges: readonly LabelRange[]): void {
      chunks.remove(labelsOf(ranges));
      pages.remove(ranges.map(({ first }) => first));
    },
    settled,
    /** No byte of removed vectors stays in memory or on disk. */
    async purge(): Promise<void> {
      await settled();
      await Promise.all([chunks.purge(), pages.purge()]);
    },
    saveIfWorthIt: () => Promise.all([chunks.saveIfWorthIt(), pages.saveIfWorthIt()]),
    stopRecovery: recovery.stop,
    async close(): Promise<void> {
      await recoveryStopped();
      await Promise.all([chunks.close(), pages.close()]);
    },
    /** Close without saving and delete the files. */
    async drop(): Promise<void> {
      await recoveryStopped();
      await Promise.all([chunks.drop(), pages.drop()]);
    },
  };
}

/** Labels of pages with vectors in the space. Those not yet on disk come by `index.add`, from their job. */
function embeddedLabels(reader: StoreReader, catalog: Catalog, space: number): Bitmap {
  const labels = createBitmap(catalog.labelEnd);
  const begun = reader.backfills.begunIn(space);
  for (const no of reader.vectors.pageNumbers(space)) {
    const range = catalog.labelsOf(no);
    if (catalog.isFlushed(range)) addBitRange(labels, range.first, range.count - (begun.get(no) ?? 0));
  }
  return labels;
}

function labelsOfPage({ first_label, chunk_count }: { first_label: number; chunk_count: number }): LabelRange {
  return { first: first_label, count: chunk_count };
}

export function labelsOf(ranges: readonly LabelRange[]): Uint32Array {
  const labels = new Uint32Array(ranges.reduce((sum, { count }) => sum + count, 0));
  let at = 0;
  for (const { first, count } of ranges) {
    for (let ordinal = 0; ordinal < count; ordinal++) labels[at++] = first + ordinal;
  }
  return labels;
}

/** Add rows; rows of zeros (chunks without terms) are skipped. */
async function addRows(space: VectorSpace, pages: readonly LabelRange[], rows: Float32Array): Promise<void> {
  const labels = labelsOf(pages);
  if (labels.length > 0) await space.add(labels, rows, { passOverZeros: true });
}
