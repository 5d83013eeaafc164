/** Contract section: Feedback, query log and evaluation. What is logged of searches, what is said about results, scores and replays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompareResponse } from '../../src/domain/compare.ts';
import type { EvalReplayResult, ScoreReport } from '../../src/domain/evaluation.ts';
import type { QueryLogListResponse, QueryLogRunResponse } from '../../src/domain/query-log.ts';
import type { SearchBatchResponse, SearchResponse } from '../../src/domain/search.ts';
import { searchDefaults } from '../http/search-defaults.ts';
import { until } from './service.ts';
import { type Invalid, readToken, sharedService } from './shared-service.ts';

const model = 'local-multilingual-e5-small-384';
const shared = sharedService();
const score = async (request?: object) => {
  const { status, body } = await shared.post<ScoreReport>('/v1/admin/eval/score', request);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};
const log = async (query = '') => (await shared.found<QueryLogListResponse>(`/v1/admin/query-log${query}`)).runs;
const logged = (id: string) => shared.found<QueryLogRunResponse>(`/v1/admin/query-log/${id}`);
const search = async (request: object) => (await shared.post<SearchResponse>('/v1/search', request)).body;
const judge = (query_id: string, page_id: string, relevant: boolean) =>
  shared.post('/v1/feedback', { query_id, page_id, relevant });
const close = (actual: number | undefined, expected: number) =>
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) < 1e-9, `${actual} is not ${expected}`);

/** The search that the tests after it judge. */
let found: SearchResponse;

test('without queries and feedback the report is empty', async () => {
  assert.deepEqual(await score(), {
    k: 10,
    logged: 0,
    labeled: 0,
    scored: 0,
    skipped_no_positive: 0,
    models: [],
    queries: [],
  });
  assert.deepEqual(await log(), []);
});

test('a search is logged with every field, under its query id', async () => {
  const texts = [
    'Herons hunt fish in rivers.',
    'A heron stands in the river.',
    'Rivers flow to the sea.',
    'Bread is baked.',
  ];
  await shared.add(
    texts.map((body_extracted, i) => ({ url: `https://eval.example/${i}`, title: `Page ${i}`, body_extracted })),
  );
  const filters = { domain: 'eval.example' };
  const asked = Date.now();
  found = await search({ query: 'heron river', filters });
  assert.ok(found.results.length >= 3, 'three pages are found');
  const { ts, candidate_set, dense_hits, sparse_hits, final_pages, timing_ms, params, reranker_model, ...rest } =
    await logged(found.query_id);
  assert.deepEqual(rest, {
    query_id: found.query_id,
    kind: 'search',
    compare_id: null,
    query_text: 'heron river',
    active_model: model,
    feedback: {},
  });
  assert.ok(Date.parse(ts) >= asked && Date.parse(ts) <= Date.now(), 'dated');
  assert.equal(typeof reranker_model, 'string');
  const { log: _isLogged, ...fields } = searchDefaults;
  assert.deepEqual(params, { ...fields, filters });
  for (const hits of [candidate_set, dense_hits, sparse_hits]) {
    assert.ok(hits.length > 0, 'hits');
    for (const hit of hits) {
      assert.deepEqual(Object.keys(hit), ['chunk_id', 'page_id', 'score']);
      assert.match(hit.chunk_id, /^ck_/);
    }
  }
  assert.deepEqual(
    final_pages,
    found.results.map(({ page_id, score: points }, i) => ({ page_id, score: points, rank: i + 1 })),
  );
  assert.ok(Object.values(timing_ms).every(Number.isFinite), 'timings');
});

test('each query of a batch has an id and a row of its own', async () => {
  const { body } = await shared.post<SearchBatchResponse>('/v1/search/batch', { queries: ['bread', 'sea'] });
  const ids = body.results.map((item) => ('query_id' in item ? item.query_id : assert.fail(item.detail)));
  assert.equal(new Set(ids).size, 2);
  assert.deepEqual(await Promise.all(ids.map(async (id) => (await logged(id)).query_text)), ['bread', 'sea']);
});

test('the log is newest first, cut by limit, and narrowed by since and kind', async () => {
  const runs = await log();
  assert.deepEqual(
    runs.map(({ query_text }) => query_text),
    ['sea', 'bread', 'heron river'],
  );
  assert.deepEqual(await log('?limit=1'), runs.slice(0, 1));
  assert.deepEqual(
    await log(`?since=${runs[0].ts}`),
    runs.filter(({ ts }) => ts >= runs[0].ts),
  );
  assert.deepEqual(await log(`?since=${new Date(Date.now() + 60_000).toISOString()}`), []);
  assert.deepEqual([(await log('?kind=search')).length, await log('?kind=compare_arm')], [3, []]);
});

for (const [query, field] of [
  ['kind=dance', 'kind'],
  ['since=2024-01-01T00:00:00', 'since'],
]) {
  test(`the log asked for by ${query} is 422 at ${field}`, async () => {
    const { status, body } = await shared.call<Invalid>('GET', `/v1/admin/query-log?${query}`);
    assert.deepEqual([status, body.detail[0].loc], [422, ['query', field]]);
  });
}

