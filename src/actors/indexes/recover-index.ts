/**
 * Restores what one side of the index lacks from the store: after a crash the pages since the last save, after the loss of a file or
 * thread its content. Segments are rebuilt along stored chunk borders and vectors taken as stored; nothing is embedded. A page that
 * fails is logged and left to the next start; until then the side reports it as lacking.
 */
import pLimit from 'p-limit';
import { authorText, factsText } from '../../compute/text/facts-text.ts';
import type { Page } from '../../domain/page.ts';
import type { IndexLog } from '../../engine/index-log.ts';
import type { ChunkedText } from '../../engine/prepare-page.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Catalog } from './catalog.ts';

export interface RecoveryDependencies {
  reader: StoreReader;
  catalog: Catalog;
  side: string;
  recoverPage: (pageNo: number) => Promise<void>;
  log: IndexLog;
}

export interface RecoverOptions {
  /** Skip pages that a job will index again: at a start, leftovers of unfinished attempts. */
  leaveToJobs?: boolean;
}

/** Concurrent pages: enough for the work threads and the vector writer. */
const width = 8;

export class IndexRecovery {
  readonly #dependencies: RecoveryDependencies;
  /** First lacking label by page. */
  readonly #lacking = new Map<number, number>();
  #stopped = false;
  readonly #running = new Set<Promise<boolean>>();

  constructor(dependencies: RecoveryDependencies) {
    this.#dependencies = dependencies;
  }

  /** What searches of this side miss, without deleted content. */
  lacking(): { pages: number; chunks: number } {
    const { catalog } = this.#dependencies;
    const lacking = { pages: 0, chunks: 0 };
    for (const [no, first] of this.#lacking) {
      const labels = catalog.labelsOf(no);
      if (labels.first !== first) continue;
      lacking.pages++;
      lacking.chunks += labels.count;
    }
    return lacking;
  }

  /** As `lacking`, but stops early: called for each search. */
  get isWhole(): boolean {
    const { catalog } = this.#dependencies;
    for (const [no, first] of this.#lacking) {
      if (catalog.labelsOf(no).first === first) return false;
      this.#lacking.delete(no);
    }
    return true;
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Restore pages of live labels. Resolves, when every page was tried, to whether all are back. Errors: none. */
  async recover(labels: Uint32Array, options: RecoverOptions = {}): Promise<boolean> {
    const run = this.#recover(labels, options);
    this.#running.add(run);
    const complete = await run;
    this.#running.delete(run);
    return complete;
  }

  async #recover(labels: Uint32Array, options: RecoverOptions): Promise<boolean> {
    const limit = pLimit(width);
    const tried = await Promise.all(this.#pagesOf(labels, options).map((no) => limit(() => this.#try(no))));
    return tried.every((done) => done);
  }

  #pagesOf(labels: Uint32Array, { leaveToJobs = false }: RecoverOptions): number[] {
    const { catalog, reader } = this.#dependencies;
    const found = new Set<number>();
    for (const label of labels) found.add(catalog.pageOf(label));
    found.delete(0);
    const pages = [...found].filter((no) => !leaveToJobs || !awaitsJob(reader.pages.head(no)));
    for (const no of pages) this.#lacking.set(no, catalog.labelsOf(no).first);
    return pages;
  }

  async #try(page_no: number): Promise<boolean> {
    const { recoverPage, side, log } = this.#dependencies;
    try {
      if (this.#stopped) return false;
      await recoverPage(page_no);
      this.#lacking.delete(page_no);
      return true;
    } catch (error) {
      log.error({ err: error, page_no, side }, 'a page could not be brought back to the index');
      return false;
    }
  }
}

export interface SparseRecovery {
  reader: StoreReader;
  catalog: Catalog;
  model: (text: ChunkedText) => Promise<SharedArrayBuffer>;
  addSegment: (first: number, count: number, segment: SharedArrayBuffer) => Promise<void>;
}

export function chunkedTextOf({ pages }: Pick<StoreReader, 'pages'>, page: Page): Required<ChunkedText> {
  return {
    title: page.title,
    facts: factsText(page),
    author: authorText(page),
    address: page.canonical_url,
    declared: pages.byline(page).declared_language,
    passage_languages: page.passage_languages,
    text: pages.body(page.no) ?? '',
    chunks: pages.chunks(page.no),
  };
}

export function recoverText({ reader, catalog, model, addSegment }: SparseRecovery): (no: number) => Promise<void> {
  return async (no) => {
    const page = reader.pages.get(no);
    if (page === undefined || !catalog.isFlushed({ first: page.first_label, count: page.chunk_count })) return;
    const chunked = chunkedTextOf(reader, page);
    const segment = await model(chunked);
    // Indexed again meanwhile: it has other labels and is in the index.
    if (reader.pages.head(no)?.first_label === page.first_label)
      await addSegment(page.first_label, chunked.chunks.length, segment);
  };
}

/** Whether a job will soon give the page new labels; a page still to be fetched may never get them. */
function awaitsJob(page: PageHead | undefined): boolean {
  const { status, content_hash = null } = page ?? {};
  return content_hash !== null && (status === 'queued' || status === 'indexing' || status === 'failed');
}
