/**
 * Entry of the searcher threads; its exports are their tasks. Each thread is pinned and holds a snapshot of the sparse
 * index, so its tasks are never aborted: a replaced thread would have none until the next publication.
 */
import { chunksWithTerms, phraseTerms } from '../compute/bm25/locate-phrase.ts';
import { openWordVectors } from '../compute/embedding/word-vectors.ts';
import type { QueryForm } from '../compute/rerank/gather-candidates.ts';
import { createTextAnalyzer, type TextAnalyzer } from '../compute/text/analyze-text.ts';
import type { LabelRange } from '../domain/page.ts';
import { type AnalyzedQuery, createQueryAnalyzer, type QueryAnalyzer, type SearchThreadData } from './analyze-query.ts';
import { collectGarbage, giveBackMemory } from './collect-garbage.ts';
import { type CandidateReranker, type CandidateScores, createCandidateReranker } from './rerank-candidates.ts';
import {
  createSparseSearcher,
  NoSnapshotError,
  type SnapshotUpdate,
  type SparseQuery,
  type SparseResult,
} from './sparse-searcher.ts';
import { type Telling, tell, threadData } from './thread-pool.ts';

/** Segments that may be kept in vain: at full speed of indexing they are collected every few seconds. */
const MAX_DROPPED_BYTES = 48 * 2 ** 20;

/** So long after a publication the words of new segments are learnt, ms: at full speed of indexing there are several a second. */
const LEARN_AFTER_MS = 1000;
/** Of these ms of work with pauses as long as these, in which searches come: some hundred slices for 100,000 chunks. */
const LEARN_SLICE_MS = 1;
const LEARN_PAUSE_MS = 4;

/** Chunks of a page that may be read for one phrase: more than a search reads of all pages together. */
const MAX_PLACES = 256;

const sparse = createSparseSearcher();
let collectedBytes = 0;
let tools: { analyzer: TextAnalyzer; analyze: QueryAnalyzer; reranker: CandidateReranker | null } | undefined;
let learning: NodeJS.Timeout | undefined;
/** Whether a query was reranked since the last time: where nobody asks, nothing is learnt for each page that is indexed. */
let isWorthLearning = true;

/** A query's text, the embedded model that is to embed it (null for none), and what `SparseQuery` has beside its terms. */
export type TextQuery = { query: string; dim: number | null } & Omit<SparseQuery, 'terms'>;

export interface TextResult {
  analyzed: AnalyzedQuery;
  /** The best chunks by BM25F; null when this thread has no snapshot, as of `search`. */
  found: SparseResult | null;
}

/** Analyse a query and search for its terms. The analysis is told at once: with it the dense side can be asked. */
export function find(request: TextQuery & Telling): TextResult {
  tools ??= openTools();
  const { query, dim, k, allow } = request;
  const analyzed = tools.analyze(query, dim);
  tell(request, analyzed);
  const terms = analyzed.forms.map(({ stem }) => stem);
  return { analyzed, found: search({ terms, k, ...(allow === undefined ? {} : { allow }) }) };
}

/**
 * The best chunks by BM25F. Null when this thread has no snapshot: it replaced another one that was lost, and must be given
 * the snapshot again. So are the others' answers.
 */
export function search(query: SparseQuery): SparseResult | null {
  return unlessNew(() => sparse.search(query));
}

/**
 * Scores of a query's candidates by the local reranker. Null also where it has not what it needs: the word vectors, the
 * forward entry of every candidate.
 */
export function rerank({ forms, ...candidates }: CandidateScores & { forms: QueryForm[] }): Float64Array | null {
  tools ??= openTools();
  const { reranker } = tools;
  if (reranker === null) return null;
  isWorthLearning = true;
  return unlessNew(() => reranker.score(sparse.snapshot(), forms, candidates));
}

/** Phrases, and the labels of the chunks of each page that may have them. */
export interface PhraseQuery {
  phrases: readonly string[];
  pages: readonly LabelRange[];
}

/** For each page, for each phrase, the chunks that are worth reading for it, as of `chunksWithTerms`. Null as of `search`. */
export function locate({ phrases, pages }: PhraseQuery): number[][][] | null {
  tools ??= openTools();
  const { analyzer } = tools;
  analyzer.trim();
  const terms = phrases.map((phrase) => phraseTerms(analyzer.analyze(phrase)));
  return unlessNew(() => {
    const corpus = sparse.snapshot();
    return pages.map((page) => terms.map((each) => chunksWithTerms(corpus, page, each).slice(0, MAX_PLACES)));
  });
}

/** Load the language model and the word vectors, so that the first search does not wait for them. */
export function warmUp(): void {
  tools ??= openTools();
}

export function publish(update: SnapshotUpdate): number[] {
  const lacking = sparse.publish(update);
  if (isWorthLearning) learnAfter(LEARN_AFTER_MS);
  if (sparse.droppedBytes - collectedBytes > MAX_DROPPED_BYTES) {
    collectedBytes = sparse.droppedBytes;
    collectGarbage();
  }
  return lacking;
}

/** For quiet times: give back what is not in use. */
export function releaseMemory(): void {
  collectedBytes = sparse.droppedBytes;
  giveBackMemory();
}

/** Learn ahead what reranking will ask of the segments, between two tasks, when so many ms have passed. */
function learnAfter(ms: number): void {
  clearTimeout(learning);
  learning = setTimeout(() => {
    const until = performance.now() + LEARN_SLICE_MS;
    const isMore = tools?.reranker?.learn(sparse.snapshot(), () => performance.now() >= until) ?? false;
    if (isMore) learnAfter(LEARN_PAUSE_MS);
    else isWorthLearning = false;
  }, ms).unref();
}

function openTools() {
  const { wordVectors } = threadData<SearchThreadData>();
  const analyzer = createTextAnalyzer();
  if (wordVectors === null) return { analyzer, analyze: createQueryAnalyzer(analyzer, null), reranker: null };
  const vectors = openWordVectors(wordVectors);
  return { analyzer, analyze: createQueryAnalyzer(analyzer, vectors), reranker: createCandidateReranker(vectors) };
}

/** Null instead of NoSnapshotError: errors lose their class on the way to the main thread. */
function unlessNew<Value>(answer: () => Value): Value | null {
  try {
    return answer();
  } catch (error) {
    if (error instanceof NoSnapshotError) return null;
    throw error;
  }
}
