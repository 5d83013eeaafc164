/**
 * Chunks a batch of pages and builds one segment over them. A title is a field of all chunks of its page, facts of the
 * first only. A page without words has an empty chunk, found by title and facts. The store allocates labels at commit.
 */
import { firstAbove, firstAtLeast } from '../compute/structures/sorted-search.ts';
import { type AnalyzedText, createTextAnalyzer, type TextAnalyzer } from '../compute/text/analyze-text.ts';
import { type ChunkingSettings, chunkText, type TextChunk } from '../compute/text/chunk-text.ts';
import { addressBeginnings, pathWords } from '../compute/text/facts-text.ts';
import { decideLanguages, languageOfPassage, type PageLanguages } from '../compute/text/page-languages.ts';
import { createWinkTokenizer } from '../compute/text/wink-tokenizer.ts';
import { BREAK, endOfWord, wordBytes } from '../compute/text/word-bytes.ts';
import { bareChunk, type Chunk, type Section } from '../domain/page.ts';
import { buildSegmentOfTerms, type SparseTermDocument } from './words/build-segment.ts';
import { pathWord } from './words/marked-terms.ts';

const noTerms = new Uint32Array(0);

export interface PageText {
  title: string | null;
  /** Other searchable facts (compute/text/facts-text.ts); '' for none. */
  facts?: string;
  author?: string;
  address?: string;
  /** The page's declared language, BCP 47. */
  declared?: string | null;
  text: string;
  sections: readonly Section[];
}

export interface PreparedPages {
  chunks: Chunk[][];
  languages: PageLanguages[];
  wordCounts: number[];
  /** All chunks as a segment; their indexes serve as labels. */
  segment: SharedArrayBuffer;
}

export interface PageTools {
  analyzer: TextAnalyzer;
  chunking: ChunkingSettings;
}

export function openPageTools(chunking: ChunkingSettings): PageTools {
  return { chunking, analyzer: createTextAnalyzer(createWinkTokenizer) };
}

/** A text with its stored chunks, to rebuild its segment. */
export interface ChunkedText extends Omit<PageText, 'sections'> {
  /** Languages of its passages, if known (`PageLanguages`). */
  passage_languages?: readonly string[] | undefined;
  chunks: readonly Chunk[];
}

export function preparePages({ analyzer, chunking }: PageTools, pages: readonly PageText[]): PreparedPages {
  analyzer.trim();
  const analyzed = pages.map((page) => {
    const { text, sections } = page;
    const analysis = analyzer.analyze(text);
    const heading = headingOf(analyzer, page);
    const chunks = chunkText(analysis, sections, chunking);
    const isBare = chunks.length === 0 && (hasTerm(heading.title) || hasTerm(heading.facts));
    const languages = decideLanguages(analysis, heading.analyzed, chunks, page.declared ?? null);
    const known = { text, analysis, heading, languages };
    return { ...known, chunks: isBare ? [{ ...bareChunk, token_from: 0, token_to: 0 }] : chunks };
  });
  const documents = analyzed.flatMap(({ text, analysis, heading, languages, chunks }) =>
    documentsOf(analyzer, text, analysis, chunks, heading, languages.passage_languages),
  );
  return {
    chunks: analyzed.map(({ chunks }) => chunks.map(({ token_from: _from, token_to: _to, ...chunk }) => chunk)),
    languages: analyzed.map(({ languages }) => languages),
    wordCounts: analyzed.map(({ analysis }) => analysis.terms.reduce((words, term) => words + (term === 0 ? 0 : 1), 0)),
    segment: buildSegmentOfTerms(analyzer.lexicon, documents).buffer,
  };
}

/** Rebuild the segment of a chunked text. The result is as at indexing, even if chunking has changed since. */
export function segmentOfChunks({ analyzer }: Pick<PageTools, 'analyzer'>, page: ChunkedText): SharedArrayBuffer {
  analyzer.trim();
  const { analyzed, chunks, heading, languages } = analyzeChunked(analyzer, page);
  const documents = documentsOf(analyzer, page.text, analyzed, chunks, heading, languages);
  return buildSegmentOfTerms(analyzer.lexicon, documents).buffer;
}

/** Tokenizes a text again, with its stored chunks and languages. Earlier versions did not store the languages. */
function analyzeChunked(analyzer: TextAnalyzer, page: ChunkedText) {
  const analyzed = analyzer.analyze(page.text);
  const chunks = page.chunks.map((chunk) => ({
    ...chunk,
    token_from: firstAbove(analyzed.ends, chunk.char_start),
    token_to: firstAtLeast(analyzed.starts, chunk.char_end),
  }));
  const heading = headingOf(analyzer, page);
  const languages =
    page.passage_languages ??
    decideLanguages(analyzed, heading.analyzed, chunks, page.declared ?? null).passage_languages;
  return { analyzed, chunks, heading, languages };
}

interface Heading {
  analyzed: AnalyzedText;
  title: Uint32Array;
  facts: Uint32Array;
  author: Uint32Array;
  beginnings: readonly string[];
  run: readonly number[];
}

function headingOf(
  analyzer: TextAnalyzer,
  { title, facts = '', author = '', address = '' }: Pick<PageText, 'title' | 'facts' | 'author' | 'address'>,
): Heading {
  const analyzed = analyzer.analyze(title ?? '');
  return {
    analyzed,
    title: analyzed.terms,
    facts: distinct(termsOf(analyzer, facts)),
    author: distinct(termsOf(analyzer, author)),
    beginnings: [...addressBeginnings(address), ...pathWords(address).map(pathWord)],
    run: [BREAK, ...wordBytes(title ?? ''), BREAK],
  };
}

function documentsOf(
  analyzer: TextAnalyzer,
  text: string,
  analyzed: AnalyzedText,
  chunks: readonly Pick<TextChunk, 'char_start' | 'char_end' | 'section_title' | 'token_from' | 'token_to'>[],
  heading: Heading,
  languages: readonly string[],
): SparseTermDocument[] {
  const { lexicon } = analyzer;
  const [language = ''] = languages;
  const title = lexicon.inLanguage(heading.title, language);
  const author = lexicon.inLanguage(heading.author, language);
  const facts = lexicon.inLanguage(heading.facts, language);
  let told = 0;
  return chunks.map((chunk, ordinal) => {
    const { char_start, char_end, section_title, token_from, token_to } = chunk;
    const terms = analyzed.terms.subarray(token_from, token_to);
    // A passage may end within a word.
    const end = char_end <= told ? told : endOfWord(text, char_end);
    const run = wordBytes(text.slice(Math.max(told, char_start), end));
    told = Math.max(told, end);
    const ofPage = ordinal === 0;
    const ofPassage = languageOfPassage(analyzed, chunk, languages);
    return {
      language: ofPassage,
      title,
      body: lexicon.inLanguage(terms, ofPassage),
      section: lexicon.inLanguage(termsOf(analyzer, section_title), language),
      facts: ofPage ? facts : noTerms,
      ...(ofPage ? { fields: { title, author }, beginnings: heading.beginnings } : {}),
      run: ofPage ? [...heading.run, ...run] : run,
    };
  });
}

function termsOf(analyzer: TextAnalyzer, heading: string | null): Uint32Array {
  return heading === null ? noTerms : analyzer.analyze(heading).terms;
}

/** A fact given twice, such as author and host, counts once. */
function distinct(terms: Uint32Array): Uint32Array {
  return Uint32Array.from(new Set(terms));
}

function hasTerm(terms: Uint32Array): boolean {
  return terms.some((term) => term !== 0);
}
