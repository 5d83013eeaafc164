/**
 * What indexing makes of the texts of a batch of pages, in one pass on a work thread: their chunks, their vectors by the embedded
 * model, and one segment over them for the sparse side and the reranker. The chunks of a page share its title: it takes part in
 * every passage's vector and is a field of its own in BM25F. Labels are not known here; the store allocates them when the result
 * is committed.
 */
import type { LocalEmbedder } from '../compute/embedding/embed-local.ts';
import { firstAbove, firstAtLeast } from '../compute/structures/sorted-search.ts';
import type { AnalyzedText, TextAnalyzer } from '../compute/text/analyze-text.ts';
import { type ChunkingSettings, chunkText, type TextChunk } from '../compute/text/chunk-text.ts';
import type { Lexicon } from '../compute/text/lexicon.ts';
import type { Chunk, Section } from '../domain/page.ts';
import { type ForwardVocabulary, modelTerms, type SparseTermDocument } from './model-segment.ts';

const noTerms = new Uint32Array(0);

export interface PageText {
  title: string | null;
  text: string;
  sections: readonly Section[];
}

export interface PreparedPages {
  /** Of each page. */
  chunks: Chunk[][];
  /** By dimension, of each embedded model that was asked for. Shape: all chunks, page by page × dim, unit rows; zeros where a chunk has no term. */
  vectors: ReadonlyMap<number, Float32Array>;
  /** All chunks as a segment whose labels are their places. */
  segment: SharedArrayBuffer;
}

export interface PageTools {
  analyzer: TextAnalyzer;
  /** Gives the embedded model of so many dimensions; null where the word vectors are not loaded. */
  embedder: ((dim: number) => LocalEmbedder) | null;
  /** Of the word vectors; null where they are not loaded, and segments have no forward index. */
  vocabulary: ForwardVocabulary | null;
  chunking: ChunkingSettings;
}

/** A text along whose stored chunks a segment is to be made again. */
export interface ChunkedText {
  title: string | null;
  text: string;
  chunks: readonly Chunk[];
}

export function preparePages(
  { analyzer, embedder, vocabulary, chunking }: PageTools,
  pages: readonly PageText[],
  dims: readonly number[],
): PreparedPages {
  analyzer.tidy();
  const analyzed = pages.map(({ title, text, sections }) => {
    const analysis = analyzer.analyze(text);
    return { analysis, title: termsOf(analyzer, title), chunks: chunkText(analysis, sections, chunking) };
  });
  const documents = analyzed.flatMap(({ analysis, title, chunks }) => documentsOf(analyzer, analysis, chunks, title));
  return {
    chunks: analyzed.map(({ chunks }) => chunks.map(({ token_from: _from, token_to: _to, ...chunk }) => chunk)),
    vectors: embedAll(embedder, dims, analyzer.lexicon, documents),
    segment: modelTerms(analyzer.lexicon, documents, vocabulary).buffer,
  };
}

/** The segment of a text that was chunked before: the same that `preparePages` made then, whatever the chunking is now. */
export function modelChunkedText(
  { analyzer, vocabulary }: Pick<PageTools, 'analyzer' | 'vocabulary'>,
  page: ChunkedText,
): SharedArrayBuffer {
  analyzer.tidy();
  return modelTerms(analyzer.lexicon, chunkedDocuments(analyzer, page), vocabulary).buffer;
}

/** Vectors of texts that were chunked before, by the embedded model of so many dimensions: the same as when they were prepared. */
export function embedChunkedTexts(
  { analyzer, embedder }: Pick<PageTools, 'analyzer' | 'embedder'>,
  pages: readonly ChunkedText[],
  dim: number,
): Float32Array {
  analyzer.tidy();
  const documents = pages.flatMap((page) => chunkedDocuments(analyzer, page));
  const rows = embedAll(embedder, [dim], analyzer.lexicon, documents).get(dim);
  if (rows === undefined) throw new Error('the word vectors are not loaded');
  return rows;
}

function chunkedDocuments(analyzer: TextAnalyzer, page: ChunkedText): SparseTermDocument[] {
  const analyzed = analyzer.analyze(page.text);
  const chunks = page.chunks.map((chunk) => ({
    section_title: chunk.section_title,
    token_from: firstAbove(analyzed.ends, chunk.char_start),
    token_to: firstAtLeast(analyzed.starts, chunk.char_end),
  }));
  return documentsOf(analyzer, analyzed, chunks, termsOf(analyzer, page.title));
}

function documentsOf(
  analyzer: TextAnalyzer,
  { terms }: AnalyzedText,
  chunks: readonly Pick<TextChunk, 'section_title' | 'token_from' | 'token_to'>[],
  title: Uint32Array,
): SparseTermDocument[] {
  return chunks.map(({ section_title, token_from, token_to }) => ({
    title,
    section: termsOf(analyzer, section_title),
    body: terms.subarray(token_from, token_to),
  }));
}

function embedAll(
  embedder: PageTools['embedder'],
  dims: readonly number[],
  lexicon: Lexicon,
  documents: readonly SparseTermDocument[],
): Map<number, Float32Array> {
  if (embedder === null) return new Map();
  return new Map(dims.map((dim) => [dim, embedDocuments(embedder(dim), lexicon, documents)]));
}

function embedDocuments(
  embedder: LocalEmbedder,
  lexicon: Lexicon,
  documents: readonly SparseTermDocument[],
): Float32Array {
  const rows = new Float32Array(documents.length * embedder.dim);
  documents.forEach(({ body, title }, row) => {
    embedder.embedTerms(lexicon, body, 0, body.length, rows, row * embedder.dim, title);
  });
  return rows;
}

function termsOf(analyzer: TextAnalyzer, heading: string | null): Uint32Array {
  return heading === null ? noTerms : analyzer.analyze(heading).terms;
}
