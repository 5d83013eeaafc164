/**
 * Fusion by scores: how much a model's cosines count beside BM25F is one number, learned from queries whose answer is known
 * (docs/ranking.md, "Fusion"). Pure; called by the ranking, by what learns the number, and by the benches.
 */
import { ndcg } from '../measures/ranking-measures.ts';
import type { FusedHit } from './fuse-rrf.ts';

/** One side's hits, best first, aligned. */
export interface ScoredHits {
  labels: Uint32Array;
  scores: ArrayLike<number>;
}

export interface DenseShare {
  /** What a cosine of 1 counts beside the best passage by words; 0: words alone decide, and what has none of them comes after. */
  weight: number;
  /** Cosine of what is unrelated; null where it is not known. */
  floor: number | null;
}

/** In place of 0 for passages that words did not find: they come last. */
const LAST = 1e-6;

/**
 * Fuse both sides by their scores: BM25F as a share of the query's best, plus the weight times how far the cosine is above the floor.
 * Shapes: result best first, ties by label, one entry for each label of either side.
 * Units:  0 to 1; compare within one query only.
 * Errors: none; empty sides give an empty result.
 * Source: convex combination, Bruch, Gai & Ingber 2023; the cosine by its own range, not the query's: where the nearest passage is barely
 *         above the floor it says little, and must not count as if it were sure.
 */
export function fuseScores(sparse: ScoredHits, dense: ScoredHits, { weight, floor }: DenseShare): FusedHit[] {
  const share = Math.max(LAST, weight);
  const whole = 1 + share;
  const scores = new Map<number, number>();
  const best = sparse.scores[0] || 1;
  for (let at = 0; at < sparse.labels.length; at++) scores.set(sparse.labels[at], sparse.scores[at] / best / whole);
  const least = floor ?? 0;
  const range = Math.max(1e-6, 1 - least);
  for (let at = 0; at < dense.labels.length; at++) {
    const near = Math.min(1, Math.max(0, (dense.scores[at] - least) / range));
    const label = dense.labels[at];
    if (weight === 0 && scores.has(label)) continue;
    scores.set(label, (scores.get(label) ?? 0) + (share * near) / whole);
  }
  return Array.from(scores, ([label, score]) => ({ label, score })).sort(
    (a, b) => b.score - a.score || a.label - b.label,
  );
}

/** A query whose answer is known, with what both sides found. */
export interface KnownItem {
  sparse: ScoredHits;
  dense: ScoredHits;
  /** The page of a label. */
  pageOf: (label: number) => number;
  /** The page that is to be found. */
  page: number;
}

/** What is chosen among, ascending. Beyond 3 no model gained in `npm run bench:fusion`. */
export const WEIGHTS: readonly number[] = [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 3];
/** Fewer queries than this cannot tell. */
export const FEWEST_QUERIES = 50;
/** Standard errors that a larger weight has to be better by: 95 % sure. */
const SURE = 2;

/**
 * The smallest weight that the best one does not surely beat, by the mean nDCG@10 of these queries: where nothing is sure, words decide.
 * Errors: none; 0 for fewer than `FEWEST_QUERIES`.
 * Source: one standard error rule, Breiman et al. 1984, with two, paired by query.
 */
export function learnWeight(queries: readonly KnownItem[], floor: number | null): number {
  if (queries.length < FEWEST_QUERIES) return 0;
  const gains = WEIGHTS.map((weight) => queries.map((query) => gainOf(query, { weight, floor })));
  const means = gains.map(mean);
  const best = means.indexOf(Math.max(...means));
  const enough = gains.findIndex((each) => {
    const differences = gains[best].map((gain, at) => gain - each[at]);
    return mean(differences) <= SURE * standardError(differences);
  });
  return WEIGHTS[enough];
}

function gainOf({ sparse, dense, pageOf, page }: KnownItem, share: DenseShare): number {
  const pages = new Set<number>();
  for (const { label } of fuseScores(sparse, dense, share)) {
    pages.add(pageOf(label));
    if (pages.size === 10) break;
  }
  return ndcg([...pages], new Map([[page, 1]]), 10);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function standardError(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}
