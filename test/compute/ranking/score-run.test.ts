import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replayReportOf } from '../../../src/compute/ranking/replay-report.ts';
import {
  gradesOf,
  hasPositive,
  meanMeasures,
  meanOf,
  measureAnswer,
  rerankLift,
} from '../../../src/compute/ranking/score-run.ts';
import type { Measures, ReplayedQuery } from '../../../src/domain/evaluation.ts';

const grades = gradesOf(
  new Map([
    [1, true],
    [2, false],
    [3, true],
  ]),
);

test('an answer is measured within the first k, its candidates as a whole', () => {
  assert.deepEqual([hasPositive(grades), hasPositive(gradesOf(new Map([[2, false]])))], [true, false]);
  const answer = { ranked: [2, 1, 9], candidates: [9, 1, 2, 3], grades };
  assert.deepEqual(measureAnswer(answer, 10), {
    ndcg: 1 / Math.log2(3) / (1 + 1 / Math.log2(3)),
    reciprocal_rank: 1 / 2,
    recall: 1 / 2,
    recall_candidates: 1,
  });
  assert.deepEqual(measureAnswer(answer, 1), { ndcg: 0, reciprocal_rank: 0, recall: 0, recall_candidates: 1 });
});

test('the lift of a reranker is the nDCG it added to the order of its candidates', () => {
  const answer = { ranked: [1, 9], candidates: [9, 1], grades: new Map([[1, 1]]) };
  assert.equal(rerankLift(answer, 10), 1 - 1 / Math.log2(3));
  assert.equal(rerankLift({ ...answer, ranked: [9, 1] }, 10), 0);
});

test('the lift is measured at the ranks that were answered, not beyond the answer nor before its offset', () => {
  const grades = new Map([
    [1, 1],
    [2, 1],
    [3, 1],
  ]);
  const candidates = [1, 2, 3];
  assert.equal(rerankLift({ ranked: [1], candidates, grades }, 1000), 0, 'two pages more were not answered');
  assert.equal(rerankLift({ ranked: [0, 2, 3], candidates, grades }, 10), 0, 'the first page was answered before');
  const best = 1 + 1 / Math.log2(3) + 1 / Math.log2(4);
  assert.equal(rerankLift({ ranked: [9, 2], candidates: [8, 9, 2], grades }, 10), 1 / Math.log2(3) / best);
});

const measured = (value: number): Measures => ({
  ndcg: value,
  reciprocal_rank: value,
  recall: value,
  recall_candidates: value,
});

test('means leave out what is unknown, and are none without anything known', () => {
  assert.deepEqual([meanOf([1, null, 0]), meanOf([null]), meanOf([])], [0.5, null, null]);
  assert.deepEqual(meanMeasures([measured(1), measured(0.5)]), measured(0.75));
  assert.deepEqual(meanMeasures([]), measured(0));
});

test('the report of a replay has the means of both arms, their difference and who was better', () => {
  const asked = { model_a: 'm1', model_b: 'm2', rerank_a: true, rerank_b: false, k: 10, candidates: 100 };
  const replay = { ...asked, limit: null, plan: null, report: null };
  const query = (a: number, b: number, tau: number | null): ReplayedQuery => ({
    a: { ...measured(a), reranker_model: 'r', ms: 10 * (a + 1) },
    b: { ...measured(b), reranker_model: null },
    jaccard_at_k: a,
    rbo: b,
    kendall_tau: tau,
    intersection_size: 2,
  });
  const report = replayReportOf(replay, [query(1, 0.5, 1), null, query(0.5, 0.5, null), query(0, 0.5, 0.5)]);
  assert.deepEqual(report, {
    source: 'log',
    k: 10,
    candidates: 100,
    queries: 3,
    skipped: 1,
    a: { model: 'm1', rerank: true, reranker_model: 'r', ...measured(0.5), p50_ms: 15 },
    b: { model: 'm2', rerank: false, reranker_model: null, ...measured(0.5), p50_ms: null },
    difference: measured(0),
    interval: { ndcg: { low: -0.5, high: 0.5 }, recall: { low: -0.5, high: 0.5 } },
    better: { a: 1, b: 1, neither: 1 },
    agreement: { jaccard_at_k: 0.5, rbo: 0.5, kendall_tau: 0.75, intersection_size: 2 },
  });
  const last = query(1, 1, 1);
  const failed = { ...last, a: { ...last.a, reranker_model: null } };
  assert.equal(replayReportOf(replay, [last, failed]).a.reranker_model, 'r', 'its provider failed at the last query');
  const { queries, interval } = replayReportOf(replay, []);
  assert.deepEqual([queries, interval], [0, null]);
});
