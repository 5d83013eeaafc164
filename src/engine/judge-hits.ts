/**
 * What both sides found, judged: how probable it is that each hit is about the query, and the local reranker's order of the first. Called by
 * searches of the service and of `SearchIndex`.
 */
import { fuseRrf } from '../compute/ranking/fuse-rrf.ts';
import type { AnalyzedQuery } from './analyze-query.ts';
import type { Searchers } from './searchers.ts';

/**
 * Candidates that are reranked: all of both sides by default. More than this, which a search may ask for 2,000 of and a replay 20,000, take
 * their processor time from other searches and change nothing at the top (docs/ranking.md, "More candidates").
 */
const maxReranked = 400;

export interface JudgeRequest {
  query: Pick<AnalyzedQuery, 'forms' | 'vector' | 'wordPart' | 'denseWeight'>;
  /** What words found and, where it was asked, what the vector found, best first. */
  hits: readonly Uint32Array[];
  rrfK: number;
  /** The vectors are an outside model's. */
  outsideModel: boolean;
  /** Cosine of what is unrelated, by the model; null where it is not known. */
  floor: number | null;
  /** Whether the first are to be reranked, and whether all are to be judged for relevance. */
  wants: { order: boolean; relevance: boolean };
}

export interface JudgeParts {
  searchers: Searchers;
  /** Cosines of each vector with given labels; NaN for a label without a vector. */
  score: (vectors: readonly Float32Array[], labels: Uint32Array) => Promise<Float32Array[]>;
}

export interface JudgedHits {
  /** The hits as fused, best first. */
  labels: Uint32Array;
  /** Aligned with them, 0 to 1; null where it was not asked for. */
  relevance: Float64Array | null;
  /** The reranker's scores of the first; null where they were not asked for, or it cannot say. */
  scores: Float64Array | null;
}

/** Null where nothing was found, or nothing is wanted. Errors: those of the threads. */
export async function judgeHits(
  { searchers, score }: JudgeParts,
  { query: { forms, vector, wordPart, denseWeight }, hits, rrfK, outsideModel, floor, wants }: JudgeRequest,
): Promise<JudgedHits | null> {
  if (!wants.order && !wants.relevance) return null;
  const fused = Uint32Array.from(fuseRrf(hits, rrfK, [1, denseWeight]), ({ label }) => label);
  const labels = wants.relevance ? fused : fused.slice(0, maxReranked);
  if (labels.length === 0) return null;
  const vectors = vector === null ? [] : wordPart === null || !wants.order ? [vector] : [vector, wordPart];
  const scored = vectors.length === 0 ? [] : await score(vectors, labels);
  const [cosine = null, wordCosine = null] = scored;
  const isForeign = denseWeight < 1;
  const candidates = { labels, cosine, wordCosine, outsideModel, isForeign, floor };
  return { labels, ...(await searchers.judge(forms, candidates, { ...wants, reranked: maxReranked })) };
}
