/** The first step of a run of topics: page vectors go from the store to the clustering thread, some at a time. */
import type { ChunkRows } from '../../compute/clusters/page-table.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import type { StoreReader } from '../../store/store.ts';
import type { SharedPool } from '../../threads/thread-pool.ts';
import type { JobContext } from '../jobs/job-actor.ts';
import { isUnread } from './cluster-census.ts';

export type ClusterPool = SharedPool<typeof import('../../threads/cluster-thread.ts')>;

/** Work on a run of the clustering thread, which lets go of the run if the work fails. Errors: those of the work. */
export async function orForget<Result>(pool: ClusterPool, run: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    await pool.run('forget', { run }).catch(() => {}); // a thread that ended has forgotten it
    throw error;
  }
}

/** Bytes of vectors, and pages, read before others get their turn: a millisecond or two. */
const batchBytes = 2 * 1024 * 1024;
const batchPages = 64;
/** Chunks of a sampled page: its beginning will do. */
const sampledChunks = 4;
/** Characters of a page's text by which its language is told, and its words are compared. */
const openingCharacters = 1000;
/** Page numbers listed at a time. */
const sliceNumbers = 2000;
/** Pages from which the axes are learned. */
export const sampledPages = 3000;

/**
 * Hand the vectors of a model's pages over to the clustering thread, as the run that it calls `run`: a sample first, which it learns
 * from. Gives the pages that it took, in the order in which it knows them.
 * Errors: those of the thread and of the signal.
 */
export async function handOverPages(
  { reader, pool }: { reader: StoreReader; pool: ClusterPool },
  run: string,
  model: EmbeddingModel,
  { signal, goOn }: Pick<JobContext, 'signal' | 'goOn'>,
): Promise<number[]> {
  const pageNos = await pagesWithVectors(reader, model.space, signal);
  const step = Math.max(1, Math.ceil(pageNos.length / sampledPages));
  const sample: ChunkRows[] = [];
  const sampled = pageNos.filter((_, i) => i % step === 0);
  for await (const { batch } of batches(reader, model, sampled, sampledChunks)) {
    signal.throwIfAborted();
    await goOn();
    sample.push(batch);
  }
  await pool.run('learn', { run, sample, dim: model.dim }, { signal });
  const taken: number[] = [];
  for await (const { pageNos: some, batch } of batches(reader, model, pageNos, Number.POSITIVE_INFINITY)) {
    const transfer = [batch.rows.buffer as ArrayBuffer];
    const added = await pool.run('addPages', { run, pages: batch }, { signal, transfer });
    for (const [i, isIn] of added.entries()) if (isIn) taken.push(some[i]);
    await goOn();
  }
  return taken;
}

/** How a page begins: its title, and its text from the first character on. */
export function openingOf(title: string | null, text: string): string {
  return `${title ?? ''}\n${text.slice(0, openingCharacters)}`;
}

/** Numbers of the pages that have vectors in a space, ascending. */
async function pagesWithVectors(reader: StoreReader, space: number, signal: AbortSignal): Promise<number[]> {
  const pageNos: number[] = [];
  for (;;) {
    signal.throwIfAborted();
    const slice = reader.vectors.pageNumbersAfter(space, pageNos.at(-1) ?? 0, sliceNumbers);
    if (slice.length === 0) return pageNos;
    for (const no of slice) pageNos.push(no);
    await new Promise(setImmediate);
  }
}

/** Vectors of pages in batches; those that are gone meanwhile have no chunks. */
async function* batches(
  reader: StoreReader,
  { space, dim }: EmbeddingModel,
  pageNos: readonly number[],
  maxChunks: number,
) {
  for (let at = 0; at < pageNos.length; ) {
    const taken: Float32Array[] = [];
    const openings: string[] = [];
    let length = 0;
    while (at < pageNos.length && taken.length < batchPages && length * 4 < batchBytes) {
      const no = pageNos[at++];
      openings.push(openingOf(reader.pages.head(no)?.title ?? null, reader.pages.bodySlice(no, 0, openingCharacters)));
      const rows = (isUnread(reader, no) ? undefined : reader.vectors.get(space, no)) ?? new Float32Array(0);
      taken.push(rows.subarray(0, Math.min(rows.length, maxChunks * dim)));
      length += taken[taken.length - 1].length;
    }
    const rows = new Float32Array(length);
    let offset = 0;
    for (const each of taken) {
      rows.set(each, offset);
      offset += each.length;
    }
    const batch: ChunkRows = { counts: taken.map((each) => each.length / dim), rows, openings };
    yield { pageNos: pageNos.slice(at - taken.length, at), batch };
    await new Promise(setImmediate);
  }
}
