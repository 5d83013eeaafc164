/** A replay's report. Pure. */
import type { Replay, ReplayedQuery, ReplayReport } from '../../domain/evaluation.ts';
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
      // Of the last reranked query: a provider may fail at one.
      reranker_model: arms.findLast(({ reranker_model }) => reranker_model !== null)?.reranker_model ?? null,
      ...measuresBy((name) => meanOf(arms.map((each) => each[name])) ?? 0),
    };
  });
  return {
    k: replay.k,
    candidates: replay.candidates,
    queries: replayed.length,
    skipped: results.length - replayed.length,
    a,
    b,
    difference: measuresBy((name) => b[name] - a[name]),
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
