/** The local reranker over what both sides found: fused, scored by vectors and words. Called by searches of the service and of `SearchIndex`. */
import { fuseRrf } from '../compute/ranking/fuse-rrf.ts';
import type { AnalyzedQuery } from './analyze-query.ts';
import type { Searchers } from './searchers.ts';

/**
 * Candidates that are scored: all of both sides by default. More than this, which a search may ask for 2,000 of and a replay 20,000, take
 * their processor time from other searches and change nothing at the top (docs/ranking.md, "More candidates").
 */
const maxReranked = 400;

export interface RerankRequest {
  query: Pick<AnalyzedQuery, 'forms' | 'vector' | 'wordPart' | 'denseWeight'>;
  /** What words found and, where it was asked, what the vector found, best first. */
  hits: readonly Uint32Array[];
  rrfK: number;
  /** The vectors are an outside model's. */
  outsideModel: boolean;
}

export interface RerankParts {
  searchers: Searchers;
  /** Cosines of each vector with given labels; NaN for a label without a vector. */
  score: (vectors: readonly Float32Array[], labels: Uint32Array) => Promise<Float32Array[]>;
}

/** The first candidates with their scores, aligned; null when there are none, or the reranker cannot say. Errors: those of the threads. */
export async function rerankHits(
  { searchers, score }: RerankParts,
  { query: { forms, vector, wordPart, denseWeight }, hits, rrfK, outsideModel }: RerankRequest,
): Promise<{ labels: Uint32Array; scores: Float64Array } | null> {
  const labels = Uint32Array.from(fuseRrf(hits, rrfK, [1, denseWeight]).slice(0, maxReranked), ({ label }) => label);
  if (labels.length === 0) return null;
  const vectors = vector === null ? [] : wordPart === null ? [vector] : [vector, wordPart];
  const scored = vectors.length === 0 ? [] : await score(vectors, labels);
  const [cosine = null, wordCosine = null] = scored.map((each) => each.map((cosines) => cosines || 0));
  const scores = await searchers.rerank(forms, {
    labels,
    cosine,
    wordCosine,
    outsideModel,
    isForeign: denseWeight < 1,
  });
  return scores === null ? null : { labels, scores };
}
