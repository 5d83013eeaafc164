/**
 * What the index has of one embedding model: the vectors of its chunks and of its pages, and the way to bring back what they lack.
 * The truth are the chunk vectors in the store, so that a model which is not asked need not be in memory: opened later, it takes
 * from its files and the store what came meanwhile.
 */
import { join } from 'node:path';
import { addBitRange, type Bitmap, createBitmap } from '../compute/structures/bitmap.ts';
import type { EmbeddingModel } from '../domain/model.ts';
import type { LabelRange } from '../domain/page.ts';
import type { IndexLog } from '../engine/index-log.ts';
import { type ShardTasks, VectorSpace } from '../engine/vectors/vector-space.ts';
import type { StoreReader } from '../store/store.ts';
import type { SharedPool } from '../threads/thread-pool.ts';
import type { Catalog } from './catalog.ts';
import { PageSpace } from './page-space.ts';
import { IndexRecovery, type RecoverOptions } from './recover-index.ts';

export interface ModelSpaceOptions {
  /** Folder of the index files. */
  dir: string;
  storeId: string;
  reader: StoreReader;
  catalog: Catalog;
  shards: readonly SharedPool<ShardTasks>[];
  namespace: string;
  log: IndexLog;
  /** Called before files become valid, with whatever labels were added until then. */
  noteLabels?: () => Promise<void>;
}

/** The two folders of a model's files. */
export function spaceFolders(dir: string, space: number): { chunks: string; pages: string } {
  return { chunks: join(dir, 'dense', String(space)), pages: join(dir, 'pages', String(space)) };
}

export class ModelSpace {
  readonly chunks: VectorSpace;
  readonly pages: PageSpace;
  /** Labels with stored vectors that the files did not hold, and whether files were there once and cannot be used. */
  readonly missing: Uint32Array;
  readonly lost: boolean;
  /** Rows of the files that were not live when they were loaded. */
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

  /** Load a model's files. What they lack is in `missing`; `recover` brings it back. Errors: as of VectorSpace.open. */
  static async open(model: EmbeddingModel, options: ModelSpaceOptions): Promise<ModelSpace> {
    const { dir, storeId, reader, catalog, shards, namespace, log } = options;
    const { noteLabels = async () => {} } = options;
    const folders = spaceFolders(dir, model.space);
    const { dim } = model;
    let onMissing: (labels: Uint32Array) => void = () => {};
    const [opened, pages] = await Promise.all([
      VectorSpace.open(
        {
          modelId: model.id,
          dim,
          dir: folders.chunks,
          storeId,
          shards,
          namespace,
          log,
          noteLabels,
          onMissing: (labels) => onMissing(labels),
        },
        embeddedLabels(reader, catalog, model.space),
      ),
      PageSpace.open({
        reader,
        catalog,
        vectors: model.space,
        modelId: `pages of ${model.id}`,
        dim,
        dir: folders.pages,
        storeId,
        shards,
        namespace,
        log,
        noteLabels,
      }),
    ]);
    const space = new ModelSpace(opened, pages, (chunks) => {
      const recoverPage = async (no: number) => {
        const page = reader.pages.head(no);
        const rows = reader.vectors.get(model.space, no);
        if (page === undefined || rows === undefined) return;
        const labels = labelsOfPage(page);
        if (catalog.isFlushed(labels)) await addRows(chunks, [labels], rows);
      };
      return new IndexRecovery({ reader, catalog, side: model.id, recoverPage, log });
    });
    onMissing = (labels) => {
      log.warn({ model: model.id, chunks: labels.length }, 'vectors were lost: bringing them back beside the service');
      void space.recover(labels).then((isBack) => {
        if (isBack) log.info({ model: model.id }, 'the vectors are back');
      });
    };
    return space;
  }

  /** What searches of it miss: chunks that are still to be brought back. */
  lacking(): { pages: number; chunks: number } {
    return this.#recovery.lacking();
  }

  /** Whether searches of it miss nothing. */
  get isWhole(): boolean {
    return this.#recovery.isWhole;
  }

  /** Bring back labels from the store: to whether all are back. Errors: none. */
  recover(labels: Uint32Array, options?: RecoverOptions): Promise<boolean> {
    return this.#recovery.recover(labels, options);
  }

  /** Take in pages. Shapes: rows of all their chunks, page by page. Errors: as of VectorSpace.add. */
  async add(pages: readonly LabelRange[], rows: Float32Array): Promise<void> {
    await Promise.all([addRows(this.chunks, pages, rows), this.pages.add(pages, rows)]);
  }

  /** Let go of what pages had. */
  async remove(pages: readonly LabelRange[]): Promise<void> {
    await this.chunks.remove(labelsOf(pages));
    await this.pages.remove(pages.map(({ first }) => first));
  }

  /** Resolves when nothing is being brought back. */
  async settled(): Promise<void> {
    await Promise.all([this.#recovery.settled(), this.pages.settled()]);
  }

  /** No byte of what was removed stays in memory or on disk. */
  async purge(): Promise<void> {
    await this.settled();
    await Promise.all([this.chunks.purge(), this.pages.purge()]);
  }

  async saveIfWorthIt(): Promise<void> {
    await Promise.all([this.chunks.saveIfWorthIt(), this.pages.saveIfWorthIt()]);
  }

  /** Begin nothing further that would bring something back. */
  stopRecovery(): void {
    this.#recovery.stop();
  }

  async close(): Promise<void> {
    this.#recovery.stop();
    await this.#recovery.settled();
    await Promise.all([this.chunks.close(), this.pages.close()]);
  }

  /** Close without saving and delete the files: the model is gone. */
  async drop(): Promise<void> {
    this.#recovery.stop();
    await this.#recovery.settled();
    await Promise.all([this.chunks.drop(), this.pages.drop()]);
  }
}

/** The labels of pages that have vectors in the space. Those that the disk does not have yet come with `index.add`, from their job. */
function embeddedLabels(reader: StoreReader, catalog: Catalog, space: number): Bitmap {
  const labels = createBitmap(catalog.labelEnd);
  for (const no of reader.vectors.pageNumbers(space)) {
    const range = catalog.labelsOf(no);
    if (catalog.isFlushed(range)) addBitRange(labels, range.first, range.count);
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

/** Add rows under their labels; a row of zeros belongs to a chunk without terms and has no place among vectors. */
async function addRows(space: VectorSpace, pages: readonly LabelRange[], rows: Float32Array): Promise<void> {
  const labels = labelsOf(pages);
  if (labels.length > 0) await space.add(labels, rows, { passOverZeros: true });
}
