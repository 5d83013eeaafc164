/**
 * Entry of the searcher threads; its exports are their tasks. Each thread is pinned and holds a snapshot of the sparse index
 * of each namespace, so its tasks are never aborted: a replaced thread would have none until the next publication.
 */

import { openWordVectors } from '../compute/embedding/word-vectors.ts';
import type { Bitmap } from '../compute/structures/bitmap.ts';
import { createTextAnalyzer } from '../compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../compute/text/rule-tokenizer.ts';
import { porterStem } from '../compute/text/stemmers.ts';
import type { QueryClause } from '../domain/query-clause.ts';
import { type AnalyzedQuery, createQueryAnalyzer, type SearchThreadData } from '../engine/analyze-query.ts';
import { createHighlighter, type Highlighter, type Marked } from '../engine/highlight.ts';
import { judgeRelevance } from '../engine/relevance.ts';
import type { QueryForm } from '../engine/rerank/gather-candidates.ts';
import {
  type CandidateReranker,
  type CandidateScores,
  candidateRerankers,
} from '../engine/rerank/rerank-candidates.ts';
import { labelsHolding } from '../engine/words/labels-holding.ts';
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
import { collectGarbage, giveBackMemory } from './collect-garbage.ts';
import { threadData } from './thread-pool.ts';

/** Segments that may be kept in vain: at full speed of indexing they are collected every few seconds. */
const MAX_DROPPED_BYTES = 48 * 2 ** 20;

/** So long after a publication the words of new segments are learnt, ms: at full speed of indexing there are several a second. */
const LEARN_AFTER_MS = 1000;
/** Of these ms of work with pauses as long as these, in which searches come: some hundred slices for 100,000 chunks. */
const LEARN_SLICE_MS = 1;
const LEARN_PAUSE_MS = 4;

export interface InNamespace {
  /** Names an index: a thread may hold those of several libraries. */
  namespace: string;
}

/** What this thread holds of a namespace. */
interface Held {
  sparse: SparseSearcher;
  /** Made by the first who needs it; null where there are no word vectors. */
  reranker: CandidateReranker | null | undefined;
  /** Whether a query was reranked since the last time: where nobody asks, nothing is learnt for each page that is indexed. */
  isWorthLearning: boolean;
}

const namespaces = new Map<string, Held>();
const scratch = createScratch();
/** Bytes of segments that were let go of since the last collection. */
let droppedBytes = 0;
let tools: ReturnType<typeof openTools> | undefined;
let highlighter: Highlighter | undefined;
/** Those whose new segments are to be learnt. */
const toLearn = new Set<Held>();
let learning: NodeJS.Timeout | undefined;

/** A query's text, the embedded model that is to embed it (null for none), and what `SparseQuery` has beside its terms. */
export type TextQuery = {
  query: string;
  dim: number | null;
  /** Whether words that no text has are taken for others: not as long as texts are missing. */
  spelling: boolean;
  /** Whether the last word may be unfinished. */
  prefix?: boolean;
  /** Sets of labels that are searched beside. */
  beside?: readonly Bitmap[];
} & Omit<SparseQuery, 'terms'>;

export interface TextResult {
  analyzed: AnalyzedQuery;
  /** The best chunks by BM25F. */
  found: SparseResult;
  /** The best of each further set of labels. */
  beside: SparseResult[];
  /** What the search took without the analysis. */
  searchMs: number;
}

/**
 * Analyse a query and search for its terms. Null when this thread has no snapshot of the namespace: it replaced another one that was lost,
 * and must be given the snapshot again. So are the others' answers.
 */
export function find({
  namespace,
  query,
  dim,
  k,
  spelling,
  prefix = false,
  allow,
  beside = [],
}: TextQuery & InNamespace): TextResult | null {
  tools ??= openTools();
  const { analyze, vectors } = tools;
  return unlessNew(namespace, ({ sparse }) => {
    const known = wordsIn(sparse.snapshot(), vectors);
    const analyzed = analyze({ query, dim, prefix }, spelling ? known : { ...known, nearest: () => [] });
    const began = performance.now();
    const best = (labels: { allow?: Bitmap }) => sparse.search({ terms: analyzed.forms, k, ...labels });
    const found = best(allow === undefined ? {} : { allow });
    const others = beside.map((labels) => best({ allow: labels }));
    return { analyzed, found, beside: others, searchMs: performance.now() - began };
  });
}

/** A query's candidates as they are fused, best first, and what is to be said of them. */
export interface JudgeTask {
  forms: QueryForm[];
  /** `floor`: the cosine of what is unrelated, null where it is not known. */
  candidates: CandidateScores & { floor: number | null };
  /** `reranked`: so many are, at most. */
  wants: { order: boolean; relevance: boolean; reranked: number };
}

export interface Judged {
  relevance: Float64Array | null;
  /**
   * Of the first candidates by the local reranker. Null also where it has not what it needs: the word vectors, the forward entry of each of
   * them.
   */
  scores: Float64Array | null;
}

/** How relevant candidates are, and the scores that order them. Null as of `find`. */
export function judge({ namespace, forms, candidates, wants }: JudgeTask & InNamespace): Judged | null {
  return unlessNew(namespace, (held) => {
    const corpus = held.sparse.snapshot();
    const relevance = wants.relevance ? judgeRelevance(corpus, forms, candidates) : null;
    if (!wants.order) return { relevance, scores: null };
    held.isWorthLearning = true;
    const first = firstOf(candidates, wants.reranked);
    return { relevance, scores: rerankerOf(held)?.score(corpus, forms, first) ?? null };
  });
}

