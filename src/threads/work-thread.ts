/**
 * Entry of the work threads: stateless tasks over bytes, any of which may be aborted. The analyzer and the embedder are made at
 * the first task that needs them, and are caches only.
 */
import { createEmbedderShelf } from '../compute/embedding/embed-local.ts';
import { openWordVectors } from '../compute/embedding/word-vectors.ts';
import { lookupTerm } from '../compute/structures/term-table.ts';
import { createTextAnalyzer } from '../compute/text/analyze-text.ts';
import type { ChunkingSettings } from '../compute/text/chunk-text.ts';
import { createWinkTokenizer } from '../compute/text/wink-tokenizer.ts';
import {
  segmentOfChunks as buildSegment,
  type ChunkedText,
  embedChunkedTexts as embed,
  type PageText,
  type PageTools,
  type PreparedPages,
  preparePages as prepare,
} from '../engine/prepare-page.ts';
import { moved, threadData } from './thread-pool.ts';

export { mergeSegments, readSegment, writeSegment } from '../engine/words/segment-tasks.ts';

/** What every work thread is given when it starts. */
export interface WorkThreadData {
  chunking: ChunkingSettings;
  /** What the embedded models are made of, or null: there are none. */
  wordVectors: SharedArrayBuffer | null;
}

let tools: PageTools | undefined;

function openTools(): PageTools {
  const { chunking, wordVectors } = threadData<WorkThreadData>();
  const analyzer = createTextAnalyzer(createWinkTokenizer);
  if (wordVectors === null) return { chunking, analyzer, embedder: null, vocabulary: null };
  const vectors = openWordVectors(wordVectors);
  return {
    chunking,
    analyzer,
    embedder: createEmbedderShelf(vectors),
    vocabulary: { fingerprint: vectors.fingerprint, rowOf: (word) => lookupTerm(vectors.vocabulary, word) },
  };
}

/** Chunks, segment, and vectors by each of the embedded models named, of the texts of some pages. */
export function preparePages({ pages, dims }: { pages: readonly PageText[]; dims: readonly number[] }): PreparedPages {
  tools ??= openTools();
  const prepared = prepare(tools, pages, dims);
  return moved(
    prepared,
    [...prepared.vectors.values()].map(({ buffer }) => buffer),
  );
}

/** Vectors, by one embedded model, of texts along their stored chunks. */
export function embedChunkedTexts({ pages, dim }: { pages: readonly ChunkedText[]; dim: number }): Float32Array {
  tools ??= openTools();
  const rows = embed(tools, pages, dim);
  return moved(rows, [rows.buffer]);
}

/** The segment of a text along its stored chunks. */
export function segmentOfChunks(page: ChunkedText): SharedArrayBuffer {
  tools ??= openTools();
  return buildSegment(tools, page);
}

/** Load the language model and the word vectors, so that the first page does not wait for them. */
export function warmUp(): void {
  tools ??= openTools();
}
