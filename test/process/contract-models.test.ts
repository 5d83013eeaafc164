/** Contract section: Embedding models and compare. Registration, backfill, activation, retirement, comparison, their settings. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import type { CompareResponse } from '../../src/domain/compare.ts';
import type { JobListResponse, JobResponse } from '../../src/domain/job.ts';
import type { ModelBackfillResponse, ModelInfo, ModelListResponse } from '../../src/domain/model.ts';
import type { QueryLogListResponse } from '../../src/domain/query-log.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { type FakeProvider, startFakeProvider } from '../providers/fake-provider-server.ts';
import { newestFirst } from '../scope.ts';
import { isClustered, RunningService, until, withoutModel } from './service.ts';

interface Faults {
  detail: { msg: string }[];
}

const readToken = 'process-test-reader-c07d12';
const dim = 16;
const localId = 'local-multilingual-e5-small-384';
const price = 0.02;
const datetime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

let provider: FakeProvider;
let keyed: FakeProvider;
let service: RunningService;
let pageIds: string[];
const scope = newestFirst({ after });
before(async () => {
  provider = await startFakeProvider(scope, { dim });
  keyed = await startFakeProvider(scope, { dim, apiKey: 'the-right-key' });
  service = await RunningService.start(scope, {
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: `${provider.url}/v1`,
    SERVICE_PROVIDERS__KEYED__BASE_URL: `${keyed.url}/v1`,
    SERVICE_EMBEDDER__PRICES: JSON.stringify({ words: price }),
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_RESILIENCE__BREAKER_FAILURE_THRESHOLD: '1',
    SERVICE_JOBS__MAX_ATTEMPTS: '2',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
    SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'phone', token: readToken, scopes: ['read'] }]),
  });
  pageIds = await addPages(service, 6);
});

const call = <Body>(method: string, path: string, body?: unknown) => service.call<Body>(method, path, body);
const pathOf = (id: string, rest = '') => `/v1/models/${encodeURIComponent(id)}${rest}`;
const request = { provider: 'ollama', model_name: 'words', dim, max_input_tokens: 512 };

async function addPages(to: RunningService, count: number): Promise<string[]> {
  const pages = Array.from({ length: count }, (_, n) => ({
    url: `https://notes.example/${n}`,
    title: `Note ${n}`,
    body_extracted: `The note number ${n} says that herons hunt fish in rivers.`,
  }));
  const { body } = await to.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  const ids = body.results.map(({ page_id }) => page_id);
  assert.deepEqual(new Set(await to.settled(ids)), new Set(['indexed']));
  return ids;
}

async function register(changes: object): Promise<ModelInfo> {
  const { status, body } = await call<ModelInfo>('POST', '/v1/models', { ...request, ...changes });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

const progressOf = async (id: string) => (await call<ModelBackfillResponse>('GET', pathOf(id, '/backfill'))).body;
const remove = async (id: string) => assert.equal((await call('DELETE', pathOf(id))).status, 204, id);
const idsOf = async () => (await call<ModelListResponse>('GET', '/v1/models')).body.models.map(({ id }) => id);
const backfillJobs = async () =>
  (await call<JobListResponse>('GET', '/v1/jobs?kind=backfill_model&limit=1000')).body.jobs;

async function ended(id: string, on = service): Promise<ModelBackfillResponse> {
  const read = async () => (await on.call<ModelBackfillResponse>('GET', pathOf(id, '/backfill'))).body;
  await until(async () => /complete|failed/.test((await read()).status), `the backfill of ${id} has ended`);
  return read();
}

async function fill(id: string): Promise<ModelBackfillResponse> {
  const { status, body } = await call('POST', pathOf(id, '/backfill'), { confirm: true });
  assert.deepEqual([status, body], [202, { model_id: id, status: 'backfilling' }]);
  return ended(id);
}

test('a model is registered, estimated, filled, activated and deleted', async () => {
  const statusAndBody = async (method: string, path: string, body?: unknown) => {
    const answer = await call<unknown>(method, path, body);
    return [answer.status, answer.body] as const;
  };
  let tokens = 0;
  for (const id of pageIds) {
    const { body } = await call<{ chunks: { token_count: number }[] }>('GET', `/v1/pages/${id}/chunks`);
    for (const { token_count } of body.chunks) tokens += token_count;
  }

  /** By the contract's fields. */
  const listed = async () => {
    const { body } = await call<ModelListResponse>('GET', '/v1/models');
    return body.models.map(({ vectors_pending, pages_pending, rate_per_s, eta_s, paused, runtime, ...info }) => {
      const [pending, pages] = [vectors_pending ?? 0, pages_pending ?? 0];
      assert.ok(pending >= 0 && pages >= 0 && (eta_s ?? 0) >= 0 && (rate_per_s ?? 0) >= 0);
      assert.deepEqual([paused, typeof (runtime ?? '')], [false, 'string']);
      return info;
    });
  };
  const active = {
    ...{
      id: 'local-multilingual-e5-small-384',
      provider: 'local',
      model_name: 'multilingual-e5-small',
      dim: 384,
      max_input_tokens: 32_000,
    },
    ...{ is_active: true, status: 'ready' },
  };
  const registered = { id: `ollama-words-${dim}`, ...request, is_active: false, status: 'registered' };
  const { id } = registered;
  assert.deepEqual(await listed(), [active]);
  assert.deepEqual(await statusAndBody('POST', '/v1/models', request), [201, registered]);
  assert.deepEqual(await listed(), [active, registered]);
  assert.deepEqual(await statusAndBody('POST', '/v1/models', request), [
    409,
    { detail: `the model ${id} is already registered` },
  ]);

  assert.equal((await statusAndBody('POST', `/v1/models/${id}/backfill`, { confirm: 'yes please' }))[0], 422);
  assert.equal((await statusAndBody('POST', `/v1/models/${id}/backfill`, { confirmed: true }))[0], 422);

  const none = { cursor_page_id: null, started_at: null, updated_at: null, finished_at: null, last_error: null };
  const zero = { total_chunks: 0, embedded_chunks: 0, total_tokens: 0 };
  assert.deepEqual(await statusAndBody('GET', `/v1/models/${id}/backfill`), [
    200,
    { model_id: id, status: 'not_started', ...zero, ...none },
  ]);
  const [status, estimate] = await statusAndBody('POST', `/v1/models/${id}/backfill`, {});
  assert.equal(status, 200);
  const { est_cost_usd, ...counts } = estimate as Record<string, unknown>;
  assert.ok(Math.abs(Number(est_cost_usd) - (tokens / 1e6) * price) < 1e-12);
  assert.deepEqual(counts, {
    ...{ model_id: id, n_chunks: 6, total_tokens: tokens },
    est_duration_s: null,
    confirm_required: true,
  });
  assert.equal(provider.calls.length, 0, 'an estimate calls nobody');
  const notReady = { detail: 'the model is registered; only ready models can be activated' };
  assert.deepEqual(await statusAndBody('POST', `/v1/models/${id}/activate`), [409, notReady]);

  const started = [202, { model_id: id, status: 'backfilling' }];
  assert.deepEqual(await statusAndBody('POST', `/v1/models/${id}/backfill`, { confirm: true }), started);
  assert.deepEqual(await statusAndBody('POST', `/v1/models/${id}/backfill`, { confirm: true }), started);
  const { started_at, updated_at, finished_at, ...done } = await ended(id);
  assert.deepEqual(done, {
    ...{ model_id: id, status: 'complete', total_chunks: 6, embedded_chunks: 6, total_tokens: tokens },
    ...{ cursor_page_id: pageIds.at(-1), last_error: null },
  });
  for (const time of [started_at, updated_at, finished_at]) assert.match(String(time), datetime);

  assert.deepEqual(await statusAndBody('POST', `/v1/models/${id}/activate`), [
    200,
    { ...registered, is_active: true, status: 'ready' },
  ]);
  assert.deepEqual(await listed(), [
    { ...active, is_active: false },
    { ...registered, is_active: true, status: 'ready' },
  ]);
  assert.deepEqual(await statusAndBody('DELETE', `/v1/models/${id}`), [
    409,
    { detail: 'the active model cannot be deleted' },
  ]);
  assert.equal((await statusAndBody('POST', `/v1/models/${active.id}/activate`))[0], 200);
  assert.deepEqual(await statusAndBody('DELETE', `/v1/models/${id}`), [204, '']);
  assert.deepEqual(await listed(), [active]);
  assert.deepEqual(await statusAndBody('GET', `/v1/models/${id}/backfill`), [
    404,
    { detail: `unknown model id: ${id}` },
  ]);
});