test('the widest limit is 1,000, and an unknown query id is 404', async () => {
  assert.equal((await log('?limit=1000')).length, 3);
  for (const id of ['qr_none', 'nonsense', '%00'])
    assert.equal((await shared.call('GET', `/v1/admin/query-log/${id}`)).status, 404, id);
});

test('feedback is accepted by a reader, answered with texts, and shown with its query', async () => {
  const [first, second] = found.results;
  const given = { query_id: found.query_id, page_id: first.page_id, relevant: true };
  const { status, body } = await shared.call<object>('POST', '/v1/feedback', given, { token: readToken });
  assert.equal(status, 202);
  for (const text of Object.values(body)) assert.equal(typeof text, 'string');
  await judge(found.query_id, second.page_id, false);
  assert.deepEqual((await logged(found.query_id)).feedback, { [first.page_id]: true, [second.page_id]: false });
});

test('the last word on a page counts', async () => {
  const [first, second] = found.results;
  await judge(found.query_id, first.page_id, false);
  await judge(found.query_id, second.page_id, true);
  assert.deepEqual((await logged(found.query_id)).feedback, { [first.page_id]: false, [second.page_id]: true });
});

test('feedback on an unknown query is accepted, and evaluation drops it', async () => {
  assert.equal((await judge('qr_unknown', found.results[0].page_id, true)).status, 202);
  assert.equal((await score()).labeled, 1);
});

for (const [name, body, at] of [
  ['nothing', {}, 'query_id'],
  ['no page', { query_id: 'q', relevant: true }, 'page_id'],
  ['no verdict', { query_id: 'q', page_id: 'p' }, 'relevant'],
  ['a verdict in words', { query_id: 'q', page_id: 'p', relevant: 'yes' }, 'relevant'],
  ['another field', { query_id: 'q', page_id: 'p', relevant: true, stars: 5 }, 'stars'],
] as const) {
  test(`feedback with ${name} is 422 at ${at}`, async () => {
    const { status, body: answer } = await shared.post<Invalid>('/v1/feedback', body);
    assert.equal(status, 422);
    assert.ok(
      answer.detail.some(({ loc }) => loc.join('.') === `body.${at}`),
      JSON.stringify(answer),
    );
  });
}

test('a query is scored by hand-computed measures: its one relevant page stands second', async () => {
  const report = await score();
  const { k, logged: all, labeled, scored, skipped_no_positive } = report;
  assert.deepEqual([k, all, labeled, scored, skipped_no_positive], [10, 3, 1, 1, 0]);
  const [query] = report.queries;
  assert.deepEqual([query.query_id, query.query_text, query.model], [found.query_id, 'heron river', model]);
  close(query.ndcg, 1 / Math.log2(3));
  close(query.reciprocal_rank, 1 / 2);
  assert.deepEqual([query.recall, query.recall_candidates], [1, 1]);
  assert.equal(typeof query.rerank_lift, 'number');
  const { query_id: _, query_text: __, ...measures } = query;
  assert.deepEqual(report.models, [{ queries: 1, ...measures }]);
});

test('k cuts what is looked at: the first place alone has nothing relevant', async () => {
  const [{ ndcg, reciprocal_rank, recall, recall_candidates }] = (await score({ k: 1 })).queries;
  assert.deepEqual([ndcg, reciprocal_rank, recall, recall_candidates], [0, 0, 0, 1]);
});

test('two relevant pages: gains add up over the best order', async () => {
  await judge(found.query_id, found.results[2].page_id, true);
  const [query] = (await score()).queries;
  close(query.ndcg, (1 / Math.log2(3) + 1 / Math.log2(4)) / (1 + 1 / Math.log2(3)));
  close(query.reciprocal_rank, 1 / 2);
});

test('a judged query without a relevant page is skipped, and counted', async () => {
  const bread = await search({ query: 'bread' });
  await judge(bread.query_id, bread.results[0].page_id, false);
  const { labeled, scored, skipped_no_positive, queries } = await score();
  assert.deepEqual([labeled, scored, skipped_no_positive, queries.length], [2, 1, 1, 1]);
});

test('since and model narrow what is scored', async () => {
  assert.equal((await score({ since: new Date(Date.now() + 60_000).toISOString() })).logged, 0);
  assert.equal((await score({ model: 'nobody' })).logged, 0);
  assert.equal((await score({ model, since: null })).scored, 1);
});

const wrongK = [0, 1001, 1.5, '10', null];
for (const [path, field, values] of [
  ['score', 'k', wrongK],
  ['score', 'since', ['2024-01-01T00:00:00', 'soon', 7]],
  ['score', 'model', [7]],
  ['score', 'unknown', [1]],
  ['replay', 'k', wrongK],
  ['replay', 'candidates', [0, 10_001, 1.5, '10', null]],
  ['replay', 'limit', [0, 1.5, 'all']],
  ['replay', 'rerank_a', ['yes', 1, null]],
  ['replay', 'rerank_b', ['yes', 1, null]],
  ['replay', 'rerank_locally_a', ['yes', 1, null]],
  ['replay', 'rerank_locally_b', ['yes', 1, null]],
  ['replay', 'model_a', [7]],
  ['replay', 'model_b', [7]],
  ['replay', 'unknown', [1]],
] as const) {
  test(`${path} refuses ${field} ${values.map((value) => JSON.stringify(value)).join(', ')}`, async () => {
    for (const value of values) {
      const { status, body } = await shared.post<Invalid>(`/v1/admin/eval/${path}`, { [field]: value });
      assert.deepEqual([status, body.detail[0]?.loc], [422, ['body', field]]);
    }
  });
}

