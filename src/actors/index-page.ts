/**
 * The handler of `index_page` jobs: a stored text becomes searchable. Safe to run again at any point: new content gets new
 * labels and replaces what an earlier attempt left. Pages that wait at the same time go through steps 1 to 3 together.
 *
 * 1. chunk, embed and model the texts on a work thread
 * 2. commit chunks and vectors; labels are allocated there
 * 3. both sides of the index take them in and let go of what they replace
 * 4. the job's completion makes the page `indexed`
 */
import { commitPages } from '../commands/commit-pages.ts';
import type { Attempt } from '../commands/settle-job.ts';
import { JobError } from '../domain/errors.ts';
import type { EmbeddingModel } from '../domain/model.ts';
import type { Page } from '../domain/page.ts';
import type { StoreReader } from '../store/store.ts';
import type { PageText, PreparedPages } from '../threads/prepare-page.ts';
import type { JobHandler } from './job-actor.ts';
import { type BatchedPage, PageBatches } from './page-batches.ts';
import { commitThrough, type SystemAsk } from './system-messages.ts';

export interface IndexPageDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  prepare: (pages: readonly PageText[], signal: AbortSignal) => Promise<PreparedPages>;
  /** Work threads that prepare. */
  threads: number;
  /** The model whose vectors `prepare` makes, or null. */
  model: Pick<EmbeddingModel, 'space' | 'dim'> | null;
}

interface PageToIndex extends BatchedPage {
  page: Page;
  attempt: Attempt;
}

export function indexPageHandler({ ask, reader, prepare, threads, model }: IndexPageDependencies): JobHandler {
  const commit = commitThrough(ask);
  const batches = new PageBatches<PageToIndex, PreparedPages>({
    threads,
    prepare: (pages, texts, signal) =>
      prepare(
        pages.map(({ page }, place) => ({ title: page.title, text: texts[place], sections: page.sections })),
        signal,
      ),
    finish: async (pages, { chunks, vectors, segment }) => {
      let row = 0;
      const contents = pages.map(({ page, attempt }, place) => {
        const from = row;
        row += chunks[place].length;
        const rows =
          model === null || vectors === null ? undefined : vectors.subarray(from * model.dim, row * model.dim);
        return {
          attempt,
          content: {
            page_no: page.no,
            chunks: chunks[place],
            vectors: model === null || rows === undefined ? new Map() : new Map([[model.space, rows]]),
          },
        };
      });
      const { stored, ...labels } = await commit(commitPages(contents));
      await ask('index.add', { segment, vectors, ...labels });
      return stored.map((isStored) => (isStored ? null : new JobError('another attempt has taken over')));
    },
  });
  return async (job, { attempt, signal }) => {
    const page = job.page_no === null ? undefined : reader.pages.get(job.page_no);
    if (page === undefined) throw noText();
    const readText = () => {
      const text = reader.pages.body(page.no);
      if (text === undefined) throw noText();
      return text;
    };
    await batches.index({ page, attempt, signal, readText });
    return undefined;
  };
}

function noText(): JobError {
  return new JobError('the page has no text', { permanent: true });
}
