/**
 * The handler of `extract_entities` jobs: a page's title and text are read for names on the entity thread, and what it mentions replaces what an
 * earlier reading left, in the transaction that completes the job. Safe to run again at any point.
 */
import { noteNewEntities } from '../../commands/match-entities.ts';
import { storePageEntities } from '../../commands/page-entities.ts';
import { JobError } from '../../domain/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import { QueueFullError, type SharedPool } from '../../threads/thread-pool.ts';
import type { JobHandler } from '../jobs/job-actor.ts';

export type EntityPool = Pick<SharedPool<typeof import('../../threads/entity-thread.ts')>, 'run'>;

export interface ExtractEntitiesDependencies {
  reader: StoreReader;
  pool: EntityPool;
  now: () => number;
}

/** When a job that found the thread's queue full is tried again, ms. */
const retryAfterMs = 5000;

export function extractEntitiesHandler({ reader, pool, now }: ExtractEntitiesDependencies): JobHandler {
  return async (job, { signal }) => {
    const { page_no, max_attempts } = job;
    const body = page_no === null ? undefined : reader.pages.body(page_no);
    if (page_no === null || body === undefined) throw new JobError('the page has no text', { permanent: true });
    const title = reader.pages.head(page_no)?.title ?? null;
    const found = await pool.run('recognize', { title, body }, { signal }).catch((error: unknown) => {
      if (!(error instanceof QueueFullError)) throw error;
      throw new JobError('too many pages wait to be read for entities', { retryAfterMs, cause: error });
    });
    return (transaction) => {
      // The page may be gone, or another job may be to read its newer text.
      if (transaction.pages.get(page_no)?.entity_job !== job.no) return;
      const fresh = storePageEntities(transaction, page_no, found);
      noteNewEntities(transaction, fresh, { at: now(), max_attempts });
    };
  };
}
