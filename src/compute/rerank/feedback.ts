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
/** A chunk one standard deviation below the best has e^-1.5 of its voice; measured (docs/ranking.md): 1 to 2 are alike. */
const STEEPNESS = 1.5;
/** Length of the feedback's vector beside the query's; the usual value (Salton & Buckley 1990). */
const BETA = 0.75;

/**
 * Score the candidates by the query and its feedback together: BM25 where each stem weighs what it has in the query's unit
 * vector plus BETA times what it has in the feedback's.
 * Shapes: `first` one score per candidate, any scale; `lengths` as `candidateLengths` gives. Result: one per candidate, >= 0.
 */
export function feedbackScores(
  terms: readonly QueryTerm[],
  candidates: Candidates,
  first: Float64Array,
  lengths: Float64Array,
  statistics: CollectionStatistics,
): Float64Array {
  const { labels, starts, words, bodyCounts, titleCounts, table } = candidates;
  const weights = new Float64Array(table.stemCount);
  const asked = terms.map(({ stem, weight }) => [stem, weight] as const);
  addVector(weights, asked, 1);
  addVector(weights, feedbackStems(candidates, first, statistics), BETA);
  const scores = new Float64Array(labels.length);
  const { base, slope } = saturation(statistics.meanLength);
  const frequencies = new Float64Array(table.stemCount);
  for (let i = 0; i < labels.length; i++) {
    for (let at = starts[i]; at < starts[i + 1]; at++) {
      frequencies[table.stems[words[at]]] += occurrences(bodyCounts[at], titleCounts[at]);
    }
    for (let at = starts[i]; at < starts[i + 1]; at++) {
      const stem = table.stems[words[at]];
      if (weights[stem] > 0 && frequencies[stem] > 0) {
        scores[i] += contribution(weights[stem], frequencies[stem], lengths[i], base, slope);
      }
      frequencies[stem] = 0;
    }
  }
  return scores;
}

type StemVector = readonly (readonly [stem: number, weight: number])[];

/** Add a vector, brought to a length, to `weights`; stems of -1 take part in the length only. */
function addVector(weights: Float64Array, vector: StemVector, length: number): void {
  const norm = Math.hypot(...vector.map(([, weight]) => weight));
  if (norm > 0) for (const [stem, weight] of vector) if (stem >= 0) weights[stem] += (length * weight) / norm;
}

/** The heaviest stems of the best chunks: the weighted sum of their unit tf-idf vectors. */
function feedbackStems(candidates: Candidates, first: Float64Array, statistics: CollectionStatistics): StemVector {
  const { labels } = candidates;
  const order = Array.from(labels.keys()).sort((a, b) => first[b] - first[a] || labels[a] - labels[b]);
  const spread = standardDeviation(first);
  const sum = new Map<number, number>();
  const weights = new Map<number, number>();
  for (const i of order.slice(0, FEEDBACK_CHUNKS)) {
    const voice = spread > 0 ? Math.exp((STEEPNESS * (first[i] - first[order[0]])) / spread) : 1;
    const vector = tfIdf(candidates, i, statistics, weights);
    const norm = Math.hypot(...vector.values());
    if (norm > 0) for (const [stem, weight] of vector) sum.set(stem, (sum.get(stem) ?? 0) + (voice * weight) / norm);
  }
  return [...sum].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, FEEDBACK_STEMS);
}

/** (1 + ln frequency) · idf of the stems of one candidate. `weights` remembers the idf. */
function tfIdf(candidates: Candidates, i: number, statistics: CollectionStatistics, weights: Map<number, number>) {
  const { starts, words, bodyCounts, titleCounts, table } = candidates;
  const vector = new Map<number, number>();
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const stem = table.stems[words[at]];
    vector.set(stem, (vector.get(stem) ?? 0) + occurrences(bodyCounts[at], titleCounts[at]));
  }
  for (const [stem, frequency] of vector) {
    let weight = weights.get(stem);
    if (weight === undefined) {
      weight = termWeight(statistics.docs, statistics.documentFrequency(stem));
      weights.set(stem, weight);
    }
    vector.set(stem, (1 + Math.log(frequency)) * weight);
  }
  return vector;
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
