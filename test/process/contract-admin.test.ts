/** Contract section: Admin and diagnostics. Who am I, settings, tools, metrics as text, series and summary, health and readiness. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricsSummaryResponse, MetricsTimeseriesResponse } from '../../src/domain/admin.ts';
import { token, until } from './service.ts';
import { type Invalid, readToken, sharedService } from './shared-service.ts';

const secret = 'a-provider-key-9021';
const chatKey = 'a-chat-key-4417';
const shared = sharedService({
  SERVICE_PROVIDERS__REMOTE__BASE_URL: 'http://someone:hunter2@127.0.0.1:9/v1',
  SERVICE_PROVIDERS__REMOTE__API_KEY: secret,
  SERVICE_LLM__BASE_URL: 'http://127.0.0.1:9/v1',
  SERVICE_LLM__API_KEY: chatKey,
  SERVICE_OBSERVABILITY__METRICS_SNAPSHOT_INTERVAL_S: '0.1',
  SERVICE_JOBS__MAX_ATTEMPTS: '1',
});
const isInstant = (text: string) => new Date(text).toISOString() === text;
const timeseries = (query: string) => shared.found<MetricsTimeseriesResponse>(`/v1/admin/metrics/timeseries?${query}`);
const summary = (query = '') => shared.found<MetricsSummaryResponse>(`/v1/admin/metrics/summary${query}`);

interface Config {
  settings: Record<string, Record<string, unknown>>;
  mutability: Record<string, string>;
}

test('the config has settings and mutability, every setting boot_only', async () => {
  const config = await shared.found<Config>('/v1/admin/config');
  assert.deepEqual(Object.keys(config), ['settings', 'mutability']);
  assert.ok(Object.keys(config.mutability).length > 60, 'every setting has its mutability');
  assert.deepEqual(new Set(Object.values(config.mutability)), new Set(['boot_only']));
});

test('secrets are redacted in the config, however deep they stand', async () => {
  const config = await shared.found<Config>('/v1/admin/config');
  const text = JSON.stringify(config);
  for (const hidden of [secret, chatKey, token, readToken, 'hunter2'])
    assert.ok(!text.includes(hidden), 'a secret is shown');
  const redacted = '[redacted]';
  const { providers, llm, auth_token, auth_tokens } = config.settings;
  assert.deepEqual(providers.remote, { base_url: 'http://127.0.0.1:9/v1', api_key: redacted });
  assert.deepEqual([llm.api_key, auth_token], [redacted, redacted]);
  assert.deepEqual(auth_tokens, [
    { name: 'default', scopes: ['read', 'write'], token: redacted },
    { name: 'phone', scopes: ['read'], token: redacted },
  ]);
});

test('the list of tools is shown with name, description and input schema', async () => {
  const { tools, ...rest } = await shared.found<{ tools: Record<string, unknown>[] }>('/v1/admin/mcp');
  assert.deepEqual(rest, { enable_mutating_tools: false });
  assert.equal(tools.length, 12);
  for (const tool of tools) {
    assert.deepEqual(Object.keys(tool), ['name', 'description', 'inputSchema']);
    assert.equal((tool.inputSchema as { type: string }).type, 'object');
  }
});

/** Pages that were handed in: queued, seen again, blacklisted. */
async function ingested(): Promise<number[]> {
  const { body } = await shared.service.metrics();
  return ['queued', 'revisit', 'blacklisted'].map((outcome) =>
    Number(new RegExp(`^ingest_pages_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(body)?.[1]),
  );
}

test('the metrics are text, with the ingested pages by outcome', async () => {
  const { status, body, headers } = await shared.service.metrics();
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(body, /^# TYPE ingest_pages_total counter$/m);
  const earlier = await ingested();
  const page = { url: 'https://admin.example/twice', body_extracted: 'A page that is seen twice.' };
  await shared.addPage(page);
  assert.equal((await shared.post('/v1/pages', page)).status, 200);
  assert.deepEqual(
    (await ingested()).map((count, at) => count - earlier[at]),
    [1, 1, 0],
  );
});

test('a series has its sample, labels, type and points, and the present value', async () => {
  const page = { url: 'https://admin.example/1', body_extracted: 'A page that is counted.' };
  await shared.add([page]);
  const [value] = await ingested();
  let answer: MetricsTimeseriesResponse | undefined;
  await until(async () => {
    answer = await timeseries('metric=ingest_pages_total&step=0.1');
    return answer.series.some(({ labels, points }) => labels.outcome === 'queued' && points.at(-1)?.value === value);
  }, 'a snapshot was stored');
  assert.deepEqual(
    [answer?.metric, Object.keys(answer ?? {})],
    ['ingest_pages_total', ['metric', 'series', 'current']],
  );
  const current = answer?.current.find(({ labels }) => labels.outcome === 'queued');
  assert.deepEqual(current, {
    sample: 'ingest_pages_total',
    labels: { outcome: 'queued' },
    metric_type: 'counter',
    points: [{ ts: current?.points[0].ts, value }],
  });
  for (const { points } of answer?.series ?? []) for (const { ts } of points) assert.ok(isInstant(ts), ts);
});

test('points are as far apart as the step says, 60 seconds by default, and not older than since', async () => {
  const [minutely] = (await timeseries('metric=ingest_pages_total')).series;
  for (const { ts } of minutely.points) assert.equal(Date.parse(ts) % 60_000, 0);
  const hourly = await timeseries('metric=ingest_pages_total&step=3600');
  for (const { points } of hourly.series) assert.ok(points.length <= 2, 'one for each hour');
  const later = new Date(Date.now() + 3_600_000).toISOString();
  assert.deepEqual((await timeseries(`metric=ingest_pages_total&since=${later}`)).series, []);
});

test('a metric that is not known has no series', async () => {
  assert.deepEqual(await timeseries('metric=none'), { metric: 'none', series: [], current: [] });
});

for (const [query, field] of [
  ['', 'metric'],
  ['metric=', 'metric'],
  ['metric=x&step=0', 'step'],
  ['metric=x&step=-1', 'step'],
  ['metric=x&step=NaN', 'step'],
  ['metric=x&step=soon', 'step'],
  ['metric=x&since=yesterday', 'since'],
  ['metric=x&since=2024-01-01T00:00:00', 'since'],
]) {
  test(`a series asked for by "${query}" is 422 at ${field}`, async () => {
    const { status, body } = await shared.call<Invalid>('GET', `/v1/admin/metrics/timeseries?${query}`);
    assert.deepEqual([status, body.detail[0].loc], [422, ['query', field]]);
  });
}

test('the summary has every field', async () => {
  const asked = Date.now();
  const { generated_at, tombstones, jobs, search_latency, breakers, ...counts } = await summary();
  assert.ok(Date.parse(generated_at) >= asked && Date.parse(generated_at) <= Date.now());
  assert.deepEqual(tombstones, { pending: 0, deleted: 0, verified: 0 });
  assert.deepEqual(Object.keys(jobs), ['by_status', 'queue_depth', 'dead', 'failures_by_kind']);
  assert.deepEqual(Object.keys(jobs.by_status).sort(), ['dead', 'done', 'failed', 'pending', 'running']);
  assert.equal(search_latency, null);
  assert.deepEqual(counts, { query_log_dropped_rows: 0, embedding_errors_by_provider: {}, rerank_degraded_total: 0 });
  for (const { state } of breakers) assert.equal(state, 'closed');
});

test('the summary counts jobs that died, and the failures of their kind', async () => {
  const { body } = await shared.post<{ page_id: string }>('/v1/pages', { url: 'http://127.0.0.1:9/dead' });
  assert.deepEqual(await shared.service.settled([body.page_id]), ['dead']);
  await until(async () => 'fetch_and_index' in (await summary()).jobs.failures_by_kind, 'the failure is counted');
  const { jobs } = await summary();
  assert.deepEqual([jobs.dead, jobs.by_status.dead, jobs.failures_by_kind.fetch_and_index], [1, 1, 1]);
});

test('the summary counts what was forgotten', async () => {
  const page = { url: 'https://admin.example/forgotten', body_extracted: 'Soon gone.' };
  await shared.add([page]);
  await shared.post('/v1/forget', { url: page.url });
  const { tombstones } = await summary();
  assert.equal(tombstones.pending + tombstones.deleted + tombstones.verified, 1);
});

test('since bounds the latencies of the summary, and nothing else', async () => {
  await shared.post('/v1/search', { query: 'a page that is counted' });
  await until(async () => {
    const { search_latency, jobs } = await summary();
    const { pending, running, failed } = jobs.by_status;
    return search_latency !== null && pending + running + failed === 0;
  }, 'the search is logged, and no job goes on');
  const all = await summary();
  const { runs = 0, p50_ms = -1, p95_ms = -1, since } = all.search_latency ?? {};
  assert.deepEqual([runs, since], [1, null]);
  assert.ok(p50_ms > 0 && p95_ms >= p50_ms, 'latencies');
  const later = new Date(Date.now() + 60_000).toISOString();
  const none = await summary(`?since=${later}`);
  assert.deepEqual([none.search_latency, none.jobs], [null, all.jobs]);
  const { status, body } = await shared.call<Invalid>('GET', '/v1/admin/metrics/summary?since=soon');
  assert.deepEqual([status, body.detail[0].loc], [422, ['query', 'since']]);
});

test('health and readiness need no token, and readiness advertises the batch routes', async () => {
  const anonymous = { token: null };
  const answers = await Promise.all(
    ['/healthz', '/readyz'].map((path) => shared.call('GET', path, undefined, anonymous)),
  );
  const [health, ready] = answers;
  assert.deepEqual([health.status, health.body], [200, { status: 'ok' }]);
  const { index, ...told } = ready.body as { index: { state: string } };
  assert.deepEqual(
    [ready.status, told, index.state],
    [200, { status: 'ready', features: { batch_ingest: true, batch_status: true } }, 'whole'],
  );
});

test('health and readiness, and the metrics, stand outside of /v1, all else below it', async () => {
  for (const path of ['/v1/healthz', '/v1/readyz', '/v1/metrics', '/search', '/pages/x', '/whoami'])
    assert.equal((await shared.call('GET', path)).status, 404, path);
});
