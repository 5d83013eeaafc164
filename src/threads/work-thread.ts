/** Entry of the work threads: stateless tasks over bytes, which may be aborted. The analyzer is created by the first task that needs it. */
import type { ChunkingSettings } from '../compute/text/chunk-text.ts';
import {
  segmentOfChunks as buildSegment,
  type ChunkedText,
  languageOfPage as decideLanguage,
  openPageTools,
  type PageText,
  type PageTools,
  type PreparedPages,
  preparePages as prepare,
} from '../engine/prepare-page.ts';
import { threadData } from './thread-pool.ts';

export { copyLiveRows, isIntact, loadRows, saveRows } from '../engine/vectors/row-tasks.ts';
export { mergeSegments, readSegment, writeSegment } from '../engine/words/segment-tasks.ts';

export interface WorkThreadData {
  chunking: ChunkingSettings;
  /** Vocabulary of the forward index, or null for none. */
  wordList: SharedArrayBuffer | null;
}

let tools: PageTools | undefined;

function openTools(): PageTools {
  const { chunking, wordList } = threadData<WorkThreadData>();
  return openPageTools(chunking, wordList);
}

export function preparePages(pages: readonly PageText[]): PreparedPages {
  tools ??= openTools();
  return prepare(tools, pages);
}

export function segmentOfChunks(page: ChunkedText): SharedArrayBuffer {
  tools ??= openTools();
  return buildSegment(tools, page);
}

export function languageOfPage(page: ChunkedText): string | null {
  tools ??= openTools();
  return decideLanguage(tools, page);
}

/** Load the language model and the word list, so the first page need not wait. */
export function warmUp(): void {
  tools ??= openTools();
}
