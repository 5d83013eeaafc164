/**
 * Entry of the work threads: stateless tasks over bytes, which may be aborted. What analyzes texts takes a second to load, so the first
 * task that needs it loads it: saving and loading files need not wait.
 */
import type { ChunkingSettings } from '../compute/text/chunk-text.ts';
import type { ChunkedText, PageText, PreparedPages } from '../engine/prepare-page.ts';
import { threadData } from './thread-pool.ts';

export { copyLiveRows, isIntact, loadRows, saveRows } from '../engine/vectors/row-tasks.ts';
export { mergeSegments, readSegment, writeSegment } from '../engine/words/segment-tasks.ts';

export interface WorkThreadData {
  chunking: ChunkingSettings;
  /** Vocabulary of the forward index, or null for none. */
  wordList: SharedArrayBuffer | null;
}

let loading: ReturnType<typeof load> | undefined;

async function load() {
  const { openPageTools, preparePages, segmentOfChunks, languageOfPage } = await import('../engine/prepare-page.ts');
  const { chunking, wordList } = threadData<WorkThreadData>();
  return { tools: openPageTools(chunking, wordList), preparePages, segmentOfChunks, languageOfPage };
}

function loaded(): ReturnType<typeof load> {
  loading ??= load();
  return loading;
}

export async function preparePages(pages: readonly PageText[]): Promise<PreparedPages> {
  const work = await loaded();
  return work.preparePages(work.tools, pages);
}

export async function segmentOfChunks(page: ChunkedText): Promise<SharedArrayBuffer> {
  const work = await loaded();
  return work.segmentOfChunks(work.tools, page);
}

export async function languageOfPage(page: ChunkedText): Promise<string | null> {
  const work = await loaded();
  return work.languageOfPage(work.tools, page);
}
