/**
 * Relevance feedback: the words that the best candidates share become part of the query (Rocchio 1971). Chunks weigh by how
 * far their score stands out: where one candidate is clearly the best it is nearly alone, where many are alike they speak
 * together. So a question with one answer is not blurred, and a subject with many pages finds the words they use.
 */
import { contribution, termWeight } from '../bm25/bm25f.ts';
import type { Candidates, CollectionStatistics } from './rerank-input.ts';
import { occurrences, type QueryTerm, saturation } from './word-evidence.ts';

/** Chunks that give feedback, and stems taken from them; measured (docs/ranking.md): 5 to 20 and 25 to 200 are alike. */
const FEEDBACK_CHUNKS = 10;
const FEEDBACK_STEMS = 50;
export interface FeedbackWeights {
  /** A chunk one standard deviation below the best has e^-steepness of its voice. */
  steepness: number;
  /** Length of the feedback's vector beside the query's. */
  beta: number;
}

/** Steepness measured (docs/ranking.md): 1 to 2 are alike; beta is the usual value (Salton & Buckley 1990). */
export const FEEDBACK: FeedbackWeights = { steepness: 1.5, beta: 0.75 };

/**
 * Score the candidates by the query and its feedback together: BM25 where each stem weighs what it has in the query's unit
 * vector plus beta times what it has in the feedback's.
 * Shapes: `first` one score per candidate, any scale; `lengths` as `candidateLengths` gives. Result: one per candidate, >= 0.
 */
export function feedbackScores(
  terms: readonly QueryTerm[],
  candidates: Candidates,
  first: Float64Array,
  lengths: Float64Array,
  statistics: CollectionStatistics,
  { steepness, beta }: FeedbackWeights = FEEDBACK,
): Float64Array {
  const { labels, starts, words, bodyCounts, titleCounts, table } = candidates;
  const weights = new Float64Array(table.stemCount);
  const frequencies = new Float64Array(table.stemCount);
  const asked = terms.map(({ stem, weight }) => [stem, weight] as const);
  addVector(weights, asked, 1);
  addVector(weights, feedbackStems(candidates, first, statistics, frequencies, steepness), beta);
  const scores = new Float64Array(labels.length);
  const { base, slope } = saturation(statistics.meanLength);
  /** The weighted stems of the candidate, as they are met. */
  const met: number[] = [];
  for (let i = 0; i < labels.length; i++) {
    for (let at = starts[i]; at < starts[i + 1]; at++) {
      const stem = table.stems[words[at]];
      if (weights[stem] === 0) continue;
      if (frequencies[stem] === 0) met.push(stem);
      frequencies[stem] += occurrences(bodyCounts[at], titleCounts[at]);
    }
    for (const stem of met) {
      scores[i] += contribution(weights[stem], frequencies[stem], lengths[i], base, slope);
      frequencies[stem] = 0;
    }
    met.length = 0;
  }
  return scores;
}

type StemVector = readonly (readonly [stem: number, weight: number])[];

/** Add a vector, brought to a length, to `weights`; stems of -1 take part in the length only. */
function addVector(weights: Float64Array, vector: StemVector, length: number): void {
  const norm = Math.hypot(...vector.map(([, weight]) => weight));
  if (norm > 0) for (const [stem, weight] of vector) if (stem >= 0) weights[stem] += (length * weight) / norm;
}

/**
 * The heaviest stems of the best chunks: the weighted sum of their unit vectors of (1 + ln frequency) · idf. `frequencies` is
 * all 0 before and after.
 */
function feedbackStems(
  candidates: Candidates,
  first: Float64Array,
  statistics: CollectionStatistics,
  frequencies: Float64Array,
  steepness: number,
): StemVector {
  const { labels, starts, words, bodyCounts, titleCounts, table } = candidates;
  const order = Array.from(labels.keys()).sort((a, b) => first[b] - first[a] || labels[a] - labels[b]);
  const spread = standardDeviation(first);
  const sums = new Float64Array(table.stemCount);
  const idfs = new Float64Array(table.stemCount);
  /** Stems with a sum, and those of one chunk. */
  const summed: number[] = [];
  const met: number[] = [];
  for (const i of order.slice(0, FEEDBACK_CHUNKS)) {
    for (let at = starts[i]; at < starts[i + 1]; at++) {
      const stem = table.stems[words[at]];
      if (frequencies[stem] === 0) met.push(stem);
      frequencies[stem] += occurrences(bodyCounts[at], titleCounts[at]);
    }
    let squares = 0;
    for (const stem of met) {
      if (idfs[stem] === 0) {
        idfs[stem] = termWeight(statistics.docs, statistics.documentFrequency(stem));
        summed.push(stem);
      }
      frequencies[stem] = (1 + Math.log(frequencies[stem])) * idfs[stem];
      squares += frequencies[stem] ** 2;
    }
    const voice = spread > 0 ? Math.exp((steepness * (first[i] - first[order[0]])) / spread) : 1;
    for (const stem of met) {
      sums[stem] += (voice * frequencies[stem]) / Math.sqrt(squares);
      frequencies[stem] = 0;
    }
    met.length = 0;
  }
  return heaviest(summed, sums, FEEDBACK_STEMS).map((stem) => [stem, sums[stem]] as const);
}

/** The `count` stems of the largest sums, equal ones by number. */
function heaviest(stems: readonly number[], sums: Float64Array, count: number): number[] {
  const ascending = Float64Array.from(stems, (stem) => sums[stem]).sort();
  const least = ascending[Math.max(0, ascending.length - count)];
  const enough = stems.filter((stem) => sums[stem] >= least);
  return enough.sort((a, b) => sums[b] - sums[a] || a - b).slice(0, count);
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
