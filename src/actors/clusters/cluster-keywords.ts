/** Hands texts of clustered pages to the clustering thread and gives the keywords that it finds. */
import { randomUUID } from 'node:crypto';
import type { StoreReader } from '../../store/store.ts';
import type { JobContext } from '../jobs/job-actor.ts';
import { type ClusterPool, orForget } from './hand-over-pages.ts';

export interface ClusteredText {
  page_no: number;
  /** -1: of no cluster, for comparison only. */
  cluster: number;
}

/** Characters of a page's text that are read: the beginning says what it is about. */
const maxCharacters = 4000;
/** Pages read before others get their turn. */
const batchPages = 32;

export async function findKeywords(
  { reader, pool }: { reader: StoreReader; pool: ClusterPool },
  pages: readonly ClusteredText[],
  { signal, goOn }: Pick<JobContext, 'signal' | 'goOn'>,
): Promise<Map<number, string[]>> {
  const run = randomUUID();
  return orForget(pool, run, keywordsOf({ reader, pool }, run, pages, { signal, goOn }));
}

async function keywordsOf(
  { reader, pool }: { reader: StoreReader; pool: ClusterPool },
  run: string,
  pages: readonly ClusteredText[],
  { signal, goOn }: Pick<JobContext, 'signal' | 'goOn'>,
): Promise<Map<number, string[]>> {
  await pool.run('beginKeywords', { run }, { signal });
  for (let at = 0; at < pages.length; at += batchPages) {
    signal.throwIfAborted();
    const texts = pages.slice(at, at + batchPages).flatMap(({ page_no, cluster }) => {
      const page = reader.pages.head(page_no);
      if (page === undefined) return []; // forgotten meanwhile
      return [{ cluster, title: page.title, text: reader.pages.bodySlice(page_no, 0, maxCharacters) }];
    });
    await pool.run('addTexts', { run, texts }, { signal });
    await goOn();
  }
  return pool.run('keywords', { run }, { signal });
}
