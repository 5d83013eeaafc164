/**
 * Brings back to the indexes what the store has and they lack: after a crash the pages indexed since the last save, after the
 * loss of a file or a thread whatever was in it. Text is modelled again along the stored chunk borders, vectors are taken as
 * they are stored; nothing is embedded again. A page that cannot be brought back is logged and left to the next start.
 */
import pLimit from 'p-limit';
import type { Chunk } from '../domain/page.ts';
import type { StoreReader } from '../store/store.ts';
import type { ChunkedText } from '../threads/prepare-page.ts';
import type { Catalog } from './catalog.ts';
import type { IndexLog } from './index-log.ts';

/** Live labels that each side lacks. */
export interface MissingLabels {
  sparse: Uint32Array;
  dense: Uint32Array;
}

export interface RecoveryDependencies {
  reader: StoreReader;
  catalog: Catalog;
  /** Vector space of the active model, or null. */
  space: number | null;
  addVectors: (first: number, count: number, rows: Float32Array) => Promise<void>;
  /** Models the chunks of a text on a work thread. */
  model: (text: ChunkedText) => Promise<SharedArrayBuffer>;
  addSegment: (first: number, count: number, segment: SharedArrayBuffer) => Promise<void>;
  log: IndexLog;
}

/** Pages in work at once: enough to keep the work threads and the writer of vectors busy. */
const width = 8;

export class IndexRecovery {
  readonly #dependencies: RecoveryDependencies;
  #pending = 0;
  readonly #running = new Set<Promise<void>>();

  constructor(dependencies: RecoveryDependencies) {
    this.#dependencies = dependencies;
  }

  /** Pages still to be brought back; while there are any, searches lack them. */
  get pending(): number {
    return this.#pending;
  }

  /** Resolves when nothing is being brought back. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Resolves when every page was tried. Errors: none. */
  async recover(missing: MissingLabels): Promise<void> {
    const run = this.#recover(missing);
    this.#running.add(run);
    await run;
    this.#running.delete(run);
  }

  async #recover({ sparse, dense }: MissingLabels): Promise<void> {
    const limit = pLimit(width);
    await Promise.all([
      ...this.#pagesOf(dense).map((no) => limit(() => this.#tried(no, 'dense', () => this.#recoverDense(no)))),
      ...this.#pagesOf(sparse).map((no) => limit(() => this.#tried(no, 'sparse', () => this.#recoverSparse(no)))),
    ]);
  }

  #pagesOf(labels: Uint32Array): number[] {
    const pages = new Set<number>();
    for (const label of labels) pages.add(this.#dependencies.catalog.pageOf(label));
    pages.delete(0);
    this.#pending += pages.size;
    return [...pages];
  }

  async #tried(page_no: number, side: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#dependencies.log.error({ err: error, page_no, side }, 'a page could not be brought back to the index');
    } finally {
      this.#pending--;
    }
  }

  async #recoverDense(no: number): Promise<void> {
    const { reader, space, addVectors } = this.#dependencies;
    const page = reader.pages.get(no);
    const rows = space === null ? undefined : reader.vectors.get(space, no);
    if (page !== undefined && rows !== undefined) await addVectors(page.first_label, page.chunk_count, rows);
  }

  async #recoverSparse(no: number): Promise<void> {
    const { reader, model, addSegment } = this.#dependencies;
    const page = reader.pages.get(no);
    if (page === undefined) return;
    const chunks: Chunk[] = reader.pages.chunks(no);
    const text = reader.pages.body(no) ?? '';
    const segment = await model({ title: page.title, text, chunks });
    // Indexed anew meanwhile, it has other labels and is in the index already.
    if (reader.pages.get(no)?.first_label === page.first_label)
      await addSegment(page.first_label, chunks.length, segment);
  }
}