test('each field of a registration is taken within its bounds and refused beyond them', async () => {
  const long = 'n'.repeat(200);
  const taken: object[] = [
    { dim: 1 },
    { dim: 8192 },
    { max_input_tokens: 512 },
    { max_input_tokens: Number.MAX_SAFE_INTEGER },
    { model_name: long, id: 'x' },
    { id: null },
    { id: 'i' },
    { id: long },
  ];
  for (const changes of taken) {
    const info = await register(changes);
    const { id, ...named } = { id: null, ...request, ...changes };
    const expected = { ...named, is_active: false, status: 'registered' };
    assert.deepEqual(info, { id: id ?? `ollama-words-${named.dim}`, ...expected });
    await remove(info.id);
  }
  const refused: object[] = [
    ...[0, -1, 8193, 1.5, '16', true, null, undefined].map((dim) => ({ dim })),
    ...[0, -1, 511.5, 2 ** 53, '512', null, undefined].map((max_input_tokens) => ({ max_input_tokens })),
    ...['', `${long}n`, 7, null, undefined, 'half \ud800'].map((provider) => ({ provider })),
    ...['', `${long}n`, 7, null, undefined, 'half \ud800'].map((model_name) => ({ model_name })),
    ...['', `${long}n`, 7, '.', '..', '\udc00'].map((id) => ({ id })),
    { is_active: true },
    { Id: 'x' },
  ];
  for (const changes of refused) {
    const { status, body } = await call<{ detail: { loc: string[] }[] }>('POST', '/v1/models', {
      ...request,
      ...changes,
    });
    assert.deepEqual([status, Array.isArray(body.detail)], [422, true], JSON.stringify(changes));
    const [field] = Object.keys(changes);
    if (field in request || field === 'id') assert.deepEqual(body.detail[0].loc, ['body', field]);
  }
  const said: [object, RegExp][] = [
    [{ max_input_tokens: 511 }, /^max_input_tokens: 511 is less than the chunk limit of 512 tokens$/],
    [{ provider: 'nobody' }, /^provider: "nobody" is unknown; set its address as /],
    [{ model_name: long }, /^id: required, because the default made of these names has more than 200 characters$/],
    [
      { provider: 'local' },
      /^model_name: the one built-in model is multilingual-e5-small of 384 dimensions, not "words"/,
    ],
    [{ model_name: 'bge-m3', dim: 512 }, /^dim: bge-m3 gives 1024 numbers, not 512$/],
    [{ provider: 'local', model_name: 'multilingual-e5-small', dim: 383 }, /^model_name: the one built-in model is/],
  ];
  for (const [changes, says] of said) {
    const { status, body } = await call<Faults>('POST', '/v1/models', { ...request, ...changes });
    assert.equal(status, 422);
    assert.match(body.detail[0]?.msg ?? '', says);
  }
  assert.deepEqual(await idsOf(), [localId], 'nothing that was refused is kept');
});

