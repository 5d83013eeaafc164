import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluation } from '../../../src/actors/search/journal.ts';
import { replayHandler } from '../../../src/actors/search/replay-queries.ts';
import { commitThrough } from '../../../src/actors/system/service.ts';
import { appendRuns, giveFeedback } from '../../../src/commands/log-queries.ts';
import { type Attempt, completeJob, failJob, releaseJob } from '../../../src/commands/move-job.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import {
  evalReplayListResponse,
  evalReplayRequest,
  evalReplayResultResponse,
  scoreReport,
} from '../../../src/domain/evaluation.ts';
import type { QueryRun } from '../../../src/domain/query-log.ts';
import { idOf } from '../../../src/domain/values.ts';
import { hitsOf, queryRun } from '../../store/query-runs.ts';
import { contextOf as attemptContext } from '../attempt-context.ts';
import { Shelf } from '../shelf.ts';

const evaluate = (shelf: Shelf) =>
  evaluation({ reader: shelf.reader, commit: commitThrough(shelf.ask), maxAttempts: 3, now: () => 5000 });

/** Pages 1–4; runs are answered with pages in this order, and judged. */
async function judged(
  runs: (Partial<QueryRun> & { answered: number[]; relevant?: number[]; irrelevant?: number[] })[],
): Promise<Shelf> {
  const shelf = await Shelf.open();
  for (let i = 0; i < 4; i++) await shelf.add({ text: 'oak' });
  for (const [i, { answered, relevant = [], irrelevant = [], ...changes }] of runs.entries()) {
    const query_id = `qr_${i + 1}`;
    const final_pages = answered.map((page_no, place) => ({ page_no, score: 1, rank: place + 1 }));
    const run = queryRun({ query_id, ts: 1000 * (i + 1), final_pages, candidate_set: hitsOf(...answered), ...changes });
    await shelf.temporary.commit(appendRuns([run]));
    for (const no of [...relevant, ...irrelevant]) {
      const feedback = { query_id, page_id: idOf('page', no), relevant: relevant.includes(no) };
      await shelf.temporary.commit(giveFeedback(feedback));
    }
  }
  return shelf;
}

test('logged runs are scored against what was said, by model, and what cannot be scored is counted', async () => {
  await using shelf = await judged([
    { answered: [1, 2], relevant: [1] },
    { answered: [2, 1], relevant: [1], reranker_model: 'r', candidate_set: hitsOf(1, 2, 1, 3) },
    { answered: [3] },
    { answered: [3], irrelevant: [3] },
    { answered: [2], relevant: [4], active_model: 'm2', params: { sort: 'relevance' } },
    { answered: [2], relevant: [4], params: { sort: 'newest' } },
  ]);
  const { score } = evaluate(shelf);
  const report = await score({ k: 10 });
  assert.deepEqual(scoreReport.parse(report), report);
  const { models, queries, ...counts } = report;
  assert.deepEqual(counts, { k: 10, logged: 6, labeled: 4, scored: 3, skipped_no_positive: 1 });
  const second = 1 / Math.log2(3);
  assert.deepEqual(models, [
    {
      model: 'm1',
      queries: 2,
      ndcg: (1 + second) / 2,
      reciprocal_rank: 0.75,
      recall: 1,
      recall_candidates: 1,
      rerank_lift: second - 1,
    },
    { model: 'm2', queries: 1, ndcg: 0, reciprocal_rank: 0, recall: 0, recall_candidates: 0, rerank_lift: null },
  ]);
  assert.deepEqual(
    queries.map(({ query_id, ndcg, rerank_lift }) => [query_id, ndcg, rerank_lift]),
    [
      ['qr_1', 1, null],
      ['qr_2', second, second - 1],
      ['qr_5', 0, null],
    ],
  );
  const of = async (request: object) => {
    const { logged, labeled, scored } = await score({ k: 10, ...request });
    return [logged, labeled, scored];
  };
  const since = new Date(2000).toISOString();
  assert.deepEqual(await of({ model: 'm2' }), [1, 1, 1]);
  assert.deepEqual(await of({ since }), [5, 3, 2]);
  assert.deepEqual(await of({ since, model: 'm1' }), [4, 2, 1]);
  assert.deepEqual(await of({ model: 'unknown' }), [0, 0, 0]);
});

const claim = async (shelf: Shelf) => (await shelf.temporary.claim(9000, { leaseMs: 1000 }))[0];

const handlerOn = (shelf: Shelf) => {
  let at = 0;
  return replayHandler({ ask: shelf.ask, reader: shelf.reader, prices: { m2: 3 }, monotonic: () => (at += 5) });
};

