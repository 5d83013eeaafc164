/** Stateless tasks that analyze texts. The modules take a second to load; the first task creates the analyzer. */
import type { ChunkingSettings } from '../compute/text/chunk-text.ts';
import { DetectorsNeeded, loadDetectors } from '../compute/text/page-languages.ts';
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

/** Repeats the work when it first needs the language detectors. */
async function withDetectors<T>(work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DetectorsNeeded)) throw error;
    await loadDetectors();
    return work();
  }
}

export const preparePages = (pages: readonly PageText[]): Promise<PreparedPages> =>
  withDetectors(() => prepare(openedTools(), pages));

export const segmentOfChunks = (page: ChunkedText): Promise<SharedArrayBuffer> =>
  withDetectors(() => buildSegment(openedTools(), page));