test('a model is found under the id that it was given, whatever that holds', async () => {
  const ids = [
    '漢'.repeat(200),
    '😀'.repeat(100),
    'org/name:tag',
    'a b?c#d%25',
    'é',
    'e\u0301',
    '__proto__',
    ' ',
    '...',
  ];
  for (const id of ids) assert.equal((await register({ id })).id, id);
  assert.deepEqual(new Set(await idsOf()), new Set([localId, ...ids]));
  for (const id of ids) {
    assert.equal((await progressOf(id)).model_id, id);
    assert.equal((await call('POST', '/v1/models', { ...request, id })).status, 409);
    assert.equal((await call('POST', pathOf(id, '/activate'))).status, 409);
    await remove(id);
    for (const [method, rest] of [
      ['DELETE', ''],
      ['POST', '/activate'],
      ['POST', '/backfill'],
    ] as const)
      assert.equal((await call(method, pathOf(id, rest))).status, 404);
  }
  for (const id of ['x'.repeat(1000), '漢'.repeat(300), 'a\u0000b']) {
    const { status, body } = await call<{ detail: string }>('GET', pathOf(id, '/backfill'));
    assert.deepEqual([status, body.detail], [404, `unknown model id: ${id.slice(0, 64)}`]);
  }
});

test('a comparison ranks by each model, measures each two of them, and is logged arm by arm', async () => {
  const { id } = await register({});
  const words = { provider: 'local', model_name: 'multilingual-e5-small', dim: 384, id: 'words' };
  const { id: wordsId } = await register(words);
  assert.equal(wordsId, 'words');
  for (const each of [id, wordsId]) assert.equal((await fill(each)).status, 'complete');
  const models = [localId, id, wordsId];
  const query = 'herons hunt fish';
  const { status, body } = await call<CompareResponse>('POST', '/v1/compare', { query, models });
  assert.equal(status, 200);
  assert.match(body.compare_id, /^cp_/);
  assert.deepEqual(Object.keys(body).sort(), ['agreement', 'compare_id', 'query', 'runs']);
  assert.deepEqual(
    [body.query, body.runs.map((run) => run.model), body.agreement.map(({ model_a, model_b }) => [model_a, model_b])],
    [
      query,
      models,
      [
        [localId, id],
        [localId, wordsId],
        [id, wordsId],
      ],
    ],
  );
  for (const { results } of body.runs) {
    assert.deepEqual(new Set(results.map(({ page_id }) => page_id)), new Set(pageIds));
    for (const page of results) {
      assert.deepEqual(Object.keys(page).sort(), ['canonical_url', 'exact', 'page_id', 'score', 'title']);
      assert.match(page.canonical_url, /^https:\/\/notes\.example\/\d$/);
    }
  }
  for (const each of body.agreement) {
    assert.deepEqual([each.jaccard_at_k, each.intersection_size], [1, pageIds.length]);
    assert.ok(each.rbo > 0 && each.rbo <= 1 && (each.kendall_tau === null || Math.abs(each.kendall_tau) <= 1));
  }
  const arms = async () => {
    const { body: log } = await call<QueryLogListResponse>('GET', '/v1/admin/query-log?kind=compare_arm');
    return log.runs.filter(({ compare_id }) => compare_id === body.compare_id).toReversed();
  };
  await until(async () => (await arms()).length === models.length, 'every arm is logged');
  assert.deepEqual(
    (await arms()).map(({ active_model, query_text, params }) => ({ active_model, query_text, params })),
    models.map((model) => ({
      active_model: model,
      query_text: query,
      params: { k: 10, candidates: 100, rerank: true, model },
    })),
  );

  const compare = (changes: object) =>
    call('POST', '/v1/compare', { query: 'herons', models: [localId, id], ...changes });
  for (const changes of [
    { query: 'q'.repeat(4000) },
    ...[1, 100].map((k) => ({ k })),
    ...[1, 1000].map((candidates) => ({ candidates })),
    { rerank: false },
  ]) {
    const { status } = await compare(changes);
    assert.equal(status, 200, JSON.stringify(changes).slice(0, 60));
  }
  for (const changes of [
    ...['', 'q'.repeat(4001), 7, null, undefined].map((query) => ({ query })),
    ...[[], [localId], Array(6).fill(localId), 'x', [1, 2], null, undefined].map((models) => ({ models })),
    ...[0, 101, 1.5, '10', null].map((k) => ({ k })),
    ...[0, 1001, 1.5, '10', null].map((candidates) => ({ candidates })),
    ...['yes', 1, null].map((rerank) => ({ rerank })),
    { limit: 3 },
  ]) {
    const { status, body } = await compare(changes);
    assert.deepEqual(
      [status, Array.isArray((body as { detail: unknown }).detail)],
      [422, true],
      JSON.stringify(changes),
    );
  }
  const { body: alone } = await compare({ k: 1, query: 'note number 3' });
  for (const { results } of (alone as CompareResponse).runs) assert.equal(results.length, 1);
  const { body: nothing } = await compare({ query: '?!', models: [localId, wordsId] });
  assert.deepEqual(
    (nothing as CompareResponse).runs.map(({ results }) => results),
    [[], []],
  );

  const { id: empty } = await register({ id: 'empty' });
  for (const [models, detail] of [
    [[localId, 'nobody'], 'models: "nobody" is unknown'],
    [[localId, ''], 'models: "" is unknown'],
    [[localId, empty], 'models: "empty" is registered, not ready'],
    [[id, localId, id], `models: "${id}" is named twice`],
  ] as const) {
    const { status, body } = await compare({ models });
    assert.deepEqual([status, body], [422, { detail: [{ loc: ['body'], msg: detail, type: 'value_error' }] }]);
  }
  for (const each of [id, wordsId, empty]) await remove(each);
  if (!isClustered)
    for (const side of ['dense', 'pages']) assert.deepEqual(readdirSync(join(service.dataDir, 'index', side)), ['1']);
});

