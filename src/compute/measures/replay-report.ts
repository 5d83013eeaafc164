/** The report of a replay from what its queries came to. Pure; called by the replay's job. */
import type { Measures, Replay, ReplayedQuery, ReplayReport } from '../../domain/evaluation.ts';
import { bootstrapIntervals } from './paired-bootstrap.ts';
import { meanMeasures, meanOf } from './score-run.ts';

/** Means over the replayed queries; `null` stands for one that could not be replayed. */
export function replayReportOf(replay: Replay, results: readonly (ReplayedQuery | null)[]): ReplayReport {
  const replayed = results.filter((result) => result !== null);
  const [a, b] = [meanMeasures(replayed.map((each) => each.a)), meanMeasures(replayed.map((each) => each.b))];
  const count = (holds: (each: ReplayedQuery) => boolean) => replayed.filter(holds).length;
  const mean = (name: 'jaccard_at_k' | 'rbo' | 'intersection_size') => meanOf(replayed.map((each) => each[name])) ?? 0;
  // Of the last query that was reranked: a provider may fail at one.
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

/** Of those that are known; null without any. */
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
