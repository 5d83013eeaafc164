/**
 * The handler of `index_page` jobs: a stored text becomes searchable. Safe to run again at any point: new content gets new
 * labels and replaces what an earlier attempt left.
 *
 * 1. chunk, embed and model the text on a work thread
 * 2. commit chunks and vectors; labels are allocated there
 * 3. both sides of the index take them in and let go of what they replace
 * 4. the job's completion makes the page `indexed`
 */
import { commitContent } from '../commands/commit-content.ts';
import { JobError } from '../domain/errors.ts';
import type { EmbeddingModel } from '../domain/model.ts';
import type { StoreReader } from '../store/store.ts';
import type { PageText, PreparedPage } from '../threads/prepare-page.ts';
import type { JobHandler } from './job-actor.ts';
import { commitThrough, type SystemAsk } from './system-messages.ts';

export interface IndexPageDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  prepare: (page: PageText, signal: AbortSignal) => Promise<PreparedPage>;
  /** The model whose vectors `prepare` makes, or null. */
  model: Pick<EmbeddingModel, 'space'> | null;
}

export function indexPageHandler({ ask, reader, prepare, model }: IndexPageDependencies): JobHandler {
  const commit = commitThrough(ask);
  return async (job, { attempt, signal }) => {
    const page = job.page_no === null ? undefined : reader.pages.get(job.page_no);
    const text = page === undefined ? undefined : reader.pages.body(page.no);
    if (page === undefined || text === undefined) throw new JobError('the page has no text', { permanent: true });

    const { chunks, vectors, segment } = await prepare({ title: page.title, text, sections: page.sections }, signal);
    const committed = await commit(
      commitContent(attempt, {
        page_no: page.no,
        chunks,
        vectors: model === null || vectors === null ? new Map() : new Map([[model.space, vectors]]),
      }),
    );
    if (committed === null) throw new JobError('another attempt has taken over');
    await ask('index.add', { segment, vectors, ...committed });
    return undefined;
  };
}