test('a provider that answers other dimensions, refuses the missing key, or has no address fails the backfill in words', async () => {
  const before = (await backfillJobs()).length;
  for (const [changes, says] of [
    [{ model_name: 'liar', dim: dim + 1 }, /^provider ollama: unusable vectors: row 0: length 16 instead of 17$/],
    [{ provider: 'keyed' }, /^provider keyed: answered 401/],
    [{ provider: 'openai' }, /^provider openai: it has no address: set SERVICE_PROVIDERS__OPENAI__BASE_URL$/],
  ] as const) {
    const { id } = await register(changes);
    const { started_at, updated_at, last_error, ...failed } = await fill(id);
    assert.match(last_error ?? '', says);
    assert.ok(started_at !== null && updated_at !== null && updated_at >= started_at);
    const none = { cursor_page_id: null, finished_at: null, embedded_chunks: 0 };
    const { total_chunks, total_tokens, ...rest } = failed;
    assert.deepEqual(rest, { model_id: id, status: 'failed', ...none });
    assert.ok(total_chunks >= 0 && total_tokens >= total_chunks);
    const refusal = { detail: 'the model is failed; only ready models can be activated' };
    const { status, body } = await call('POST', pathOf(id, '/activate'));
    assert.deepEqual([status, body], [409, refusal]);
    const [job] = await backfillJobs();
    assert.deepEqual([job.status, job.last_error], ['dead', last_error]);
    const again = await call<JobResponse>('POST', `/v1/jobs/${job.job_id}/retry`);
    assert.deepEqual([again.status, again.body.status, again.body.attempts], [200, 'pending', 0]);
    await until(async () => (await backfillJobs())[0].status === 'dead', 'it is dead again');
    assert.equal((await progressOf(id)).status, 'failed');
    await remove(id);
  }
  assert.equal((await backfillJobs()).length, before + 3, 'a retry is the same job');
  const { body } = await call<{ embedding_errors_by_provider: Record<string, number> }>(
    'GET',
    '/v1/admin/metrics/summary',
  );
  assert.deepEqual(Object.keys(body.embedding_errors_by_provider).sort(), ['keyed', 'ollama', 'openai']);
  assert.deepEqual(
    keyed.calls.map(({ headers }) => headers.authorization),
    [undefined, undefined],
  );
});