const contextOf = (shelf: Shelf, attempt: Attempt) => attemptContext(shelf.temporary, attempt, 9000);

test('a replay goes on behind its last slice when an attempt is interrupted, and leaves its report', async () => {
  const runs = Array.from({ length: 20 }, (_, i) => ({ query_text: `query ${i}`, answered: [1], relevant: [1] }));
  await using shelf = await judged([
    ...runs,
    { query_text: 'query 0', answered: [2], relevant: [2] },
    { query_text: 'no good', answered: [2], irrelevant: [2] },
  ]);
  const { start, result } = evaluate(shelf);
  const asked: string[] = [];
  let failAt = 12;
  type Asked = { request: { query: string; rerank: boolean }; model: string; isLocal: boolean };
  shelf.answers['search.rank'] = ({ request, model, isLocal }: Asked) => {
    asked.push(`${request.query} ${model} ${isLocal ? 'locally' : request.rerank}`);
    if (asked.length === 2 * failAt) throw new Error('the provider is down');
    return { pages: request.rerank ? [1, 2] : [2, 1], candidates: [2, 1], reranker: request.rerank ? 'r' : null };
  };
  const { job_id, result_url } = await start(evalReplayRequest.parse({ rerank_locally_a: true, rerank_b: false }));
  assert.equal(result_url, `/v1/admin/eval/replay/${job_id}`);
  assert.deepEqual(result({ job_id }), { job_id, status: 'pending', report: null, error: null });

  const handle = handlerOn(shelf);
  const first = await claim(shelf);
  await assert.rejects(handle(first.job, contextOf(shelf, first.attempt)), /the provider is down/);
  assert.equal(shelf.reader.replays.countResults(first.job.no), 8, 'one slice is kept');
  assert.deepEqual(asked.slice(0, 2), ['query 0 m1 locally', 'query 0 m1 false'], 'the newest first');
  await shelf.temporary.commit(releaseJob(first.attempt, 9000, 9000));

  failAt = -1;
  asked.length = 0;
  const second = await claim(shelf);
  const completion = await handle(second.job, contextOf(shelf, second.attempt));
  assert.equal(asked.length, 2 * 12);
  await shelf.temporary.commit(completeJob(second.attempt, 9000, completion));
  const shown = result({ job_id });
  assert.deepEqual(evalReplayResultResponse.parse(shown), shown);
  assert.deepEqual([shown.status, shown.error, shown.report?.queries, shown.report?.skipped], ['done', null, 20, 0]);
  // Of 'query 0' both pages are relevant; of the other nineteen the first.
  assert.deepEqual(shown.report?.better, { a: 19, b: 0, neither: 1 });
  const { a, b } = shown.report ?? assert.fail();
  assert.deepEqual([a.ndcg, a.reranker_model, b.reranker_model], [1, 'r', null]);
  assert.equal(shelf.reader.replays.countResults(second.job.no), 0);
  await shelf.temporary.reopen();
  assert.deepEqual(evaluate(shelf).result({ job_id }), shown);
});

test('a replay that is dead tells why; other jobs and unknown ids are no replays', async () => {
  await using shelf = await judged([]);
  const { start, result } = evaluate(shelf);
  const { job_id } = await start(evalReplayRequest.parse({ limit: 5 }));
  const { attempt } = await claim(shelf);
  await shelf.temporary.commit(failJob(attempt, 9000, { message: 'no money left', permanent: true, delayMs: 0 }));
  assert.deepEqual(result({ job_id }), { job_id, status: 'dead', report: null, error: 'no money left' });
  for (const id of [idOf('job', 1), idOf('job', 99), 'nonsense'])
    assert.throws(() => result({ job_id: id }), { code: 'not_found' });
});

test('an attempt that was taken over keeps nothing, and a model that has gone ends the replay', async () => {
  await using shelf = await judged([{ answered: [1], relevant: [1] }]);
  shelf.answers['search.rank'] = () => ({ pages: [1], candidates: [1], reranker: null });
  const { start } = evaluate(shelf);
  await start(evalReplayRequest.parse({}));
  const { job, attempt } = await claim(shelf);
  const handle = handlerOn(shelf);
  await assert.rejects(handle(job, contextOf(shelf, { ...attempt, claim: 0 })), /another attempt/);
  assert.equal(shelf.reader.replays.get(job.no)?.plan, null);
  const m1 = shelf.reader.models.get('m1');
  assert.ok(m1 !== undefined);
  await shelf.temporary.commit(({ models }) => models.put({ ...m1, status: 'failed' }));
  const ended = { name: 'JobError', permanent: true, message: /m1 is not ready/ };
  await assert.rejects(handle(job, contextOf(shelf, attempt)), ended);
  for (const [changes, message] of [
    [{ model_a: 'm9' }, /model_a: "m9" is unknown/],
    [{}, /model_a: "m1" is failed, not ready/],
  ] as const) {
    await assert.rejects(start(evalReplayRequest.parse(changes)), { code: 'invalid', message });
  }
});