test('score takes k from 1 to 1,000, replay k to 1,000 and candidates to 10,000', async () => {
  for (const k of [1, 1000]) assert.equal((await score({ k })).k, k);
  const widest = { k: 1000, candidates: 10_000, limit: null, model_a: null, model_b: null };
  assert.equal((await shared.post('/v1/admin/eval/replay', widest)).status, 202);
});

/** Start a replay and wait for its end. */
async function replayed(request?: object): Promise<EvalReplayResult> {
  const { status, body } = await shared.post<{ job_id: string; result_url: string }>('/v1/admin/eval/replay', request);
  assert.equal(status, 202, JSON.stringify(body));
  assert.match(body.job_id, /^jb_/);
  assert.equal(body.result_url, `/v1/admin/eval/replay/${body.job_id}`);
  let result: EvalReplayResult | undefined;
  await until(async () => {
    result = await shared.found<EvalReplayResult>(body.result_url);
    return /done|dead/.test(result.status);
  }, 'the replay is over');
  return result as EvalReplayResult;
}

let report: EvalReplayResult;

test('a replay is a job whose report has both arms, their difference and how far they agree', async () => {
  report = await replayed({ rerank_b: false });
  const { a, b, difference, better, agreement, interval, ...rest } = report.report ?? assert.fail(String(report.error));
  assert.deepEqual([report.status, report.error], ['done', null]);
  assert.deepEqual(rest, { source: 'log', k: 10, candidates: 100, queries: 1, skipped: 0 });
  assert.deepEqual([a.model, a.rerank, b.model, b.rerank, b.reranker_model], [model, true, model, false, null]);
  close(difference.ndcg, b.ndcg - a.ndcg);
  for (const end of [interval?.ndcg.low, interval?.ndcg.high]) close(end, difference.ndcg); // of one query
  assert.equal(better.a + better.b + better.neither, 1);
  assert.deepEqual(Object.keys(agreement), ['jaccard_at_k', 'rbo', 'kendall_tau', 'intersection_size']);
});

test('a replay is listed as a job of its kind, and its result may be read with a reading token', async () => {
  const { jobs } = await shared.found<{ jobs: { kind: string; job_id: string }[] }>('/v1/jobs?kind=eval_replay');
  assert.ok(
    jobs.some(({ job_id }) => job_id === report.job_id),
    'listed',
  );
  const path = `/v1/admin/eval/replay/${report.job_id}`;
  assert.deepEqual((await shared.call('GET', path, undefined, { token: readToken })).body, report);
  assert.equal((await shared.call('POST', '/v1/admin/eval/replay', {}, { token: readToken })).status, 403);
});

test('a replay of an unknown model is 422, and the result of an unknown one, or of another job, is 404', async () => {
  for (const field of ['model_a', 'model_b'])
    assert.equal((await shared.post('/v1/admin/eval/replay', { [field]: 'nobody' })).status, 422, field);
  const [other] = (await shared.found<{ jobs: { job_id: string }[] }>('/v1/jobs?kind=index_page')).jobs;
  for (const id of ['jb_zzzzzzzz', 'nonsense', other.job_id])
    assert.equal((await shared.call('GET', `/v1/admin/eval/replay/${id}`)).status, 404, id);
});

test('the log, the feedback and the report of a replay survive a restart', async () => {
  const before = await log();
  await shared.service.stop();
  await shared.service.start();
  assert.deepEqual(await log(), before);
  assert.deepEqual(await shared.found(`/v1/admin/eval/replay/${report.job_id}`), report);
});

test('an arm of a comparison is logged as such, and feedback on the comparison stands at each arm', async () => {
  const words = {
    provider: 'local',
    model_name: 'multilingual-e5-small',
    dim: 384,
    max_input_tokens: 512,
    id: 'second',
  };
  const { body: other } = await shared.post<{ id: string }>('/v1/models', words);
  await shared.post(`/v1/models/${other.id}/backfill`, { confirm: true });
  await until(
    async () => (await shared.found<{ status: string }>(`/v1/models/${other.id}/backfill`)).status === 'complete',
    'the backfill is complete',
  );
  const { body } = await shared.post<CompareResponse>('/v1/compare', { query: 'heron', models: [model, other.id] });
  const page = body.runs[0].results[0].page_id;
  await judge(body.compare_id, page, true);
  const arms = await log('?kind=compare_arm');
  assert.deepEqual(
    arms.map(({ compare_id, kind, active_model, feedback }) => [compare_id, kind, active_model, feedback]),
    [other.id, model].map((each) => [body.compare_id, 'compare_arm', each, { [page]: true }]),
  );
});
