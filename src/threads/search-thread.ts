/**
 * Entry of the searcher threads. Each is pinned and has a snapshot of each namespace's sparse index, so tasks are never aborted: a
 * replaced thread would have none until the next publication.
 */

import type { Bitmap } from '../compute/structures/bitmap.ts';
import { createTextAnalyzer } from '../compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../compute/text/rule-tokenizer.ts';
import { porterStem } from '../compute/text/stemmers.ts';
import type { QueryClause } from '../domain/query-clause.ts';
import { type AnalyzedQuery, createQueryAnalyzer, type SearchThreadData } from '../engine/analyze-query.ts';
import { createHighlighter, type Highlighter, type Marked } from '../engine/highlight.ts';
import { labelsMatching } from '../engine/words/labels-matching.ts';
import { languageOfLabel } from '../engine/words/languages.ts';
import { createScratch } from '../engine/words/search-segments.ts';
import {
  createSparseSearcher,
  NoSnapshotError,
  type SnapshotUpdate,
  type SparseQuery,
  type SparseResult,
  type SparseSearcher,
} from '../engine/words/sparse-searcher.ts';
import { wordsIn } from '../engine/words/spelling.ts';
import { openWordList } from '../engine/words/word-list.ts';
import { collectGarbage, giveBackMemory } from './collect-garbage.ts';
import { threadData } from './thread-pool.ts';

/** Dropped segments kept before a collection: every few seconds at full indexing speed. */
const MAX_DROPPED_BYTES = 48 * 2 ** 20;

export interface InNamespace {
  /** Identifies an index: a thread may serve several libraries. */
  namespace: string;
}

const namespaces = new Map<string, SparseSearcher>();
const scratch = createScratch();
/** Dropped since the last collection. */
let droppedBytes = 0;
let tools: ReturnType<typeof openTools> | undefined;
let highlighter: Highlighter | undefined;

/** A query's text and the options of `SparseQuery`. */
export type TextQuery = {
  query: string;
  /** Whether unknown words are corrected. */
  spelling: boolean;
  /** Whether the last word may be unfinished. */
  prefix?: boolean;
  /** Further sets of labels to search. */
  alsoAmong?: readonly Bitmap[];
} & Omit<SparseQuery, 'terms'>;

export interface TextResult {
  analyzed: AnalyzedQuery;
  found: SparseResult;
  /** The best of each further set. */
  alsoAmong: SparseResult[];
  /** Search time without the analysis. */
  searchMs: number;
}

/**
 * Analyse a query and search. Null, here and below, if this thread has no snapshot of the namespace, because it replaced a lost one:
 * publish again.
 */
export function find({
  namespace,
  query,
  k,
  spelling,
  prefix = false,
  allow,
  alsoAmong = [],
}: TextQuery & InNamespace): TextResult | null {
  tools ??= openTools();
  const { analyze, list } = tools;
  return unlessNew(namespace, (sparse) => {
    const analyzed = analyze({ query, prefix, spelling }, wordsIn(sparse.snapshot(), list));
    const began = performance.now();
    const best = (labels: { allow?: Bitmap }) => sparse.search({ terms: analyzed.forms, k, ...labels });
    const found = best(allow === undefined ? {} : { allow });
    const others = alsoAmong.map((labels) => best({ allow: labels }));
    return { analyzed, found, alsoAmong: others, searchMs: performance.now() - began };
  });
}

export interface MarkTask {
  passages: readonly { label: number; text: string }[];
  stems: readonly string[];
}

/** Positions of the query's words in each passage, and its snippet. */
export function mark({ namespace, passages, stems }: MarkTask & InNamespace): Marked[] | null {
  return unlessNew(namespace, (sparse) => {
    tools ??= openTools();
    highlighter ??= createHighlighter(porterStem, tools.analyzer);
    const corpus = sparse.snapshot();
    const inLanguages = passages.map(({ label, text }) => ({ text, language: languageOfLabel(corpus, label) }));
    return highlighter.mark(inLanguages, stems);
  });
}

/** Labels of passages matching each clause, as of `labelsMatching`. */
export function locate({
  namespace,
  clauses,
}: { clauses: readonly QueryClause[] } & InNamespace): Uint32Array[] | null {
  tools ??= openTools();
  const { analyzer } = tools;
  analyzer.trim();
  return unlessNew(namespace, (sparse) => clauses.map((each) => labelsMatching(sparse.snapshot(), analyzer, each)));
}

/** Load the language model and the word list, so the first search need not wait. */
export function warmUp(): void {
  tools ??= openTools();
}

/** Adopt a namespace's snapshot. Returns lacking ids, as of `SparseSearcher.publish`. */
export function publish({ namespace, ...update }: SnapshotUpdate & InNamespace): number[] {
  const sparse = namespaces.get(namespace) ?? createSparseSearcher(scratch);
  namespaces.set(namespace, sparse);
  const before = sparse.droppedBytes;
  const lacking = sparse.publish(update);
  dropped(sparse.droppedBytes - before);
  return lacking;
}

export function release({ namespace }: InNamespace): void {
  const sparse = namespaces.get(namespace);
  if (sparse === undefined) return;
  namespaces.delete(namespace);
  const before = sparse.droppedBytes;
  sparse.publish({ ids: [], added: [] });
  dropped(sparse.droppedBytes - before);
}

function dropped(bytes: number): void {
  droppedBytes += bytes;
  if (droppedBytes <= MAX_DROPPED_BYTES) return;
  droppedBytes = 0;
  collectGarbage();
}

/** Free unused memory, in quiet times. */
export function releaseMemory(): void {
  droppedBytes = 0;
  giveBackMemory();
}

function openTools() {
  const { wordList } = threadData<SearchThreadData>();
  const analyzer = createTextAnalyzer(createRuleTokenizer);
  const list = wordList === null ? null : openWordList(wordList);
  return { analyzer, list, analyze: createQueryAnalyzer(analyzer) };
}

/** Null without a snapshot: errors lose their class between threads. */
function unlessNew<Value>(namespace: string, answer: (sparse: SparseSearcher) => Value): Value | null {
  const sparse = namespaces.get(namespace);
  if (sparse === undefined) return null;
  try {
    return answer(sparse);
  } catch (error) {
    if (error instanceof NoSnapshotError) return null;
    throw error;
  }
}
