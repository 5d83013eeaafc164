/**
 * The local reranker: the final order of a query's candidates, from their words and the scores that both sides gave them.
 *
 *   1. first pass   seven views of how a candidate fits, each divided by its maximum over the candidates, and their mean
 *   2. feedback     the best of the first pass lend the query their words; BM25 of that query is the score (feedback.ts)
 *
 * Nothing is learned: the views weigh the same. Why these and what they bring: docs/ranking.md. Pure; called by the searcher threads and by bench/quality.ts.
 */
import { FEEDBACK, type FeedbackWeights, feedbackScores } from './feedback.ts';
import type { Candidates, CollectionStatistics, QueryWord } from './rerank-input.ts';
import { candidateLengths, queryTerms, wordEvidence } from './word-evidence.ts';
import type { WordSimilarity } from './word-similarity.ts';

/**
 * Part of the first pass in the final score, that of feedback being 1, where the cosine is an outside model's. Feedback goes by words alone and would drown what such a model knows beyond them. Not measured: docs/ranking.md.
 */
const OUTSIDE_FIRST_PASS = 0.5;

/**
 * Score the candidates of a query.
 * Shapes: any number of candidates; result one score per candidate, in their order.
 * Units:  0..1, the best is 1 (all 0 where nothing fits at all); compare within one query only.
 * Holds:  the order of the candidates and the scales of `bm25f`, `cosine` and `wordCosine` do not matter.
 * Errors: none; no candidates give an empty result.
 */
export function rerank(
  query: readonly QueryWord[],
  candidates: Candidates,
  statistics: CollectionStatistics,
  similarity: WordSimilarity,
  feedback: FeedbackWeights = FEEDBACK,
): Float64Array {
  const terms = queryTerms(query, statistics);
  const lengths = candidateLengths(candidates);
  const { surface, near, wide, title } = wordEvidence(query, terms, candidates, lengths, statistics, similarity);
  const { bm25f, cosine, wordCosine, outsideModel } = candidates;
  const first = meanOfViews(candidates.labels.length, [bm25f, surface, near, wide, title, cosine, wordCosine]);
  const scores = feedbackScores(terms, candidates, first, lengths, statistics, feedback);
  const last = meanOfViews(scores.length, [scores]);
  if (cosine === null || !outsideModel) return last;
  return meanOfViews(scores.length, [last.map((score, i) => score + OUTSIDE_FIRST_PASS * Math.max(0, first[i]))]);
}

/** The mean of views, each divided by its maximum; one that is absent or nowhere above 0 says nothing and has no part. */
function meanOfViews(count: number, views: readonly (ArrayLike<number> | null)[]): Float64Array {
  const sum = new Float64Array(count);
  let counted = 0;
  for (const view of views) {
    if (view === null) continue;
    let peak = 0;
    for (let i = 0; i < count; i++) peak = Math.max(peak, view[i]);
    if (peak === 0) continue;
    for (let i = 0; i < count; i++) sum[i] += view[i] / peak;
    counted++;
  }
  return counted > 1 ? sum.map((value) => value / counted) : sum;
}
