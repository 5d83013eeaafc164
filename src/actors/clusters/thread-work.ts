/** Sends pages and texts of a run to the clustering thread in parts, so that the main thread stays free. */
import { randomUUID } from 'node:crypto';
import type { ChunkRows } from '../../compute/embedding/page-vectors.ts';
import { joinedRows } from '../../compute/embedding/pool-vectors.ts';
import { grouped } from '../../compute/structures/grouped.ts';
import { languageOfTag } from '../../compute/text/language-tags.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import type { StoreReader } from '../../store/store.ts';
import type { ClusteredPages } from '../../threads/cluster-thread.ts';
import type { SharedPool } from '../../threads/thread-pool.ts';
import { inParts } from '../system/background.ts';
import type { JobContext } from '../system/job-actor.ts';
import { isUnread } from './cluster-census.ts';

export type ClusterPool = SharedPool<typeof import('../../threads/cluster-thread.ts')>;

interface Access extends Pick<JobContext, 'signal' | 'extendTime'> {
  reader: StoreReader;
  pool: ClusterPool;
}

export interface ClusteredText {
  page_no: number;
  /** -1: no cluster; the page serves only for comparison. */
  cluster: number;
}

/** Bytes of vectors, and pages, read per turn of the event loop: 1 to 2 ms. */
const batchBytes = 2 * 1024 * 1024;
const batchPages = 64;
const sliceNumbers = 2000;
/** Characters of a page's text that are read for keywords. The beginning states its subject. */
const maxCharacters = 4000;
const batchTexts = 32;
/** Pages read for keywords, per cluster and outside of clusters. More take time and hardly change the keywords. */
const pagesForKeywords = 200;

/** Cluster all pages with vectors. `earlierOf`: a page's cluster so far. Errors: the thread's; the signal's reason. */
export async function clusterInThread(
  { reader, pool, signal, extendTime }: Access,
  { space, dim }: EmbeddingModel,
  { resolution, earlierOf }: { resolution: number; earlierOf: (pageNos: readonly number[]) => Promise<Uint32Array> },
): Promise<{ pageNos: number[]; found: ClusteredPages }> {
  return ofOneRun(pool, async (run) => {
    await pool.run('begin', { run, dim }, { signal });
    const pageNos: number[] = [];
    const numbersAfter = (after: number) => reader.vectors.pageNumbersAfter(space, after, sliceNumbers);
    for await (const slice of inParts(numbersAfter, Number, { signal })) {
      for (let at = 0; at < slice.length; ) {
        const { nos, pages } = nextPages(reader, space, dim, slice.slice(at));
        at += nos.length;
        const transfer = [pages.rows.buffer as ArrayBuffer];
        const taken = await pool.run('addPages', { run, pages }, { signal, transfer });
        pageNos.push(...nos.filter((_, i) => taken[i]));
        await extendTime();
      }
    }
    // One task per block, so that comparing all pages may exceed one time limit.
    while (await pool.run('comparePages', { run }, { signal })) await extendTime();
    await extendTime();
    const found = await pool.run('cluster', { run, resolution, earlier: await earlierOf(pageNos) }, { signal });
    return { pageNos, found };
  });
}

/** The next pages with their vectors, without pages that have no text or are gone. */
function nextPages(reader: StoreReader, space: number, dim: number, pageNos: readonly number[]) {
  const vectors: Float32Array[] = [];
  let length = 0;
  for (const no of pageNos) {
    if (vectors.length === batchPages || length * 4 >= batchBytes) break;
    const rows = (isUnread(reader, no) ? undefined : reader.vectors.get(space, no)) ?? new Float32Array(0);
    vectors.push(rows);
    length += rows.length;
  }
  const nos = pageNos.slice(0, vectors.length);
  const languages = nos.map((no) => languageOfTag(reader.pages.head(no)?.language));
  const pages: ChunkRows = { counts: vectors.map((each) => each.length / dim), rows: joinedRows(vectors), languages };
  return { nos, pages };
}

/** The keywords of each cluster, best first. Errors: those of the thread and of the signal. */
export async function findKeywords(
  { reader, pool, signal, extendTime }: Access,
  pages: readonly ClusteredText[],
): Promise<Map<number, string[]>> {
  const read = sampled(pages);
  return ofOneRun(pool, async (run) => {
    await pool.run('beginKeywords', { run }, { signal });
    for (let at = 0; at < read.length; at += batchTexts) {
      signal.throwIfAborted();
      const texts = read.slice(at, at + batchTexts).flatMap(({ page_no, cluster }) => {
        const page = reader.pages.head(page_no);
        if (page === undefined) return []; // forgotten meanwhile
        const [language, text] = [languageOfTag(page.language), reader.pages.bodySlice(page_no, 0, maxCharacters)];
        return [{ cluster, title: page.title, text, language }];
      });
      await pool.run('addTexts', { run, texts }, { signal });
      await extendTime();
    }
    return pool.run('keywords', { run }, { signal });
  });
}

/** Pages of each cluster, evenly sampled. */
function sampled(pages: readonly ClusteredText[]): ClusteredText[] {
  const clusters = grouped(pages, ({ cluster }) => cluster).values();
  return [...clusters].flatMap((all) => evenSample(all, pagesForKeywords));
}

export function evenSample<Item>(items: readonly Item[], most: number): Item[] {
  const step = Math.max(1, Math.ceil(items.length / most));
  return items.filter((_, i) => i % step === 0);
}

/** Work on a run of the clustering thread. If it fails, the thread drops the run. Errors: those of the work. */
async function ofOneRun<Result>(pool: ClusterPool, work: (run: string) => Promise<Result>): Promise<Result> {
  const run = randomUUID();
  try {
    return await work(run);
  } catch (error) {
    await pool.run('forget', { run }).catch(() => {}); // a restarted thread has no such run
    throw error;
  }
}
