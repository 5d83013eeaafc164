/**
 * The ranking collections of ../shared/data/ir, prepared as the service prepares pages: one analysis, chunks, a sparse segment,
 * a forward index and vectors by the embedded model. In memory only.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalEmbedder } from '../../src/compute/embedding/embed-local.ts';
import type { WordVectors } from '../../src/compute/embedding/word-vectors.ts';
import { lookupTerm } from '../../src/compute/structures/term-table.ts';
import type { TextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { chunkText } from '../../src/compute/text/chunk-text.ts';
import type { ForwardPart } from '../../src/engine/rerank/word-numbers.ts';
import { UNITS } from '../../src/engine/words/bm25f.ts';
import { buildSegmentOfTerms } from '../../src/engine/words/build-segment.ts';
import { type CorpusSegment, corpusSegment } from '../../src/engine/words/corpus.ts';
import { createDeletions } from '../../src/engine/words/deletions.ts';
import type { ForwardDocument } from '../../src/engine/words/forward-index.ts';

/** The defaults of the settings `chunking.*`. */
const CHUNKING = { target_tokens: 448, overlap_tokens: 64, hard_max_tokens: 512 };

export interface JudgedQuery {
  id: string;
  text: string;
  /** Grades above 0 by document id. */
  grades: ReadonlyMap<string, number>;
}

export interface PreparedCollection {
  name: string;
  documents: number;
  chunks: number;
  queries: JudgedQuery[];
  /** The document of each chunk; a chunk's label is its place. */
  documentOf: string[];
  corpus: CorpusSegment[];
  forward: ForwardPart;
  meanLength: number;
  meanTitleLength: number;
  /** Shape: chunks × dim. */
  vectors: Float32Array;
}

export interface PreparationTools {
  analyzer: TextAnalyzer;
  embedder: LocalEmbedder;
  wordVectors: WordVectors;
}

/** Names of the collections in `root`. Errors: throws if there is none. */
export function collectionNames(root: string): string[] {
  if (!existsSync(root)) throw new Error(`the ranking collections are not at ${root}`);
  return readdirSync(root).sort();
}

export function prepareCollection(
  root: string,
  name: string,
  maxQueries: number,
  { analyzer, embedder, wordVectors }: PreparationTools,
): PreparedCollection {
  const lines = (file: string) =>
    readFileSync(join(root, name, file), 'utf8')
      .trim()
      .split('\n');
  const documentOf: string[] = [];
  const counted: ForwardDocument[] = [];
  const rows: Float32Array[] = [];
  analyzer.trim();
  const { lexicon } = analyzer.analyze('');
  for (const line of lines('corpus.jsonl')) {
    const { _id, title, text } = JSON.parse(line);
    const analyzed = analyzer.analyze(text);
    const heading = analyzer.analyze(title ?? '').terms;
    for (const { token_from, token_to } of chunkText(analyzed, [], CHUNKING)) {
      const row = new Float32Array(embedder.dim);
      embedder.embedTerms(lexicon, analyzed.terms, token_from, token_to, row, 0, heading);
      documentOf.push(_id);
      counted.push({ title: heading, body: analyzed.terms.slice(token_from, token_to) });
      rows.push(row);
    }
  }
  const segment = buildSegmentOfTerms(
    lexicon,
    counted.map(({ title, body }) => ({ title, section: new Uint32Array(0), body })),
    { fingerprint: wordVectors.fingerprint, rowOf: (word) => lookupTerm(wordVectors.vocabulary, word) },
  );
  if (segment.forward === null) throw new Error('a segment without a forward index');
  const vectors = new Float32Array(rows.length * embedder.dim);
  rows.forEach((row, chunk) => {
    vectors.set(row, chunk * embedder.dim);
  });
  return {
    name,
    documents: new Set(documentOf).size,
    chunks: documentOf.length,
    queries: judgedQueries(lines('queries.jsonl'), lines('qrels.tsv')).slice(0, maxQueries),
    documentOf,
    corpus: [corpusSegment(0, segment, createDeletions(segment.docs))],
    forward: { index: segment.forward, terms: segment.terms },
    meanLength: segment.totalLength / UNITS / segment.docs,
    meanTitleLength: segment.totalTitleLength / counted.length,
    vectors,
  };
}

/** The queries that have a relevant document, in their order. */
function judgedQueries(queryLines: readonly string[], judgementLines: readonly string[]): JudgedQuery[] {
  const grades = new Map<string, Map<string, number>>();
  for (const line of judgementLines) {
    const [query, document, grade] = line.split('\t');
    if (!(Number(grade) > 0)) continue;
    const known = grades.get(query) ?? new Map<string, number>();
    grades.set(query, known.set(document, Number(grade)));
  }
  return queryLines.flatMap((line) => {
    const { _id, text } = JSON.parse(line);
    const judged = grades.get(_id);
    return judged === undefined ? [] : [{ id: _id, text, grades: judged }];
  });
}
