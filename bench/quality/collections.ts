/**
 * The ranking collections of ../shared/data/ir, prepared as the service prepares pages: one analysis, chunks, a sparse segment,
 * a forward index and vectors by the embedded model. In memory only.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalEmbedder } from '../../src/compute/embedding/embed-local.ts';
import { embeddingTexts } from '../../src/compute/embedding/embedding-text.ts';
import type { WordVectors } from '../../src/compute/embedding/word-vectors.ts';
import { lookupTerm } from '../../src/compute/structures/term-table.ts';
import type { TextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { preparePages } from '../../src/engine/prepare-page.ts';
import type { ForwardPart } from '../../src/engine/rerank/word-numbers.ts';
import { UNITS } from '../../src/engine/words/bm25f.ts';
import { type CorpusSegment, corpusSegment } from '../../src/engine/words/corpus.ts';
import { createDeletions } from '../../src/engine/words/deletions.ts';
import { languagesOf } from '../../src/engine/words/languages.ts';
import { openSegment } from '../../src/engine/words/segment.ts';

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
  /** The languages of its passages, the commonest first. */
  languages: string[];
  /** The document of each chunk; a chunk's label is its place. */
  documentOf: string[];
  corpus: CorpusSegment[];
  forward: ForwardPart;
  meanLength: number;
  meanTitleLength: number;
  /** Shape: chunks × dim. */
  vectors: Float32Array;
  /** What an outside model is sent of each chunk. */
  texts(): string[];
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

/** Each of these collections by itself; `mixed`: the queries of each over the passages of all. Queries: the first `maxQueries` that have a judgement. */
export function* prepareCollections(
  root: string,
  names: readonly string[],
  maxQueries: number,
  mixed: boolean,
  tools: PreparationTools,
): Generator<PreparedCollection> {
  const queriesOf = (name: string) => ({
    name,
    queries: judgedQueries(name, readLines(root, name, 'queries.jsonl'), readLines(root, name, 'qrels.tsv')).slice(
      0,
      maxQueries,
    ),
  });
  const together = mixed ? preparePassages(root, names, tools) : null;
  for (const name of names) yield { ...(together ?? preparePassages(root, [name], tools)), ...queriesOf(name) };
}

function readLines(root: string, name: string, file: string): string[] {
  return readFileSync(join(root, name, file), 'utf8')
    .trim()
    .split('\n');
}

function preparePassages(
  root: string,
  names: readonly string[],
  { analyzer, embedder, wordVectors }: PreparationTools,
) {
  const documents = names.flatMap((name) =>
    readLines(root, name, 'corpus.jsonl').map((line) => {
      const { _id, title, text }: { _id: string; title?: string; text: string } = JSON.parse(line);
      return { id: `${name}/${_id}`, title: title ?? null, text, sections: [] };
    }),
  );
  const vocabulary = {
    fingerprint: wordVectors.fingerprint,
    rowOf: (word: string) => lookupTerm(wordVectors.vocabulary, word),
  };
  const tools = { analyzer, embedder: () => embedder, vocabulary, chunking: CHUNKING };
  const prepared = preparePages(tools, documents, [embedder.dim]);
  const documentOf = prepared.chunks.flatMap((chunks, page) => chunks.map(() => documents[page].id));
  const segment = openSegment(prepared.segment);
  const vectors = prepared.vectors.get(embedder.dim);
  if (segment.forward === null || vectors === undefined) throw new Error('a segment without a forward index');
  const corpus = [corpusSegment(0, segment, createDeletions(segment.docs))];
  return {
    documents: new Set(documentOf).size,
    chunks: documentOf.length,
    documentOf,
    languages: languagesOf(corpus),
    corpus,
    forward: { index: segment.forward, terms: segment.terms },
    meanLength: segment.totalLength / UNITS / segment.docs,
    meanTitleLength: segment.totalTitleLength / segment.docs,
    vectors,
    texts: () => documents.flatMap(({ title, text }, page) => embeddingTexts(title, text, prepared.chunks[page])),
  };
}

/** The queries that have a relevant document, in their order. */
function judgedQueries(name: string, queryLines: readonly string[], judgementLines: readonly string[]): JudgedQuery[] {
  const grades = new Map<string, Map<string, number>>();
  for (const line of judgementLines) {
    const [query, document, grade] = line.split('\t');
    if (!(Number(grade) > 0)) continue;
    const known = grades.get(query) ?? new Map<string, number>();
    grades.set(query, known.set(`${name}/${document}`, Number(grade)));
  }
  return queryLines.flatMap((line) => {
    const { _id, text } = JSON.parse(line);
    const judged = grades.get(_id);
    return judged === undefined ? [] : [{ id: _id, text, grades: judged }];
  });
}
