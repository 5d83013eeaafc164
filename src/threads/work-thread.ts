/**
 * Entry of the work threads: stateless tasks over bytes, any of which may be aborted. The analyzer and the embedder are made at
 * the first task that needs them, and are caches only.
 */
import { createTextAnalyzer } from '../compute/analyze-text.ts';
import type { ChunkingSettings } from '../compute/chunk-text.ts';
import { createLocalEmbedder } from '../compute/embed-local.ts';
import { lookupTerm } from '../compute/term-table.ts';
import { openWordVectors } from '../compute/word-vectors.ts';
import {
  type ChunkedText,
  modelChunkedText as model,
  type PageText,
  type PageTools,
  type PreparedPages,
  preparePages as prepare,
} from './prepare-page.ts';
import { threadData } from './thread-pool.ts';

export { mergeSegments, readSegment, writeSegment } from './segment-tasks.ts';

/** What every work thread is given when it starts. */
export interface WorkThreadData {
  chunking: ChunkingSettings;
  /** The embedded model, or null when the active model is another's. */
  embedded: { wordVectors: SharedArrayBuffer; dim: number } | null;
}

let tools: PageTools | undefined;

function openTools(): PageTools {
  const { chunking, embedded } = threadData<WorkThreadData>();
  const analyzer = createTextAnalyzer();
  if (embedded === null) return { chunking, analyzer, embedder: null, vocabulary: null };
  const vectors = openWordVectors(embedded.wordVectors);
  return {
    chunking,
    analyzer,
    embedder: createLocalEmbedder(vectors, embedded.dim),
    vocabulary: { fingerprint: vectors.fingerprint, rowOf: (word) => lookupTerm(vectors.vocabulary, word) },
  };
}

/** Chunks, vectors and segment of the texts of some pages. */
export function preparePages(pages: readonly PageText[]): PreparedPages {
  tools ??= openTools();
  return prepare(tools, pages);
}

/** The segment of a text along its stored chunks. */
export function modelChunkedText(page: ChunkedText): SharedArrayBuffer {
  tools ??= openTools();
  return model(tools, page);
}

/** Load the language model and the word vectors, so that the first page does not wait for them. */
export function warmUp(): void {
  tools ??= openTools();
}
