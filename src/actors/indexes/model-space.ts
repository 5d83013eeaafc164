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
import { PageSpace } from './page-space.ts';
import { IndexRecovery, type RecoverOptions } from './recover-index.ts';

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

export class ModelSpace {
  readonly chunks: VectorSpace;
  readonly pages: PageSpace;
  /** Stored labels that the files lack, and whether files existed and are unusable. */
  readonly missing: Uint32Array;
  readonly lost: boolean;
  /** Dead rows in the loaded files. */
  readonly dropped: number;
  readonly #recovery: IndexRecovery;

  private constructor(
    opened: { space: VectorSpace; missing: Uint32Array; lost: boolean; dropped: number },
    pages: PageSpace,
    recovery: (chunks: VectorSpace) => IndexRecovery,
  ) {
    this.chunks = opened.space;
    this.pages = pages;
    this.missing = opened.missing;
    this.lost = opened.lost;
    this.dropped = opened.dropped + pages.dropped;
    this.#recovery = recovery(opened.space);
  }

  /** Load a model's files. `missing` is what they lack; `recover` restores it. Errors: as of VectorSpace.open. */
  static async open(model: EmbeddingModel, options: ModelSpaceOptions): Promise<ModelSpace> {
    const { dir, reader, catalog, ...rest } = options;
    const folders = spaceFolders(dir, model.space);
    const shared = { ...rest, dim: model.dim };
    const [opened, pages] = await Promise.all([
      VectorSpace.open(
        { ...shared, modelId: model.id, dir: folders.chunks },
        embeddedLabels(reader, catalog, model.space),
      ),
      PageSpace.open({
        ...shared,
        reader,
        catalog,
        vectors: model.space,
        modelId: `pages of ${model.id}`,
        dir: folders.pages,
      }),
    ]);
    return new ModelSpace(opened, pages, (chunks) => {
      const recoverPage = async (no: number) => {
        const page = reader.pages.head(no);
        const rows = reader.vectors.get(model.space, no);
        if (page === undefined || rows === undefined) return;
        const labels = labelsOfPage(page);
        if (catalog.isFlushed(labels)) await addRows(chunks, [labels], rows);
      };
      return new IndexRecovery({ reader, catalog, side: model.id, recoverPage, log: rest.log });
    });
  }

  lacking(): { pages: number; chunks: number } {
    return this.#recovery.lacking();
  }

  get isWhole(): boolean {
    return this.#recovery.isWhole;
  }

  /** Restore labels from the store; resolves to whether all are back. Errors: none. */
  recover(labels: Uint32Array, options?: RecoverOptions): Promise<boolean> {
    return this.#recovery.recover(labels, options);
  }

  /** Add stored rows of chunks. `whole`: first labels of pages that are complete with them. Errors: as of VectorSpace.add. */
  async add(chunks: readonly LabelRange[], rows: Float32Array, whole: readonly number[]): Promise<void> {
    await Promise.all([addRows(this.chunks, chunks, rows), this.pages.add(whole)]);
  }

  remove(pages: readonly LabelRange[]): void {
    this.chunks.remove(labelsOf(pages));
    this.pages.remove(pages.map(({ first }) => first));
  }

  async settled(): Promise<void> {
    await Promise.all([this.#recovery.settled(), this.pages.settled()]);
  }

  /** No byte of removed vectors stays in memory or on disk. */
  async purge(): Promise<void> {
    await this.settled();
    await Promise.all([this.chunks.purge(), this.pages.purge()]);
  }

  async saveIfWorthIt(): Promise<void> {
    await Promise.all([this.chunks.saveIfWorthIt(), this.pages.saveIfWorthIt()]);
  }

  /** Start no further recovery. */
  stopRecovery(): void {
    this.#recovery.stop();
  }

  async close(): Promise<void> {
    this.#recovery.stop();
    await this.#recovery.settled();
    await Promise.all([this.chunks.close(), this.pages.close()]);
  }

  /** Close without saving and delete the files. */
  async drop(): Promise<void> {
    this.#recovery.stop();
    await this.#recovery.settled();
    await Promise.all([this.chunks.drop(), this.pages.drop()]);
  }
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
