/** A replay's report. Pure. */
import type { Interval, Measures, Replay, ReplayedQuery, ReplayReport } from '../../domain/evaluation.ts';
import { seededRandom } from '../seeded-random.ts';
import { meanMeasures, meanOf } from './score-run.ts';

export function replayReportOf(replay: Replay, results: readonly (ReplayedQuery | null)[]): ReplayReport {
  const replayed = results.filter((result) => result !== null);
  const [a, b] = [meanMeasures(replayed.map((each) => each.a)), meanMeasures(replayed.map((each) => each.b))];
  const count = (holds: (each: ReplayedQuery) => boolean) => replayed.filter(holds).length;
  const mean = (name: 'jaccard_at_k' | 'rbo' | 'intersection_size') => meanOf(replayed.map((each) => each[name])) ?? 0;
  // Of the last reranked query: a provider may fail at one.
  const rerankerOf = (side: 'a' | 'b') =>
    replayed.findLast((each) => each[side].reranker_model !== null)?.[side].reranker_model ?? null;
  const differencesOf = (name: 'ndcg' | 'recall') => replayed.map((each) => each.b[name] - each.a[name]);
  const [ndcg, recall] =
    replayed.length === 0 ? [] : bootstrapIntervals([differencesOf('ndcg'), differencesOf('recall')]);
  return {
    source: replay.source ?? 'log',
    k: replay.k,
    candidates: replay.candidates,
    queries: replayed.length,
    skipped: results.length - replayed.length,
    a: {
      ...{ model: replay.model_a, rerank: replay.rerank_a, reranker_model: rerankerOf('a'), ...a },
      p50_ms: medianOf(replayed.map((each) => each.a.ms)),
    },
    b: {
      ...{ model: replay.model_b, rerank: replay.rerank_b, reranker_model: rerankerOf('b'), ...b },
      p50_ms: medianOf(replayed.map((each) => each.b.ms)),
    },
    difference: difference(a, b),
    interval: ndcg === undefined ? null : { ndcg, recall },
    better: {
      a: count((each) => each.a.ndcg > each.b.ndcg),
      b: count((each) => each.b.ndcg > each.a.ndcg),
      neither: count((each) => each.a.ndcg === each.b.ndcg),
    },
    agreement: {
      jaccard_at_k: mean('jaccard_at_k'),
      rbo: mean('rbo'),
      kendall_tau: meanOf(replayed.map((each) => each.kendall_tau)),
      intersection_size: mean('intersection_size'),
    },
  };
}

/** Ignores unknown values; null without any. */
function medianOf(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  return known.at(Math.floor((known.length - 1) / 2)) ?? null;
}

function difference(a: Measures, b: Measures): Measures {
  return {
    ndcg: b.ndcg - a.ndcg,
    reciprocal_rank: b.reciprocal_rank - a.reciprocal_rank,
    recall: b.recall - a.recall,
    recall_candidates: b.recall_candidates - a.recall_candidates,
  };
}

/** Enough for two digits of the ends. */
const usualResamples = 2000;
/** In total: some 100 ms. */
const mostDraws = 20_000_000;
/** On either side of the interval. */
const tail = 0.025;

/**
 * 95 % confidence intervals of the mean differences, with the same draws for all measures.
 * Shapes: `differences` has a row per measure with a number per query, at least one.
 * Source: Efron & Tibshirani 1993, percentile bootstrap; paired, as Sakai 2006 uses it for retrieval. Too narrow below some twenty
 * queries. The seed is fixed.
 */
export function bootstrapIntervals(differences: readonly (readonly number[])[]): Interval[] {
  const queries = differences[0].length;
  const resamples = Math.max(200, Math.min(usualResamples, Math.floor(mostDraws / queries)));
  const random = seededRandom(queries);
  const means = differences.map(() => new Float64Array(resamples));
  for (let resample = 0; resample < resamples; resample++) {
    for (let drawn = 0; drawn < queries; drawn++) {
      const query = Math.floor(random() * queries);
      for (let measure = 0; measure < means.length; measure++)
        means[measure][resample] += differences[measure][query] / queries;
    }
  }
  return means.map((each) => {
    each.sort();
    return { low: each[Math.floor(tail * resamples)], high: each[Math.ceil((1 - tail) * resamples) - 1] };
  });
}
