/**
 * What indexing makes of the texts of a batch of pages, in one pass on a work thread: their chunks, their vectors by the embedded
 * model, and one segment over them for the sparse side and the reranker. The chunks of a page share its title: it takes part in
 * every passage's vector and is a field of its own in BM25F; the facts of a page are one of its first chunk. A page without words in
 * its text has a bare chunk: it is found by title and facts, and nearest by its title. Labels are not known here; the store
 * allocates them when the result is committed.
 */
import type { LocalEmbedder } from '../compute/embedding/embed-local.ts';
import { firstAbove, firstAtLeast } from '../compute/structures/sorted-search.ts';
import type { AnalyzedText, TextAnalyzer } from '../compute/text/analyze-text.ts';
import { languageOfPassage, languageOfText } from '../compute/text/chunk-languages.ts';
import { type ChunkingSettings, chunkText, type TextChunk } from '../compute/text/chunk-text.ts';
import type { Lexicon } from '../compute/text/lexicon.ts';
import { BREAK, endOfWord, wordBytes } from '../compute/text/word-bytes.ts';
import { bareChunk, type Chunk, type Section } from '../domain/page.ts';
import { buildSegmentOfTerms, type ForwardVocabulary, type SparseTermDocument } from './words/build-segment.ts';

const noTerms = new Uint32Array(0);

export interface PageText {
  title: string | null;
  /** What else the page is found by (compute/text/facts-text.ts); '' for nothing. */
  facts?: string;
  /** Who wrote it; '' where that is not known. */
  author?: string;
  /** The language that the page says it is in; '' where it says none that is known. It counts where the text does not tell. */
  lang?: string;
  text: string;
  sections: readonly Section[];
}

export interface PreparedPages {
  /** Of each page. */
  chunks: Chunk[][];
  /** Of each page's text: the language as ISO 639-1 code, '' where nothing tells; and its words. */
  languages: string[];
  wordCounts: number[];
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
  /** As of a `PageText`; vectors are made without. */
  facts?: string;
  author?: string;
  lang?: string;
  text: string;
  chunks: readonly Chunk[];
}

export function preparePages(
  { analyzer, embedder, vocabulary, chunking }: PageTools,
  pages: readonly PageText[],
  dims: readonly number[],
): PreparedPages {
  analyzer.trim();
  const analyzed = pages.map((page) => {
    const { text, sections } = page;
    const analysis = analyzer.analyze(text);
    const heading = headingOf(analyzer, page);
    const chunks = chunkText(analysis, sections, chunking);
    const isBare = chunks.length === 0 && (hasTerm(heading.title) || hasTerm(heading.facts));
    const language = languageOfText(analysis, heading.language);
    const known = { text, analysis, heading, language };
    return { ...known, chunks: isBare ? [{ ...bareChunk, token_from: 0, token_to: 0 }] : chunks };
  });
  const documents = analyzed.flatMap(({ text, analysis, heading, language, chunks }) =>
    documentsOf(analyzer, text, analysis, chunks, heading, language),
  );
  return {
    chunks: analyzed.map(({ chunks }) => chunks.map(({ token_from: _from, token_to: _to, ...chunk }) => chunk)),
    languages: analyzed.map(({ language }) => language),
    wordCounts: analyzed.map(({ analysis }) => analysis.terms.reduce((words, term) => words + (term === 0 ? 0 : 1), 0)),
    vectors: embedAll(embedder, dims, analyzer.lexicon, documents),
    segment: buildSegmentOfTerms(analyzer.lexicon, documents, vocabulary).buffer,
  };
}

/** The segment of a text that was chunked before: the same that `preparePages` made then, whatever the chunking is now. */
export function segmentOfChunks(
  { analyzer, vocabulary }: Pick<PageTools, 'analyzer' | 'vocabulary'>,
  page: ChunkedText,
): SharedArrayBuffer {
  analyzer.trim();
  const { analyzed, chunks, heading, language } = analyzeChunked(analyzer, page);
  const documents = documentsOf(analyzer, page.text, analyzed, chunks, heading, language);
  return buildSegmentOfTerms(analyzer.lexicon, documents, vocabulary).buffer;
}

/** Vectors of texts that were chunked before, by the embedded model of so many dimensions: the same as when they were prepared. */
export function embedChunkedTexts(
  { analyzer, embedder }: Pick<PageTools, 'analyzer' | 'embedder'>,
  pages: readonly ChunkedText[],
  dim: number,
): Float32Array {
  analyzer.trim();
  const passages = pages.flatMap((page) => {
    const { analyzed, chunks, heading, language } = analyzeChunked(analyzer, page);
    return passagesOf(analyzer, analyzed, chunks, heading, language);
  });
  const rows = embedAll(embedder, [dim], analyzer.lexicon, passages).get(dim);
  if (rows === undefined) throw new Error('the word vectors are not loaded');
  return rows;
}