test('a model is deleted while its backfill waits for an answer, or for its provider; then its id is free', async () => {
  provider.faultOf = () => ({ kind: 'hang' });
  const { id } = await register({});
  const asked = provider.received(provider.calls.length + 1);
  assert.equal((await call('POST', pathOf(id, '/backfill'), { confirm: true })).status, 202);
  await asked;
  assert.deepEqual([(await progressOf(id)).status, (await backfillJobs())[0].status], ['running', 'running']);
  await remove(id);
  const [cancelled] = await backfillJobs();
  assert.deepEqual([cancelled.status, cancelled.last_error], ['done', 'cancelled: model deleted']);
  provider.faultOf = () => undefined;
  await register({ id });
  provider.faultOf = () => ({ kind: 'status', status: 503 });
  const { status } = await call('POST', pathOf(id, '/backfill'), { confirm: true });
  assert.equal(status, 202);
  const waits = async () => (await progressOf(id)).last_error !== null;
  await until(waits, 'the provider is said to be down');
  assert.equal((await progressOf(id)).status, 'running');
  const { body } = await call<{ breakers: { name: string; state: string }[] }>('GET', '/v1/admin/metrics/summary');
  assert.equal(body.breakers.find(({ name }) => name === 'ollama')?.state, 'open');
  await remove(id);
  const [job] = await backfillJobs();
  assert.deepEqual([job.status, job.last_error], ['done', 'cancelled: model deleted']);
  await register({ dim: 3, id });
  const { status: fresh, total_chunks, started_at } = await progressOf(id);
  assert.deepEqual([fresh, total_chunks, started_at], ['not_started', 0, null]);
  await remove(id);
  provider.faultOf = () => undefined;
});

