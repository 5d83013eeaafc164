/**
 * From a query to candidates, for searches of the service and of `SearchIndex`: words, then vectors, then what both found is judged. Each is one
 * trip to a thread, which costs as much as the work there: together the sides would take a trip more, for the cosines of what words found.
 * Which labels may be found is the caller's, and so is what becomes of the candidates.
 *
 *   query ─ searcher: analyse, embed, BM25F ─┬─ shards: cosine, floor; cosines of what words found ─ searcher: rerank, relevance
 *           outside model: embed ────────────┘
 */
import { type FusedHit, fuseRrf } from '../compute/ranking/fuse-rrf.ts';
import { mergeReranked } from '../compute/ranking/merge-reranked.ts';
import type { Bitmap } from '../compute/structures/bitmap.ts';
import type { Correction } from '../domain/search.ts';
import type { AnalyzedQuery } from './analyze-query.ts';
import type { IndexLog } from './index-log.ts';
import type { Searchers } from './searchers.ts';
import type { VectorSpace } from './vectors/vector-space.ts';

export interface RetrievalParts {
  searchers: Searchers;
  /** Those of the model that the query is asked with. */
  vectors: Pick<VectorSpace, 'candidates'>;
  log: IndexLog;
  /** ms. */
  monotonic: () => number;
}

export interface Retrieval {
  query: string;
  /** Whether its last word may be unfinished. */
  prefix?: boolean;
  /** Whether unknown words are corrected; false while the index is incomplete. */
  spelling: boolean;
  /** The built-in model that embeds the query; null for none. */
  dim: number | null;
  /** The query's vector where an outside model computes it, null for none; the word search does not wait for it. */
  outside?: Promise<Float32Array | null> | undefined;
  /** Candidates of each side. */
  k: number;
  /** Only these labels may be found. */
  allow?: Bitmap | undefined;
  /** Further sets of labels, each of which adds its best `k` to the candidates. */
  beside?: { words: readonly Bitmap[]; vectors: readonly Bitmap[] };
  /** Cosine of what is unrelated, by the model: nothing below is found; null where it is not known. */
  floor: number | null;
  /** Constant of the reciprocal rank fusion that picks what is reranked. */
  rrfK: number;
  /** What is computed: the reranker's order of the first, the relevance of all. */
  wants: { order: boolean; relevance: boolean };
}

/** Chunks with their scores, one side's hits best first and ties by label; aligned arrays. */
export interface RankedChunks {
  labels: Uint32Array;
  scores: ArrayLike<number>;
}

export interface Candidates {
  sparse: RankedChunks;
  dense: RankedChunks;
  /** The language that the query is in, ISO 639-1. */
  language: string;
  /** What the dense side's hits weigh in reciprocal rank fusion beside the sparse side's. */
  denseWeight: number;
  /** The first candidates of both sides by the local reranker, in no order; null where it was not asked for or could not say. */
  reranked: RankedChunks | null;
  /** How relevant each candidate is, 0 to 1; null where that was not asked for or could not be told. */
  relevance: RankedChunks | null;
  /** What was searched for. */
  stems: string[];
  /** Words of the query that no text has, and what they were taken for. */
  corrected: Correction[];
  /** False where neither a live chunk nor the model knows a word of the query: there is nothing to search for. */
  known: boolean;
  timing_ms: Record<string, number>;
}

/**
 * Candidates that are reranked: all of both sides by default. More than this, which a search may ask for 2,000 of and a replay 20,000, take
 * their processor time from other searches and change nothing at the top (docs/ranking.md, "More candidates").
 */
const maxReranked = 400;
const noLabels = new Uint32Array(0);
const noHits: RankedChunks = { labels: noLabels, scores: new Float32Array(0) };
const unjudged = { reranked: null, relevance: null };

/** Of a query that may find nothing. */
export const noCandidates: Candidates = {
  sparse: noHits,
  dense: noHits,
  language: '',
  denseWeight: 1,
  ...unjudged,
  stems: [],
  corrected: [],
  known: false,
  timing_ms: {},
};

/** Errors: those of the threads, of `outside`; BadVectorError. That candidates could not be judged is logged: their scores are null. */
export async function retrieve(parts: RetrievalParts, request: Retrieval): Promise<Candidates> {
  const { searchers, monotonic } = parts;
  const { query, prefix = false, spelling, dim, outside, k, allow, beside, wants } = request;
  const began = monotonic();
  const asking = searchers.find({
    ...{ query, dim, k, spelling, prefix },
    ...(allow !== undefined && { allow }),
    ...(beside !== undefined && beside.words.length > 0 && { beside: beside.words }),
  });
  const embedding = outside?.then((vector) => ({ vector, ms: monotonic() - began }));
  const [words, embedded] = await Promise.all([asking, embedding]);
  const asked = monotonic();
  const { analyzed, found, searchMs } = words;
  const of = embedded === undefined ? analyzed : { ...analyzed, ...ofOutside(embedded.vector) };
  const sparse = mergeHits(found, words.beside);
  const wantsCosines = wants.order || wants.relevance;
  const near = await nearest(parts, request, of, wantsCosines ? sparse.labels : noLabels);
  const searched = monotonic();
  const known = found.known > 0 || of.knownWords > 0;
  const dense = known ? near.hits : noHits;
  const judged = await judge(parts, request, of, [sparse.labels, dense.labels], near);
  const timing_ms: Record<string, number> = {
    analyze: asked - began - searchMs,
    sparse: searchMs,
    dense: searched - asked,
    ...(embedded !== undefined && { embed: embedded.ms }),
    ...(wantsCosines && { [wants.order ? 'rerank' : 'relevance']: monotonic() - searched }),
  };
  const { language, corrected } = analyzed;
  const stems = [...new Set(analyzed.forms.filter(({ of }) => of >= 0).map(({ stem }) => stem))];
  return { sparse, dense, language, denseWeight: of.denseWeight, ...judged, stems, corrected, known, timing_ms };
}

