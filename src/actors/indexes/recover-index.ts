/** Restores missing content of one side of the index. Logs a page that fails and leaves it to the next start. */
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
  /** Skip pages that a job will index again, such as leftovers of unfinished attempts at a start. */
  leaveToJobs?: boolean;
}

/** Concurrent pages: enough for the work threads and the vector writer. */
const width = 8;

export function indexRecovery({ reader, catalog, side, recoverPage, log }: RecoveryDependencies) {
  /** Pages whose labels are missing in the index, with their first label. */
  const lacking = new Map<number, number>();
  let stopped = false;
  const running = new Set<Promise<boolean>>();

  const pagesOf = (labels: Uint32Array, { leaveToJobs = false }: RecoverOptions): number[] => {
    const found = new Set<number>();
    for (const label of labels) found.add(catalog.pageOf(label));
    found.delete(0);
    const pages = [...found].filter((no) => !leaveToJobs || !awaitsJob(reader.pages.head(no)));
    for (const no of pages) lacking.set(no, catalog.labelsOf(no).first);
    return pages;
  };

  const tryPage = async (page_no: number): Promise<boolean> => {
    try {
      if (stopped) return false;
      await recoverPage(page_no);
      lacking.delete(page_no);
      return true;
    } catch (error) {
      log.error({ err: error, page_no, side }, 'a page could not be restored in the index');
      return false;
    }
  };

  const recoverAll = async (labels: Uint32Array, options: RecoverOptions): Promise<boolean> => {
    const limit = pLimit(width);
    const tried = await Promise.all(pagesOf(labels, options).map((no) => limit(() => tryPage(no))));
    return tried.every((done) => done);
  };

  return {
    /** Content that searches of this side miss, without deleted content. */
    lacking(): { pages: number; chunks: number } {
      const counts = { pages: 0, chunks: 0 };
      for (const [no, first] of lacking) {
        const labels = catalog.labelsOf(no);
        if (labels.first !== first) continue;
        counts.pages++;
        counts.chunks += labels.count;
      }
      return counts;
    },
    /** As `lacking`, but stops early, as every search calls it. */
    isWhole(): boolean {
      for (const [no, first] of lacking) {
        if (catalog.labelsOf(no).first === first) return false;
        lacking.delete(no);
      }
      return true;
    },
    async settled(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
    stop(): void {
      stopped = true;
    },
    /** Restore pages of live labels. Tries every page, then resolves to whether all are restored. Errors: none. */
    async recover(labels: Uint32Array, options: RecoverOptions = {}): Promise<boolean> {
      const run = recoverAll(labels, options);
      running.add(run);
      return run.finally(() => running.delete(run));
    },
  };
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

/** Whether a job will soon give the page new labels. False for a page still to be fetched, as it may never get them. */
function awaitsJob(page: PageHead | undefined): boolean {
  const { status, content_hash = null } = page ?? {};
  return content_hash !== null && (status === 'queued' || status === 'indexing' || status === 'failed');
}