test('a service that began without a model gets one later, with vectors of what it read before', async (t) => {
  const own = await RunningService.start(t, withoutModel);
  const { status, body: unready } = await own.call('GET', '/readyz');
  if (!isClustered)
    assert.deepEqual([status, unready], [503, { status: 'unavailable', reason: 'no active embedding model' }]);
  await addPages(own, 4);
  const local = { provider: 'local', model_name: 'multilingual-e5-small', dim: 384, max_input_tokens: 512 };
  const { status: registered, body: model } = await own.call<{ id: string }>('POST', '/v1/models', local);
  assert.equal(registered, 201);
  assert.equal((await own.call('DELETE', `/v1/models/${encodeURIComponent(model.id)}`)).status, 204);
  await own.stop();

  await own.start({ SERVICE_EMBEDDER__PROVIDER: 'local' });
  await until(async () => (await own.call('GET', '/readyz')).status === 200, 'it is ready');
  const { status: filled, embedded_chunks } = await ended(localId, own);
  assert.deepEqual([filled, embedded_chunks], ['complete', 4]);
  const { body } = await own.call<ModelListResponse>('GET', '/v1/models');
  assert.deepEqual(
    body.models.map(({ id, is_active, status }) => [id, is_active, status]),
    [[localId, true, 'ready']],
  );
  const near = await own.call<SearchResponse>('POST', '/v1/search', {
    query: 'birds that catch food in a stream',
    min_relevance: 0,
  });
  assert.equal(near.body.results.length, 4, 'found by meaning: they share no word with the query');
  await own.stop();
  if (isClustered) return; // no host has the data folder
  const report = await checkFolder(own.dataDir);
  assert.deepEqual([report.store, report.index.flatMap(({ findings }) => findings)], [[], []]);
});