/** Of a passage without a vector. */
const orZero = (cosine: number) => cosine || 0;

function firstOf({ labels, cosine, wordCosine, ...rest }: CandidateScores, count: number): CandidateScores {
  return {
    ...rest,
    labels: labels.subarray(0, count),
    cosine: cosine?.subarray(0, count).map(orZero) ?? null,
    wordCosine: wordCosine?.subarray(0, count).map(orZero) ?? null,
  };
}

/** Passages, and the stems of the query that found them. */
export interface MarkTask {
  passages: readonly { label: number; text: string }[];
  stems: readonly string[];
}

/** Where each passage has the query's words, and its snippet. Null as of `find`. */
export function mark({ namespace, passages, stems }: MarkTask & InNamespace): Marked[] | null {
  return unlessNew(namespace, ({ sparse }) => {
    tools ??= openTools();
    highlighter ??= createHighlighter(porterStem, tools.analyzer);
    const corpus = sparse.snapshot();
    const inLanguages = passages.map(({ label, text }) => ({ text, language: languageOfLabel(corpus, label) }));
    return highlighter.mark(inLanguages, stems);
  });
}

/** The labels of the passages that hold each of these, as of `labelsHolding`. Null as of `find`. */
export function locate({
  namespace,
  clauses,
}: { clauses: readonly QueryClause[] } & InNamespace): Uint32Array[] | null {
  tools ??= openTools();
  const { analyzer } = tools;
  analyzer.trim();
  return unlessNew(namespace, ({ sparse }) => clauses.map((each) => labelsHolding(sparse.snapshot(), analyzer, each)));
}

/** Load the language model and the word vectors, so that the first search does not wait for them. */
export function warmUp(): void {
  tools ??= openTools();
}

/** Take over a namespace's snapshot, its first one or the next. Gives the ids that this thread lacks, as of `SparseSearcher.publish`. */
export function publish({ namespace, ...update }: SnapshotUpdate & InNamespace): number[] {
  const held = namespaces.get(namespace) ?? hold(namespace);
  const before = held.sparse.droppedBytes;
  const lacking = held.sparse.publish(update);
  dropped(held.sparse.droppedBytes - before);
  if (lacking.length === 0 && held.isWorthLearning) {
    toLearn.add(held);
    learnAfter(LEARN_AFTER_MS);
  }
  return lacking;
}

function hold(namespace: string): Held {
  const held: Held = { sparse: createSparseSearcher(scratch), reranker: undefined, isWorthLearning: true };
  namespaces.set(namespace, held);
  return held;
}

function rerankerOf(held: Held): CandidateReranker | null {
  tools ??= openTools();
  held.reranker ??= tools.reranker?.() ?? null;
  return held.reranker;
}

/** Let go of a namespace. */
export function release({ namespace }: InNamespace): void {
  const held = namespaces.get(namespace);
  if (held === undefined) return;
  namespaces.delete(namespace);
  toLearn.delete(held);
  const before = held.sparse.droppedBytes;
  held.sparse.publish({ ids: [], added: [] });
  dropped(held.sparse.droppedBytes - before);
}

function dropped(bytes: number): void {
  droppedBytes += bytes;
  if (droppedBytes <= MAX_DROPPED_BYTES) return;
  droppedBytes = 0;
  collectGarbage();
}

/** For quiet times: give back what is not in use. */
export function releaseMemory(): void {
  droppedBytes = 0;
  giveBackMemory();
}

/** Learn ahead what reranking will ask of the segments, one namespace after the other, between two tasks, when so many ms have passed. */
function learnAfter(ms: number): void {
  clearTimeout(learning);
  learning = setTimeout(() => {
    const until = performance.now() + LEARN_SLICE_MS;
    const [held] = toLearn;
    if (held === undefined) return;
    // A thread that was never asked anything has no word vectors open, and nothing to learn for.
    const reranker = tools === undefined ? null : rerankerOf(held);
    const isMore = reranker?.learn(held.sparse.snapshot(), () => performance.now() >= until) ?? false;
    if (!isMore) {
      held.isWorthLearning = false;
      toLearn.delete(held);
    }
    if (toLearn.size > 0) learnAfter(LEARN_PAUSE_MS);
  }, ms).unref();
}

function openTools() {
  const { wordVectors } = threadData<SearchThreadData>();
  const analyzer = createTextAnalyzer(createRuleTokenizer);
  const vectors = wordVectors === null ? null : openWordVectors(wordVectors);
  const reranker = vectors === null ? null : candidateRerankers(vectors);
  return { analyzer, vectors, analyze: createQueryAnalyzer(analyzer, vectors), reranker };
}

/** Null where this thread has no snapshot of the namespace: errors lose their class on the way to the main thread. */
function unlessNew<Value>(namespace: string, answer: (held: Held) => Value): Value | null {
  const held = namespaces.get(namespace);
  if (held === undefined) return null;
  try {
    return answer(held);
  } catch (error) {
    if (error instanceof NoSnapshotError) return null;
    throw error;
  }
}
