/**
 * What indexing makes of one page's text, in one pass on a work thread: its chunks, their vectors by the embedded model, and a
 * sparse segment over them. The chunks of a page share its title: it takes part in every passage's vector and is a field of its
 * own in BM25F. Labels are not known here; the store allocates them when the result is committed.
 */
import type { AnalyzedText, TextAnalyzer } from '../compute/analyze-text.ts';
import { type ChunkingSettings, chunkText, type SectionStart, type TextChunk } from '../compute/chunk-text.ts';
import type { LocalEmbedder } from '../compute/embed-local.ts';
import { firstAbove, firstAtLeast } from '../compute/sorted-search.ts';
import type { Chunk } from '../domain/page.ts';
import { modelTerms, type SparseTermDocument } from './model-segment.ts';

const noTerms = new Uint32Array(0);

export interface PageText {
  title: string | null;
  text: string;
  sections: readonly SectionStart[];
}

export interface PreparedPage {
  chunks: Chunk[];
  /** Shape: chunks × dim, unit rows; a row of zeros where a chunk has no term. Null when the active model is not embedded here. */
  vectors: Float32Array | null;
  /** The page's chunks as a segment whose labels are their ordinals. */
  segment: SharedArrayBuffer;
}

export interface PageTools {
  analyzer: TextAnalyzer;
  embedder: LocalEmbedder | null;
  chunking: ChunkingSettings;
}

/** A text along whose stored chunks a segment is to be made again. */
export interface ChunkedText {
  title: string | null;
  text: string;
  chunks: readonly Chunk[];
}

export function preparePage({ analyzer, embedder, chunking }: PageTools, page: PageText): PreparedPage {
  analyzer.tidy();
  const analyzed = analyzer.analyze(page.text);
  const title = termsOf(analyzer, page.title);
  const chunks = chunkText(analyzed, page.sections, chunking);
  return {
    chunks: chunks.map(({ token_from: _from, token_to: _to, ...chunk }) => chunk),
    vectors: embedder === null ? null : embedChunks(embedder, analyzed, chunks, title),
    segment: modelTerms(analyzed.lexicon, documentsOf(analyzer, analyzed, chunks, title)).buffer,
  };
}

/** The segment of a text that was chunked before: the same that `preparePage` made then, whatever the chunking is now. */
export function modelChunkedText({ analyzer }: Pick<PageTools, 'analyzer'>, page: ChunkedText): SharedArrayBuffer {
  analyzer.tidy();
  const analyzed = analyzer.analyze(page.text);
  const chunks = page.chunks.map((chunk) => ({
    section_title: chunk.section_title,
    token_from: firstAbove(analyzed.ends, chunk.char_start),
    token_to: firstAtLeast(analyzed.starts, chunk.char_end),
  }));
  const documents = documentsOf(analyzer, analyzed, chunks, termsOf(analyzer, page.title));
  return modelTerms(analyzed.lexicon, documents).buffer;
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

function embedChunks(
  embedder: LocalEmbedder,
  { lexicon, terms }: AnalyzedText,
  chunks: readonly TextChunk[],
  title: Uint32Array,
): Float32Array {
  const rows = new Float32Array(chunks.length * embedder.dim);
  chunks.forEach(({ token_from, token_to }, row) => {
    embedder.embedTerms(lexicon, terms, token_from, token_to, rows, row * embedder.dim, title);
  });
  return rows;
}

function termsOf(analyzer: TextAnalyzer, heading: string | null): Uint32Array {
  return heading === null ? noTerms : analyzer.analyze(heading).terms;
}