test('a model that goes while a query is ranked ends the replay with that reason', async () => {
  await using shelf = await judged([{ answered: [1], relevant: [1] }]);
  const m1 = shelf.reader.models.get('m1');
  assert.ok(m1 !== undefined);
  shelf.answers['search.rank'] = async () => {
    await shelf.temporary.commit(({ models }) => models.remove(m1));
    throw new DomainError('invalid', 'the model m1 has no vectors here');
  };
  await evaluate(shelf).start(evalReplayRequest.parse({}));
  const { job, attempt } = await claim(shelf);
  const ended = { name: 'JobError', permanent: true, message: /m1 is not ready/ };
  await assert.rejects(handlerOn(shelf)(job, contextOf(shelf, attempt)), ended);
});

const words = 'alder birch cedar dogwood elm fir ginkgo hazel ivy juniper katsura larch'.split(' ');

test('queries are made of pages, the same in both ways, each to find its own page; a page that is forgotten meanwhile is left out', async () => {
  await using shelf = await Shelf.open();
  await shelf.install('m2');
  for (let no = 1; no <= 30; no++)
    await shelf.add({ title: `oak ${no}`, text: `${words.map((word) => `${word}${no}`).join(' ')}.` });
  const asked: Record<string, string[]> = { m1: [], m2: [] };
  shelf.answers['search.rank'] = ({ request, model }: { request: { query: string }; model: string }) => {
    asked[model].push(request.query);
    const no = Number(/\d+/.exec(request.query)?.[0]);
    return { pages: model === 'm1' ? [no, 99] : [99, no], candidates: [no], reranker: null };
  };
  const { start, result, list } = evaluate(shelf);
  const { job_id } = await start(evalReplayRequest.parse({ source: 'library', model_b: 'm2', limit: 20 }));
  const { job, attempt } = await claim(shelf);
  const context = contextOf(shelf, attempt);
  let slices = 0;
  const completion = await handlerOn(shelf)(job, {
    ...context,
    checkpoint: async (command) => {
      const kept = await context.checkpoint(command);
      const [{ planned, replayed, source, report }] = list({ limit: 5 }).replays;
      assert.deepEqual([planned, replayed, source, report], [20, Math.min(20, 8 * slices++), 'library', null]);
      if (slices === 1) {
        const last = shelf.reader.replays.get(job.no)?.plan?.at(-1)?.[0] ?? 0;
        await shelf.temporary.commit(({ pages }) => {
          const page = pages.get(last);
          if (page !== undefined) pages.remove(page);
        });
      }
      return kept;
    },
  });
  await shelf.temporary.commit(completeJob(attempt, 9000, completion));
  assert.deepEqual(asked.m1, asked.m2);
  assert.equal(new Set(asked.m1.map((query) => /\d+/.exec(query)?.[0])).size, 19, 'each of another page');
  assert.ok(!asked.m1.some((query) => /oak/.test(query)), 'a title of two words names too little without one');
  const { report } = result({ job_id });
  assert.deepEqual([report?.source, report?.queries, report?.skipped], ['library', 19, 1]);
  assert.equal(report?.a.ndcg, 1);
  const difference = 1 / Math.log2(3) - 1;
  for (const each of [report?.difference.ndcg, report?.interval?.ndcg.low, report?.interval?.ndcg.high])
    assert.ok(Math.abs((each ?? 0) - difference) < 1e-9, `${each}`);
  assert.deepEqual([report?.a.p50_ms, report?.a.cost_usd_per_1000_pages], [5, 0]);
  assert.deepEqual(evalReplayResultResponse.parse(result({ job_id })), result({ job_id }));
  assert.deepEqual(list({ limit: 5 }), evalReplayListResponse.parse(list({ limit: 5 })));
  assert.deepEqual(list({ limit: 5 }).replays[0].report, report);

  const kept = shelf.reader.replays.get(job.no) ?? assert.fail();
  const { rerank_locally_a: _a, rerank_locally_b: _b, ...ofEarlier } = kept;
  await shelf.temporary.commit(({ replays }) => replays.put(job.no, ofEarlier));
  assert.equal(evalReplayListResponse.parse(list({ limit: 5 })).replays[0].rerank_locally_a, false);
});
