/**
 * From a query to passages, on a searcher thread: by words, and by vectors as soon as the query's vector is available;
 * then the cosine and relevance of each passage. The caller decides which labels are allowed.
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
  /** Rows of the query's model; null without vectors. */
  rows: SearchedRows | null;
}

export interface Retrieval {
  query: string;
  /** Whether the last word may be unfinished. */
  prefix: boolean;
  /** Whether unknown words are corrected; false while the index is incomplete. */
  spelling: boolean;
  /** Words of the query that are prefixes. */
  beginnings?: readonly string[] | undefined;
  k: number;
  allow?: Bitmap | undefined;
  /** Further sets of labels. Each adds its best `k` passages to the candidates. */
  alsoAmong?: readonly Bitmap[];
  vectors: VectorQuery | null;
  relevance: boolean;
  /** Whether to compare the texts of pages; default false. */
  sketches?: boolean;
}

export interface VectorQuery {
  rows: number;
  vector: QuerySlot;
  /** Cosine of unrelated texts for the model: the minimum of a hit. Null if unknown. */
  floor: number | null;
  alsoAmong?: readonly Bitmap[];
}

/** Hits of one side, best first, ties by label. The arrays have the same indexes. */
export interface RankedChunks {
  labels: Uint32Array;
  scores: ArrayLike<number>;
}

export interface Candidates extends Named {
  sparse: RankedChunks;
  dense: RankedChunks;
  /** Max share of the query's weight in one sparse hit, 0 to 1. */
  covered: number;
  /** Cosines of the sparse hits, by index: NaN without a vector; null for a query without a vector. */
  cosines: Float32Array | null;
  /** Relevance of each candidate, 0 to 1; null if not requested. */
  relevance: RankedChunks | null;
  stems: string[];
  /** Number of the query's words without stop words. */
  askedWords: number;
  /** Unknown words and their replacements. */
  corrected: Correction[];
  /** Result of `sketchPages`; empty if not requested. */
  sketches: ReadonlyMap<number, TextSketch>;
  timing_ms: Record<string, number>;
}

const noHits: RankedChunks = { labels: new Uint32Array(0), scores: new Float32Array(0) };

/** The result for a query that cannot match. */
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
  /** All labels are below it. */
  end: number;
  /** Min relevance. Null: that of a fair match, or half of the best match's. */
  least: number | null;
}

/** Completions with a smaller weight match nothing alone. */
const leastShare = 0.1;

/** All relevant passages that match the words, as of `labelsCovering`. */
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
