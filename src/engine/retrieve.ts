/**
 * From a query to passages, on a searcher thread: by words, and by vectors once the query's vector is there; then the
 * cosine and relevance of each. The caller decides which labels are allowed.
 */
import type { TextSketch } from '../compute/ranking/duplicate-pages.ts';
import { type Bitmap, bitmapOf } from '../compute/structures/bitmap.ts';
import type { Correction } from '../domain/search.ts';
import type { QueryAnalyzer } from './analyze-query.ts';
import { type QuerySlot, vectorIn } from './query-slot.ts';
import { fairRelevance, nearnessOf, relevance } from './relevance.ts';
import { nearest, type SearchedRows } from './vectors/row-graph.ts';
import { cosinesWith } from './vectors/row-search.ts';
import { planQuery } from './words/corpus.ts';
import { byNeighbours, type Named, namedBy, passagesWith, readRun } from './words/neighbours.ts';
import { sketchPages } from './words/page-sketches.ts';
import { labelsCovering } from './words/search-segments.ts';
import type { SparseSearcher } from './words/sparse-searcher.ts';
import { wordsIn } from './words/spelling.ts';

export interface RetrievalParts {
  sparse: Pick<SparseSearcher, 'corpus' | 'search'>;
  analyze: QueryAnalyzer;
  /** Of the query's model; null without vectors. */
  rows: SearchedRows | null;
}

export interface Retrieval {
  query: string;
  /** Whether its last word may be unfinished. */
  prefix: boolean;
  /** Whether unknown words are corrected; false while the index is incomplete. */
  spelling: boolean;
  /** Words of the query that are beginnings. */
  beginnings?: readonly string[] | undefined;
  k: number;
  allow?: Bitmap | undefined;
  /** Further sets of labels; each adds its best `k` to the candidates. */
  alsoAmong?: readonly Bitmap[];
  vectors: VectorQuery | null;
  relevance: boolean;
  /** Whether to compare the texts of pages; default false. */
  sketches?: boolean;
}

export interface VectorQuery {
  rows: number;
  vector: QuerySlot;
  /** Cosine of unrelated texts for the model, the minimum for hits; null if unknown. */
  floor: number | null;
  alsoAmong?: readonly Bitmap[];
}

/** One side's hits, best first, ties by label; aligned arrays. */
export interface RankedChunks {
  labels: Uint32Array;
  scores: ArrayLike<number>;
}

export interface Candidates extends Named {
  sparse: RankedChunks;
  dense: RankedChunks;
  /** Largest share of the query's weight in one sparse hit, 0 to 1. */
  covered: number;
  /** Of the sparse hits, aligned: NaN without a vector; null for a query without one. */
  cosines: Float32Array | null;
  /** Relevance of each candidate, 0 to 1; null if not requested. */
  relevance: RankedChunks | null;
  stems: string[];
  /** Words of the query without stop words. */
  askedWords: number;
  /** Unknown words and their replacements. */
  corrected: Correction[];
  /** As of `sketchPages`; none if not requested. */
  sketches: ReadonlyMap<number, TextSketch>;
  timing_ms: Record<string, number>;
}

const noHits: RankedChunks = { labels: new Uint32Array(0), scores: new Float32Array(0) };

/** For a query that may find nothing. */
export const noCandidates: Candidates = {
  sparse: noHits,
  dense: noHits,
  covered: 0,
  cosines: null,
  relevance: null,
  stems: [],
  askedWords: 0,
  corrected: [],
  titled: [],
  verbatim: [],
  sketches: new Map(),
  timing_ms: {},
};

export interface Match extends Pick<Retrieval, 'query' | 'prefix' | 'spelling' | 'beginnings' | 'allow' | 'vectors'> {
  /** Labels are below. */
  end: number;
  /** Min relevance; null: that of a fair match, or half of the best one's. */
  least: number | null;
}

/** Completions that weigh less match nothing by themselves. */
const leastShare = 0.1;

