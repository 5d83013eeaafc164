/**
 * The local reranker: the final order of a query's candidates, from their words and the scores that both sides gave them.
 *
 *   1. first pass   seven features of a candidate, each divided by its maximum over the candidates, and their mean
 *   2. feedback     the best of the first pass lend the query their words; BM25 of that query is the score (feedback.ts)
 *   3. meaning      a part of the cosine is added, as feedback goes by words alone
 *   4. smoothing    the best take a part of the scores of the candidates most like them (smooth-scores.ts)
 *
 * Nothing is learned: the features weigh the same. Why these and what they bring: docs/ranking.md, bench/results/2026-11-reranking-trials.md. Pure; called by the searcher threads and by bench/quality.ts.
 */
import { FEEDBACK, type FeedbackWeights, feedbackScores } from './feedback.ts';
import type { Candidates, CollectionStatistics, QueryWord } from './rerank-input.ts';
import { Scratch } from './scratch.ts';
import { smoothScores } from './smooth-scores.ts';
import { stemBags } from './stem-bags.ts';
import { queryTerms, wordEvidence } from './word-evidence.ts';
import type { WordSimilarity } from './word-similarity.ts';

/** Part of the first pass that is added to the score of feedback, whose maximum is 1, where the cosine in it is an outside model's: not measured (docs/ranking.md). */
const FIRST_PASS = 0.5;
/**
 * The same where the embedded model does not know the language. No word has a vector there, so that the other features are BM25F again, and worse: the
 * first pass is BM25F alone, and feedback little more than decides between passages that are alike by it (npm run bench:languages).
 */
const FOREIGN_FIRST_PASS = 5;
/** Part of the cosine there: it orders passages without a word of the query, and nothing else. */
const FOREIGN_TIE = 1e-6;

/** The numbers that were chosen by measuring. */
export interface RerankWeights extends FeedbackWeights {
  /** Part of the embedded model's cosine, divided by its maximum, that is added to the score of feedback. */
  cosine: number;
  /** Part of its neighbours' mean score that a candidate is given. */
  neighbours: number;
}

export const WEIGHTS: RerankWeights = { ...FEEDBACK, cosine: 0.15, neighbours: 0.15 };

/**
 * Score the candidates of a query.
 * Shapes: any number of candidates; result one score per candidate, in their order.
 * Units:  0..1, the best is 1 (all 0 where nothing fits at all); compare within one query only.
 * Holds:  the order of the candidates and the scales of `bm25f`, `cosine` and `wordCosine` do not matter.
 * Errors: none; no candidates give an empty result.
 * `scratch`: who asks often keeps one, for one call at a time.
 */
export function rerank(
  query: readonly QueryWord[],
  candidates: Candidates,
  statistics: CollectionStatistics,
  similarity: WordSimilarity,
  weights: RerankWeights = WEIGHTS,
  scratch = new Scratch(),
): Float64Array {
  const terms = queryTerms(query, statistics);
  const bags = stemBags(candidates, scratch);
  const { bm25f, cosine, wordCosine, outsideModel, isForeign = false } = candidates;
  const features = () => {
    const evidence = wordEvidence(query, terms, candidates, bags.lengths, statistics, similarity, scratch);
    const { surface, near, wide, title } = evidence;
    return [bm25f, surface, near, wide, title, cosine, wordCosine];
  };
  const first = meanOfFeatures(candidates.labels.length, isForeign ? [bm25f] : features());
  const scores = byPeak(feedbackScores(terms, bags, first, statistics, scratch, weights));
  const keepsFirst = outsideModel || isForeign;
  const added = keepsFirst ? first : byPeak(cosine ?? []);
  const part = isForeign ? FOREIGN_FIRST_PASS : outsideModel ? FIRST_PASS : weights.cosine;
  const nearness = isForeign ? byPeak(cosine ?? []) : [];
  const fused = scores.map(
    (score, i) => score + part * Math.max(0, added[i] ?? 0) + FOREIGN_TIE * Math.max(0, nearness[i] ?? 0),
  );
  return byPeak(smoothScores(bags, fused, weights.neighbours, scratch));
}

/**
 * Score the candidates of a query whose terms are in postings alone: single ideographs, words without their accents. The words and vectors
 * of passages have stems in place of these, so that of the features there are BM25F and an outside model's cosine alone. Otherwise as `rerank`.
 */
export function rerankPostings({
  labels,
  bm25f,
  cosine,
  outsideModel,
}: Pick<Candidates, 'labels' | 'bm25f' | 'cosine' | 'outsideModel'>): Float64Array {
  return byPeak(meanOfFeatures(labels.length, [bm25f, outsideModel ? cosine : null]));
}

/** Divided by the maximum; all 0 where that is not above 0. */
function byPeak(values: ArrayLike<number>): Float64Array {
  let peak = 0;
  for (let i = 0; i < values.length; i++) peak = Math.max(peak, values[i]);
  return Float64Array.from(values, (value) => (peak === 0 ? 0 : value / peak));
}

/** The mean of features, each divided by its maximum; one that is absent or nowhere above 0 says nothing and has no part. */
function meanOfFeatures(count: number, features: readonly (ArrayLike<number> | null)[]): Float64Array {
  const sum = new Float64Array(count);
  let counted = 0;
  for (const feature of features) {
    if (feature === null) continue;
    let peak = 0;
    for (let i = 0; i < count; i++) peak = Math.max(peak, feature[i]);
    if (peak === 0) continue;
    for (let i = 0; i < count; i++) sum[i] += feature[i] / peak;
    counted++;
  }
  return counted > 1 ? sum.map((value) => value / counted) : sum;
}
