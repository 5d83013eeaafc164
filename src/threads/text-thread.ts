/** Stateless tasks that analyze texts. The modules take a second to load; the first task creates the analyzer. */
import type { ChunkingSettings } from '../compute/text/chunk-text.ts';
import {
  segmentOfChunks as buildSegment,
  type ChunkedText,
  openPageTools,
  type PageText,
  type PageTools,
  type PreparedPages,
  preparePages as prepare,
} from '../engine/prepare-page.ts';
import { threadData } from './thread-pool.ts';

export interface TextThreadData {
  chunking: ChunkingSettings;
}

let tools: PageTools | undefined;

function openedTools(): PageTools {
  tools ??= openPageTools(threadData<TextThreadData>().chunking);
  return tools;
}

export const preparePages = (pages: readonly PageText[]): PreparedPages => prepare(openedTools(), pages);

export const segmentOfChunks = (page: ChunkedText): SharedArrayBuffer => buildSegment(openedTools(), page);
