/** A replay's report. Pure. */
import type { Interval, Replay, ReplayedQuery, ReplayReport } from '../../domain/evaluation.ts';
import { seededRandom } from '../seeded-random.ts';
import { meanOf, measuresBy } from './score-run.ts';

export function replayReportOf(replay: Replay, results: readonly (ReplayedQuery | null)[]): ReplayReport {
  const replayed = results.filter((result) => result !== null);
  const count = (holds: (each: ReplayedQuery) => boolean) => replayed.filter(holds).length;
  const mean = (name: 'jaccard_at_k' | 'rbo' | 'intersection_size') => meanOf(replayed.map((each) => each[name])) ?? 0;
  const [a, b] = (['a', 'b'] as const).map((side) => {
    const arms = replayed.map((each) => each[side]);
    return {
      model: replay[`model_${side}`],
      rerank: replay[`rerank_${side}`],
      // From the last reranked query, as a provider may fail for single queries.
      reranker_model: arms.findLast(({ reranker_model }) => reranker_model !== null)?.reranker_model ?? null,
      ...measuresBy((name) => meanOf(arms.map((each) => each[name])) ?? 0),
      p50_ms: medianOf(arms.map(({ ms }) => ms)),
    };
  });
  const differencesOf = (name: 'ndcg' | 'recall') => replayed.map((each) => each.b[name] - each.a[name]);
  const [ndcg, recall] =
    replayed.length === 0 ? [] : bootstrapIntervals([differencesOf('ndcg'), differencesOf('recall')]);
  return {
    source: replay.source ?? 'log',
    k: replay.k,
    candidates: replay.candidates,
    queries: replayed.length,
    skipped: results.length - replayed.length,
    a,
    b,
    difference: measuresBy((name) => b[name] - a[name]),
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

/** Ignores unknown values; null if all are unknown. */
function medianOf(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  return known.at(Math.floor((known.length - 1) / 2)) ?? null;
}

/** Resamples; enough for two digits of the interval ends. */
const usualResamples = 2000;
/** Max draws in total: some 100 ms. */
const mostDraws = 20_000_000;
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
