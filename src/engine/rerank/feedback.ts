/**
 * Relevance feedback: the words that the best candidates share become part of the query (Rocchio 1971). Chunks weigh by how
 * far their score stands out: where one candidate is clearly the best it is nearly alone, where many are alike they speak
 * together. So a question with one answer is not blurred, and a subject with many pages finds the words they use.
 */

import { firstOf } from '../../compute/structures/first-of.ts';
import { contribution, type LengthNorm, termWeight } from '../words/bm25f.ts';
import type { CollectionStatistics } from './rerank-input.ts';
import type { Scratch } from './scratch.ts';
import type { StemBags } from './stem-bags.ts';
import { type QueryTerm, saturation } from './word-evidence.ts';

/** Chunks that give feedback, and stems taken from them; measured (bench/results/2026-11-reranking-trials.md): 5 to 20 and 25 to 100 are alike. */
const FEEDBACK_CHUNKS = 10;
const FEEDBACK_STEMS = 50;
export interface FeedbackWeights {
  /** A chunk one standard deviation below the best has e^-steepness of its voice. */
  steepness: number;
  /** Length of the feedback's vector beside the query's. */
  beta: number;
}

/** Steepness measured (bench/results/2026-11-reranking-trials.md): 1 to 2 are alike; beta is the usual value (Salton & Buckley 1990). */
export const FEEDBACK: FeedbackWeights = { steepness: 1.5, beta: 0.75 };

/**
 * Score the candidates by the query and its feedback together: BM25 where each stem weighs what it has in the query's unit
 * vector plus beta times what it has in the feedback's.
 * Shapes: `first` one score per candidate, any scale. Result: one per candidate, >= 0.
 */
export function feedbackScores(
  terms: readonly QueryTerm[],
  bags: StemBags,
  first: Float64Array,
  statistics: CollectionStatistics,
  scratch: Scratch,
  { steepness, beta }: FeedbackWeights = FEEDBACK,
): Float64Array {
  const weights = scratch.float64('feedback weights', bags.held.length).fill(0);
  const asked = terms.map(({ stem, weight }) => [stem, weight] as const);
  addVector(weights, asked, 1);
  addVector(weights, feedbackStems(bags, first, statistics, scratch, steepness), beta);
  const scores = new Float64Array(first.length);
  for (let i = 0; i < scores.length; i++) scores[i] = scoreBag(bags, i, weights, saturation(statistics.meanLength));
  return scores;
}

function scoreBag({ starts, stems, times, lengths }: StemBags, i: number, weights: Float64Array, norm: LengthNorm) {
  const { base, slope } = norm;
  const length = lengths[i];
  let score = 0;
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const weight = weights[stems[at]];
    if (weight !== 0) score += contribution(weight, times[at], length, base, slope);
  }
  return score;
}

type StemVector = readonly (readonly [stem: number, weight: number])[];

/** Add a vector, brought to a length, to `weights`; stems of -1 take part in the length only. */
function addVector(weights: Float64Array, vector: StemVector, length: number): void {
  const norm = Math.hypot(...vector.map(([, weight]) => weight));
  if (norm > 0) for (const [stem, weight] of vector) if (stem >= 0) weights[stem] += (length * weight) / norm;
}

/** The heaviest stems of the best chunks: the weighted sum of their unit vectors of (1 + ln frequency) · idf. */
function feedbackStems(
  { labels, starts, stems, times, held }: StemBags,
  first: Float64Array,
  statistics: CollectionStatistics,
  scratch: Scratch,
  steepness: number,
): StemVector {
  const better = (a: number, b: number) => first[a] > first[b] || (first[a] === first[b] && labels[a] < labels[b]);
  const best = firstOf(Uint32Array.from(labels.keys()), FEEDBACK_CHUNKS, better);
  const spread = standardDeviation(first);
  const sums = scratch.float64('feedback sums', held.length).fill(0);
  /** By stem, 0 for one not met yet. */
  const idfs = scratch.float64('feedback idfs', held.length).fill(0);
  const summed: number[] = [];
  const weights = scratch.float64('feedback chunk', Math.max(0, ...best.map((i) => starts[i + 1] - starts[i])));
  for (const i of best) {
    const from = starts[i];
    const count = starts[i + 1] - from;
    let squares = 0;
    for (let entry = 0; entry < count; entry++) {
      const stem = stems[from + entry];
      weights[entry] = 0;
      if (times[from + entry] < 1) continue; // facts say where a page is from, not what it is about
      if (idfs[stem] === 0) {
        idfs[stem] = termWeight(statistics.docs, statistics.documentFrequency(stem));
        summed.push(stem);
      }
      const weight = (1 + Math.log(times[from + entry])) * idfs[stem];
      weights[entry] = weight;
      squares += weight ** 2;
    }
    const voice = spread > 0 ? Math.exp((steepness * (first[i] - first[best[0]])) / spread) : 1;
    const norm = squares > 0 ? Math.sqrt(squares) : 1;
    for (let entry = 0; entry < count; entry++) sums[stems[from + entry]] += (voice * weights[entry]) / norm;
  }
  const heavier = (a: number, b: number) => sums[a] > sums[b] || (sums[a] === sums[b] && a < b);
  return firstOf(summed, FEEDBACK_STEMS, heavier).map((stem) => [stem, sums[stem]] as const);
}

function standardDeviation(values: Float64Array): number {
  let sum = 0;
  let squares = 0;
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  return Math.sqrt(Math.max(0, squares / values.length - (sum / values.length) ** 2));
}