/** What an embedded model makes a vector of. */
interface Passage {
  language: string;
  title: Uint32Array;
  body: Uint32Array;
}

/** A text and its stored chunks by the tokens that it has now. */
function analyzeChunked(analyzer: TextAnalyzer, page: ChunkedText) {
  const analyzed = analyzer.analyze(page.text);
  const chunks = page.chunks.map((chunk) => ({
    ...chunk,
    token_from: firstAbove(analyzed.ends, chunk.char_start),
    token_to: firstAtLeast(analyzed.starts, chunk.char_end),
  }));
  const heading = headingOf(analyzer, page);
  return { analyzed, chunks, heading, language: languageOfText(analyzed, heading.language) };
}

/** What the passages of a page share. */
interface Heading {
  title: Uint32Array;
  facts: Uint32Array;
  author: Uint32Array;
  /** Where phrases are looked for. */
  run: readonly number[];
  /** The language of a page whose text does not tell. */
  language: string;
}

function headingOf(
  analyzer: TextAnalyzer,
  { title, facts = '', author = '', lang = '' }: Pick<PageText, 'title' | 'facts' | 'author' | 'lang'>,
): Heading {
  const analyzed = analyzer.analyze(title ?? '');
  const language = lang === '' ? languageOfText(analyzed, '') : lang;
  return {
    title: analyzed.terms,
    facts: distinct(termsOf(analyzer, facts)),
    author: distinct(termsOf(analyzer, author)),
    run: [BREAK, ...wordBytes(title ?? ''), BREAK],
    language,
  };
}

function passagesOf(
  { lexicon }: TextAnalyzer,
  analyzed: AnalyzedText,
  chunks: readonly Pick<TextChunk, 'token_from' | 'token_to'>[],
  heading: Heading,
  language: string,
): Passage[] {
  const title = lexicon.inLanguage(heading.title, language);
  return chunks.map(({ token_from, token_to }) => {
    const spoken = languageOfPassage(analyzed, token_from, token_to, language);
    return { language: spoken, title, body: lexicon.inLanguage(analyzed.terms.subarray(token_from, token_to), spoken) };
  });
}

/** Passages with what else words find them by. */
function documentsOf(
  analyzer: TextAnalyzer,
  text: string,
  analyzed: AnalyzedText,
  chunks: readonly Pick<TextChunk, 'char_start' | 'char_end' | 'section_title' | 'token_from' | 'token_to'>[],
  heading: Heading,
  language: string,
): (Passage & SparseTermDocument)[] {
  const { lexicon } = analyzer;
  const passages = passagesOf(analyzer, analyzed, chunks, heading, language);
  const author = lexicon.inLanguage(heading.author, language);
  const facts = lexicon.inLanguage(heading.facts, language);
  let told = 0;
  return chunks.map(({ char_start, char_end, section_title }, ordinal) => {
    const passage = passages[ordinal];
    // A passage may end in the middle of what is a word here.
    const end = endOfWord(text, char_end);
    const run = wordBytes(text.slice(Math.max(told, char_start), end));
    told = Math.max(told, end);
    const ofPage = ordinal === 0;
    return {
      ...passage,
      section: lexicon.inLanguage(termsOf(analyzer, section_title), language),
      facts: ofPage ? facts : noTerms,
      ...(ofPage ? { fields: { title: passage.title, author } } : {}),
      run: ofPage ? [...heading.run, ...run] : run,
    };
  });
}

function embedAll(
  embedder: PageTools['embedder'],
  dims: readonly number[],
  lexicon: Lexicon,
  passages: readonly Passage[],
): Map<number, Float32Array> {
  if (embedder === null) return new Map();
  return new Map(dims.map((dim) => [dim, embedPassages(embedder(dim), lexicon, passages)]));
}

function embedPassages(embedder: LocalEmbedder, lexicon: Lexicon, passages: readonly Passage[]): Float32Array {
  const rows = new Float32Array(passages.length * embedder.dim);
  passages.forEach(({ body, title, language }, row) => {
    const told = (terms: Uint32Array) =>
      language === 'en' || language === '' ? terms : terms.filter((term) => !lexicon.isStop(term, language));
    const text = told(body.length === 0 ? title : body);
    embedder.embedTerms(lexicon, text, 0, text.length, rows, row * embedder.dim, told(title));
  });
  return rows;
}

function termsOf(analyzer: TextAnalyzer, heading: string | null): Uint32Array {
  return heading === null ? noTerms : analyzer.analyze(heading).terms;
}

/** A fact is no more of one for being told twice, by an author's name and a host's. */
function distinct(terms: Uint32Array): Uint32Array {
  return Uint32Array.from(new Set(terms));
}

/** Whether there is more than punctuation. */
function hasTerm(terms: Uint32Array): boolean {
  return terms.some((term) => term !== 0);
}
