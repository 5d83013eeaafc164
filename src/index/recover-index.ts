/**
 * Brings back to one side of the index what the store has and it lacks: after a crash the pages indexed since the last save, after
 * the loss of a file or a thread whatever was in it. Segments are built again along the stored chunk borders, vectors are taken as
 * they are stored; nothing is embedded again. A page that cannot be brought back is logged and left to the next start: until then the side
 * lacks it, and says so.
 */
import pLimit from 'p-limit';
import { authorText, factsText } from '../compute/text/facts-text.ts';
import { languageOfTag } from '../compute/text/language-tags.ts';
import type { Chunk } from '../domain/page.ts';
import type { IndexLog } from '../engine/index-log.ts';
import type { ChunkedText } from '../engine/prepare-page.ts';
import type { PageHead } from '../store/pages.ts';
import type { StoreReader } from '../store/store.ts';
import type { Catalog } from './catalog.ts';

export interface RecoveryDependencies {
  reader: StoreReader;
  catalog: Catalog;
  /** Named in the log. */
  side: string;
  /** Brings back one page. */
  recoverPage: (pageNo: number) => Promise<void>;
  log: IndexLog;
}

export interface RecoverOptions {
  /** Pass over pages that a job is going to index anew: at a start, what unfinished attempts left. */
  leaveToJobs?: boolean;
}

/** Pages in work at once: enough to keep the work threads and the writer of vectors busy. */
const width = 8;

export class IndexRecovery {
  readonly #dependencies: RecoveryDependencies;
  /** By page that is not back yet the first of the labels that it lacks. */
  readonly #lacking = new Map<number, number>();
  #stopped = false;
  readonly #running = new Set<Promise<boolean>>();

  constructor(dependencies: RecoveryDependencies) {
    this.#dependencies = dependencies;
  }

  /** What the side still lacks; searches miss it. Content that is gone meanwhile is lacked by nobody. */
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

  /** Whether it lacks nothing. For each search: as `lacking`, but it looks no further than it must. */
  get isWhole(): boolean {
    const { catalog } = this.#dependencies;
    for (const [no, first] of this.#lacking) {
      if (catalog.labelsOf(no).first === first) return false;
      this.#lacking.delete(no);
    }
    return true;
  }

  /** Resolves when nothing is being brought back. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Begin no further page. */
  stop(): void {
    this.#stopped = true;
  }

  /** Bring back the pages of live labels. Resolves when every page was tried: to whether all are back. Errors: none. */
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
  /** Models the chunks of a text on a work thread. */
  model: (text: ChunkedText) => Promise<SharedArrayBuffer>;
  addSegment: (first: number, count: number, segment: SharedArrayBuffer) => Promise<void>;
}

/** Brings a page back to the sparse side. */
export function recoverText({ reader, catalog, model, addSegment }: SparseRecovery): (no: number) => Promise<void> {
  return async (no) => {
    const page = reader.pages.get(no);
    if (page === undefined || !catalog.isFlushed({ first: page.first_label, count: page.chunk_count })) return;
    const chunks: Chunk[] = reader.pages.chunks(no);
    const text = reader.pages.body(no) ?? '';
    const lang = languageOfTag(page.metadata?.lang);
    const segment = await model({
      title: page.title,
      facts: factsText(page),
      author: authorText(page),
      lang,
      text,
      chunks,
    });
    // Indexed anew meanwhile, it has other labels and is in the index already.
    if (reader.pages.head(no)?.first_label === page.first_label)
      await addSegment(page.first_label, chunks.length, segment);
  };
}

/** Whether a job gives the page new content soon, under new labels; what is still to be fetched may never come. */
function awaitsJob(page: PageHead | undefined): boolean {
  const { status, content_hash = null } = page ?? {};
  return content_hash !== null && (status === 'queued' || status === 'indexing' || status === 'failed');
}
