/**
 * A searcher thread has a snapshot of each namespace's segments and reads its vectors, so its tasks are never aborted.
 * Tasks run one at a time, except while `find` waits for its query's vector.
 */

import type { Bitmap } from '../compute/structures/bitmap.ts';
import { createTextAnalyzer } from '../compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../compute/text/rule-tokenizer.ts';
import { porterStem } from '../compute/text/stemmers.ts';
import { textFragmentLink } from '../compute/web/text-fragment.ts';
import type { WordClause } from '../domain/query-clause.ts';
import { createQueryAnalyzer, type SearchThreadData } from '../engine/analyze-query.ts';
import { createHighlighter, type Marked } from '../engine/highlight.ts';
import { type Candidates, type Match, matchWords, type Retrieval, retrieve } from '../engine/retrieve.ts';
import {
  nearest as nearestRows,
  type RelatedOptions,
  type RelatedRow,
  RowGraph,
  relatedRows,
  type SearchedRows,
} from '../engine/vectors/row-graph.ts';
import { meanOfRows, type NearestOptions } from '../engine/vectors/row-search.ts';
import { type SharedRows, VectorRows } from '../engine/vectors/vector-rows.ts';
import { labelsMatching } from '../engine/words/labels-matching.ts';
import { languageOfLabel } from '../engine/words/languages.ts';
import { sketchPages } from '../engine/words/page-sketches.ts';
import { createScratch } from '../engine/words/search-segments.ts';
import { type SnapshotUpdate, SparseSearcher } from '../engine/words/sparse-searcher.ts';
import { openWordList } from '../engine/words/word-list.ts';
import { collectGarbage, giveBackMemory } from './collect-garbage.ts';
import { threadData } from './thread-pool.ts';

/** Max bytes of dropped segments before a garbage collection: every few seconds at full indexing speed. */
const MAX_DROPPED_BYTES = 48 * 2 ** 20;

export interface InNamespace {
  /** Identifies an index, because a thread may serve several libraries. */
  namespace: string;
}

interface Library {
  sparse: SparseSearcher;
  /** Rows by the numbers of `Searchers.openRows`. */
  rows: Map<number, SearchedRows>;
}

const libraries = new Map<string, Library>();
const scratch = createScratch();
let droppedBytes = 0;
let tools: ReturnType<typeof openTools> | undefined;

/** As of `retrieve`. Null, here and below: this thread replaced a lost one and needs segments or rows again. */
export async function find({ namespace, ...request }: Retrieval & InNamespace): Promise<Candidates | null> {
  const parts = partsOf(namespace, request);
  return parts && retrieve(parts, request);
}

export async function match({ namespace, ...query }: Match & InNamespace): Promise<Bitmap | null> {
  const parts = partsOf(namespace, query);
  return parts && matchWords(parts, query);
}

function partsOf(namespace: string, { vectors }: Pick<Retrieval, 'vectors'>) {
  const { sparse, rows: opened } = libraries.get(namespace) ?? {};
  const rows = vectors === null ? null : opened?.get(vectors.rows);
  return sparse?.corpus == null || rows === undefined ? null : { analyze: openedTools().analyze, sparse, rows };
}

/** Sketches of pages, each given by one of its labels. */
export function sketch({ namespace, labels }: { labels: readonly number[] } & InNamespace) {
  const corpus = libraries.get(namespace)?.sparse.corpus;
  return corpus == null ? null : sketchPages(corpus, labels);
}

export interface NearestTask extends NearestOptions {
  rows: number;
  /** A vector; or labels, for the mean of their rows. */
  to: Float32Array | Uint32Array;
}

/** The nearest rows, best first, ties by label; none without a vector. */
export function nearest({ namespace, rows: number, to, ...options }: NearestTask & InNamespace) {
  const searched = libraries.get(namespace)?.rows.get(number);
  if (searched === undefined) return null;
  const vector = to instanceof Float32Array ? to : meanOfRows(searched.rows, to);
  if (vector === null) return { labels: new Uint32Array(0), scores: new Float32Array(0) };
  return nearestRows(searched, vector, options);
}

export type RelatedTask = RelatedOptions & { rows: number };

export function related({ namespace, rows: number, ...task }: RelatedTask & InNamespace): RelatedRow[] | null {
  const rows = libraries.get(namespace)?.rows.get(number);
  return rows === undefined ? null : relatedRows(rows, task);
}