/** What a vector finds, and the cosines of that and of further labels: with the query, and with its part of the word vectors. */
interface Near {
  hits: RankedChunks;
  /** NaN for a label without a vector; null for a query without one. */
  cosinesOf: (labels: Uint32Array) => { cosine: Float32Array | null; wordCosine: Float32Array | null };
}

async function nearest(
  { vectors }: RetrievalParts,
  { k, allow, beside, floor, wants }: Retrieval,
  { vector, wordPart }: Pick<AnalyzedQuery, 'vector' | 'wordPart'>,
  labels: Uint32Array,
): Promise<Near> {
  if (vector === null) return { hits: noHits, cosinesOf: () => ({ cosine: null, wordCosine: null }) };
  const near = await vectors.candidates({
    vectors: wordPart === null || !wants.order ? [vector] : [vector, wordPart],
    k,
    minScore: floor ?? -1,
    among: [allow ?? null, ...(beside?.vectors ?? [])],
    labels,
  });
  const rowOf = new Map(Array.from(near.labels, (label, row) => [label, row]));
  const [anywhere, ...others] = near.found;
  return {
    hits: mergeHits(anywhere, others),
    cosinesOf: (of) => {
      const [cosine, wordCosine = null] = near.cosines.map((cosines) =>
        Float32Array.from(of, (label) => cosines[rowOf.get(label) ?? -1] ?? Number.NaN),
      );
      return { cosine, wordCosine };
    },
  };
}

/**
 * All candidates in one order, best first and ties by label: what was reranked by its scores, below it the others as they are fused.
 * Shapes: `fused` best first, with all that was reranked.
 */
export function rerankedOrder({ labels, scores }: RankedChunks, fused: readonly FusedHit[]): FusedHit[] {
  const hits = Array.from(labels, (label, at) => ({ label, score: scores[at] }));
  if (labels.length >= fused.length) return hits.sort((a, b) => b.score - a.score || a.label - b.label);
  const scored = new Set(labels);
  const rest = fused.filter(({ label }) => !scored.has(label));
  return mergeReranked(hits, Float64Array.from(scores), rest);
}

/** Features of a query for an outside model, which has no vocabulary to lack a word. */
function ofOutside(vector: Float32Array | null) {
  return { vector, wordPart: null, knownWords: vector === null ? 0 : 1, denseWeight: 1 };
}

/** How relevant the candidates are, and the first by the local reranker; null for what it cannot say: a search does not fail of it. */
async function judge(
  { searchers, log }: RetrievalParts,
  { dim, floor, rrfK, wants }: Retrieval,
  { forms, denseWeight }: AnalyzedQuery,
  hits: readonly Uint32Array[],
  { cosinesOf }: Near,
): Promise<Pick<Candidates, 'reranked' | 'relevance'>> {
  if (!wants.order && !wants.relevance) return unjudged;
  const fused = Uint32Array.from(fuseRrf(hits, rrfK, [1, denseWeight]), ({ label }) => label);
  const labels = wants.relevance ? fused : fused.slice(0, maxReranked);
  if (labels.length === 0) return unjudged;
  try {
    const of = { labels, ...cosinesOf(labels), outsideModel: dim === null, isForeign: denseWeight < 1, floor };
    const { scores, relevance } = await searchers.judge(forms, of, { ...wants, reranked: maxReranked });
    return {
      reranked: scores === null ? null : { labels: labels.subarray(0, scores.length), scores },
      relevance: relevance === null ? null : { labels, scores: relevance },
    };
  } catch (error) {
    log.error({ err: error }, 'the candidates could not be judged: the fused order is answered');
    return unjudged;
  }
}

/** The hits of lists that are scored alike as one list, each label once. */
function mergeHits(some: RankedChunks, others: readonly RankedChunks[]): RankedChunks {
  const more = others.filter(({ labels }) => labels.length > 0);
  if (more.length === 0) return some;
  const scores = new Map<number, number>();
  for (const hits of [some, ...more])
    for (const [at, label] of hits.labels.entries()) scores.set(label, hits.scores[at]);
  const hits = [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b);
  return { labels: Uint32Array.from(hits, ([label]) => label), scores: Float64Array.from(hits, ([, score]) => score) };
}
