/**
 * How probable it is that a passage is about a query: what tells a hit from filler, where ranks only order. A logistic formula over four
 * things that the search knows; its numbers are fitted by `npm run bench:relevance` (docs/ranking.md, "Relevance"). Pure; called by the searchers.
 */

import { type CorpusSegment, planQuery, type QueryStem } from './words/corpus.ts';
import { scoreLabels } from './words/search-segments.ts';

/** What is known of a passage and a query. */
export interface Evidence {
  /** Share of the query's weight whose words the passage has by an equal stem, 0 to 1. */
  covered: number;
  /** Its BM25F by the most that the query's words could give, 0 to 1. */
  strength: number;
  /** Its cosine above the model's floor: 0 at the cosine of what is unrelated, 1 for the same. */
  nearness: number;
  /** Words of the query that were searched for. */
  words: number;
}

export interface RelevanceWeights {
  bias: number;
  covered: number;
  strength: number;
  nearness: number;
  /** Of the natural logarithm of their number, up to `mostWords`: longer queries were not fitted on. */
  words: number;
  mostWords: number;
}

/** The least that was fitted on: below a model's high floor there is much more room. */
const LEAST_NEARNESS = -0.2;

/** In the language of the embedded model, and for outside models. */
export const RELEVANCE: RelevanceWeights = {
  bias: -9,
  covered: 5.8,
  strength: 8.65,
  nearness: 10.57,
  words: 1.33,
  mostWords: 20,
};
/** In other languages, of whose words the embedded model knows the stems alone. */
export const FOREIGN_RELEVANCE: RelevanceWeights = {
  bias: -3.1,
  covered: 12.54,
  strength: 8.65,
  nearness: 9.7,
  words: -1.46,
  mostWords: 12,
};

/** 0 to 1. */
export function relevance({ covered, strength, nearness, words }: Evidence, weights: RelevanceWeights): number {
  const logit =
    weights.bias +
    weights.covered * covered +
    weights.strength * strength +
    weights.nearness * nearness +
    weights.words * Math.log(Math.min(weights.mostWords, Math.max(1, words)));
  return 1 / (1 + Math.exp(-logit));
}

/** Passages that a query found. Aligned arrays. */
export interface FoundPassages {
  labels: Uint32Array;
  /** Cosines with the query, NaN for a passage without a vector; null without the query's. */
  cosine: Float32Array | null;
  /** The cosine of what is unrelated, by the model; null where it is not known. */
  floor: number | null;
  /** The query is in a language that the embedded model does not know. */
  isForeign?: boolean;
}

/** What is known of each passage: shape of `labels`. */
export function evidenceOf(
  corpus: readonly CorpusSegment[],
  query: readonly QueryStem[],
  { labels, cosine, floor }: FoundPassages,
): Evidence[] {
  const plan = planQuery(corpus, query);
  const { scores, covered } = scoreLabels(corpus, plan, labels);
  const words = plan.words.size;
  let most = 0;
  for (const weight of plan.words.values()) most += weight;
  return Array.from(labels, (_, i) => ({
    covered: covered[i],
    strength: most === 0 ? 0 : scores[i] / most,
    nearness: nearnessOf(cosine?.[i] ?? Number.NaN, floor ?? 0),
    words,
  }));
}

/** 0 where there is no vector, or where all that are found are the same (a floor of 1, as vectors of one number have). */
function nearnessOf(cosine: number, unrelated: number): number {
  if (Number.isNaN(cosine) || unrelated >= 1) return 0;
  return Math.max(LEAST_NEARNESS, (cosine - unrelated) / (1 - unrelated));
}

/** The relevance of each passage to a query: shape of `labels`, 0 to 1. */
export function judgeRelevance(
  corpus: readonly CorpusSegment[],
  query: readonly QueryStem[],
  found: FoundPassages,
): Float64Array {
  const weights = found.isForeign === true ? FOREIGN_RELEVANCE : RELEVANCE;
  return Float64Array.from(evidenceOf(corpus, query, found), (evidence) => relevance(evidence, weights));
}