export interface MarkTask {
  passages: readonly { label: number; text: string; url: string }[];
  stems: readonly string[];
}

export type MarkedPassage = Marked & { link: string };

/** Positions of the query's words in each passage, its snippet and a link. */
export function mark({ namespace, passages, stems }: MarkTask & InNamespace): MarkedPassage[] | null {
  const corpus = libraries.get(namespace)?.sparse.corpus;
  if (corpus == null) return null;
  const inLanguages = passages.map(({ label, text }) => ({ text, language: languageOfLabel(corpus, label) }));
  return openedTools()
    .highlighter.mark(inLanguages, stems)
    .map((marked, at) => {
      const { url, text } = passages[at];
      return { ...marked, link: textFragmentLink(url, text, marked.snippet) };
    });
}

/** Labels of passages matching each clause, as of `labelsMatching`. */
export function locate({ namespace, clauses }: { clauses: readonly WordClause[] } & InNamespace): Uint32Array[] | null {
  const { analyzer } = openedTools();
  analyzer.trim();
  const corpus = libraries.get(namespace)?.sparse.corpus;
  return corpus == null ? null : clauses.map((each) => labelsMatching(corpus, analyzer, each));
}

export function warmUp(): void {
  openedTools();
}

/** Adopt a namespace's snapshot. Returns lacking ids, as of `SparseSearcher.publish`. */
export function publish({ namespace, ...update }: SnapshotUpdate & InNamespace): number[] {
  const { sparse } = libraryOf(namespace);
  const before = sparse.droppedBytes;
  const lacking = sparse.publish(update);
  dropped(sparse.droppedBytes - before);
  return lacking;
}

export interface OpenedRows {
  id: number;
  shared: SharedRows;
  reader: number;
  /** Rows with the same labels, whose graph also serves these; null: none. */
  before: number | null;
}

export function openRows({ namespace, id, shared, reader, before }: OpenedRows & InNamespace): void {
  const { rows } = libraryOf(namespace);
  if (rows.has(id)) return;
  const graph = before === null ? null : (rows.get(before)?.graph ?? null);
  rows.set(id, { rows: new VectorRows(shared, reader), graph });
}

/** Use a checked graph of these rows; false without the package. Errors: of a truncated file. */
export async function openGraph({
  namespace,
  id,
  path,
}: { id: number; path: string } & InNamespace): Promise<boolean | null> {
  const searched = libraries.get(namespace)?.rows.get(id);
  if (searched === undefined) return null;
  const graph = await RowGraph.read(path, searched.rows.dim);
  searched.graph = graph;
  collectGarbage(); // native memory, which the engine does not count
  return graph !== null;
}

export function closeGraph({ namespace, id }: { id: number } & InNamespace): void {
  const searched = libraries.get(namespace)?.rows.get(id);
  if (searched == null || searched.graph === null) return;
  searched.graph = null;
  collectGarbage();
}

export function closeRows({ namespace, id }: { id: number } & InNamespace): void {
  if (libraries.get(namespace)?.rows.delete(id)) collectGarbage();
}

export function release({ namespace }: InNamespace): void {
  const library = libraries.get(namespace);
  if (library === undefined) return;
  libraries.delete(namespace);
  const before = library.sparse.droppedBytes;
  library.sparse.publish({ ids: [], added: [] });
  dropped(library.sparse.droppedBytes - before);
}

function libraryOf(namespace: string): Library {
  const library = libraries.get(namespace) ?? {
    sparse: new SparseSearcher(scratch, openedTools().list),
    rows: new Map(),
  };
  libraries.set(namespace, library);
  return library;
}

function dropped(bytes: number): void {
  droppedBytes += bytes;
  if (droppedBytes <= MAX_DROPPED_BYTES) return;
  droppedBytes = 0;
  collectGarbage();
}

export function releaseMemory(): void {
  droppedBytes = 0;
  giveBackMemory();
}

function openedTools() {
  tools ??= openTools();
  return tools;
}

function openTools() {
  const { wordList } = threadData<SearchThreadData>();
  const analyzer = createTextAnalyzer(createRuleTokenizer);
  const list = wordList === null ? null : openWordList(wordList);
  return {
    analyzer,
    list,
    analyze: createQueryAnalyzer(analyzer),
    highlighter: createHighlighter(porterStem, analyzer),
  };
}