/** All passages that match the words, as of `labelsCovering`, and are relevant. */
export async function matchWords(
  { sparse, analyze, rows }: RetrievalParts,
  { allow, end, least, vectors, ...query }: Match,
): Promise<Bitmap> {
  const corpus = sparse.corpus ?? [];
  const forms = analyze(query, wordsIn(corpus)).forms.filter(({ share = 1 }) => share >= leastShare);
  const { labels, covered } = labelsCovering(corpus, planQuery(corpus, forms), allow);
  const vector = vectors === null ? null : await vectorIn(vectors.vector);
  if (vector !== null) rows?.rows.setQuery(vector);
  const cosines = rows === null || vector === null ? null : cosinesWith(rows.rows, labels);
  const floor = vectors?.floor ?? null;
  const scores = covered.map((share, at) =>
    relevance({ covered: share, nearness: nearnessOf(cosines?.[at] ?? Number.NaN, floor) }),
  );
  const best = scores.reduce((most, score) => Math.max(most, score), 0);
  const bar = least ?? Math.min(fairRelevance, best / 2);
  const relevant = labels.filter((_, at) => scores[at] >= bar);
  return bitmapOf(relevant, end);
}

export async function retrieve({ sparse, analyze, rows }: RetrievalParts, request: Retrieval): Promise<Candidates> {
  const { query, prefix, spelling, beginnings, k, allow, alsoAmong = [], vectors } = request;
  const began = performance.now();
  const corpus = sparse.corpus ?? [];
  const analyzed = analyze({ query, prefix, spelling, beginnings }, wordsIn(corpus));
  const read = performance.now();
  const run = readRun(query, analyzed.language, analyzed.corrected);
  const alike = run.isOfFunctionWords ? [passagesWith(corpus, run, allow)] : [];
  const lists = [allow, ...alsoAmong, ...alike].map((labels) => {
    const hits = sparse.search({ terms: analyzed.forms, k, allow: labels });
    return byNeighbours(corpus, hits, run);
  });
  const words = mergeHits(lists[0], lists.slice(1));
  const found = performance.now();
  const vector = vectors === null ? null : await vectorIn(vectors.vector);
  const arrived = performance.now();
  const floor = vectors?.floor ?? null;
  let dense = noHits;
  let cosines: Float32Array | null = null;
  if (rows !== null && vectors !== null && vector !== null) {
    const near = [allow, ...(vectors.alsoAmong ?? [])].map((labels) =>
      nearest(rows, vector, { k, minScore: floor ?? -1, allow: labels }),
    );
    dense = mergeHits(near[0], near.slice(1));
    cosines = cosinesWith(rows.rows, words.labels);
  }
  const covered = new Map(lists.flatMap((each) => Array.from(each.labels, (label, at) => [label, each.covered[at]])));
  const judged = request.relevance ? judge(covered, { sparse: words, dense, cosines, floor }) : null;
  const { corrected, forms } = analyzed;
  return {
    sparse: words,
    dense,
    covered: Math.max(0, ...covered.values()),
    cosines,
    relevance: judged,
    stems: [...new Set(forms.filter(({ of }) => of >= 0).map(({ stem }) => stem))],
    askedWords: new Set(forms.flatMap(({ of }) => (of >= 0 ? [of] : []))).size,
    corrected,
    ...namedBy(corpus, words.labels, run),
    sketches: request.sketches ? sketchPages(corpus, [...words.labels, ...dense.labels]) : noCandidates.sketches,
    timing_ms: { analyze: read - began, sparse: found - read, dense: performance.now() - arrived },
  };
}

function judge(
  covered: ReadonlyMap<number, number>,
  { sparse, dense, cosines, floor }: Pick<Candidates, 'sparse' | 'dense' | 'cosines'> & { floor: number | null },
): RankedChunks {
  const cosineOf = new Map(Array.from(dense.labels, (label, at) => [label, dense.scores[at]]));
  for (const [at, label] of sparse.labels.entries()) cosineOf.set(label, cosines?.[at] ?? Number.NaN);
  const scores = Float64Array.from(cosineOf, ([label, cosine]) =>
    relevance({ covered: covered.get(label) ?? 0, nearness: nearnessOf(cosine, floor) }),
  );
  return { labels: Uint32Array.from(cosineOf.keys()), scores };
}

/** Merges lists with comparable scores; each label once. */
function mergeHits(some: RankedChunks, others: readonly RankedChunks[]): RankedChunks {
  const more = others.filter(({ labels }) => labels.length > 0);
  if (more.length === 0) return some;
  const scores = new Map<number, number>();
  for (const hits of [some, ...more])
    for (const [at, label] of hits.labels.entries()) scores.set(label, hits.scores[at]);
  const hits = [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b);
  return { labels: Uint32Array.from(hits, ([label]) => label), scores: Float64Array.from(hits, ([, score]) => score) };
}
