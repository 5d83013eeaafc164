import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchResponse } from '../../src/domain/search.ts';
import type { WatchResponse } from '../../src/domain/watch.ts';
import { nothingFound, searchDefaults } from './search-defaults.ts';
import { testServer, writer } from './test-server.ts';

const headers = { authorization: `Bearer ${writer}` };
const at = '2026-01-02T03:04:05.000Z';

const watched: WatchResponse = {
  ...{ id: 'wt_00000001', kind: 'rss', url: 'https://a.example/feed', title: null, enabled: true, interval_hours: 24 },
  ...{ config: null, next_run_at: at, created_at: at, last_run_at: null, last_status: 'pending', last_error: null },
  last_item_count: null,
};

test('a search has the defaults of the contract', async (t) => {
  const found = { ...nothingFound, timing_ms: { total: 1 } };
  const { app, asked } = testServer(t, { 'search.query': () => found });
  const answer = await app.inject({ method: 'POST', url: '/v1/search', headers, payload: { query: 'x' } });
  assert.deepEqual(searchResponse.parse(answer.json()), found);
  assert.deepEqual(asked[0]?.request, { query: 'x', ...searchDefaults });
});

test('the bounds of the contract are allowed, and one step beyond is 422 at that field', async (t) => {
  const { app } = testServer(t, {
    'search.query': () => nothingFound,
    'page.ingest': () => ({ outcome: 'accepted', page_id: 'p', status: 'queued' }),
    'page.ingestBatch': () => [],
    'page.statusBatch': () => ({ results: [] }),
    'page.refresh': () => ({ results: [] }),
    'page.forget': () => forgotten,
    'watch.create': () => watched,
    'feedback.give': () => ({}),
    'job.retryBatch': () => ({ requested: 0, retried: 0, results: [] }),
    'job.list': () => ({ jobs: [] }),
  });
  const many = (length: number) => Array.from({ length }, (_each, i) => `${i}`);
  const texts = (count: number) => Object.fromEntries(many(count).map((key) => [key, key]));
  const long = (key: number, value: number) => ({ ['k'.repeat(key)]: 'v'.repeat(value) });
  const purged = { pages_purged: 0, vector_deletes_queued: 0 };
  const forgotten = { blacklist_id: 'b', pattern: 'p', kind: 'url', ...purged } as const;
  const cases: [url: string, field: string, allowed: unknown[], refused: unknown[], rest?: object][] = [
    ['/v1/search', 'rerank', [true, false], ['true', 1], { query: 'x' }],
    [
      '/v1/search',
      'filters',
      [null, {}, { domain: null, after: at }, { domain: 'd'.repeat(1024) }, { entity: 'e'.repeat(1024) }],
      [1, 'x', { domain: 'd'.repeat(1025) }, { entity: 'e'.repeat(1025) }, { cluster_id: 'c'.repeat(101) }],
      { query: 'x' },
    ],
    [
      '/v1/pages',
      'fetched_at',
      [null, at, '2026-01-02T03:04:05.123456+05:30'],
      ['2026-01-02T03:04:05', 'now', 1],
      { url: 'u' },
    ],
    ['/v1/pages', 'metadata', [null, {}, { a: { b: [1] } }], [[], 'x', 1], { url: 'u' }],
    ['/v1/pages', 'url', ['u', 'u'.repeat(8192)], ['u'.repeat(8193), null, 1, undefined]],
    ['/v1/pages', 'title', ['', 't'.repeat(4096)], ['t'.repeat(4097)], { url: 'u' }],
    ['/v1/pages', 'source', [null, 's'.repeat(200)], ['s'.repeat(201)], { url: 'u' }],
    ['/v1/pages', 'body_extracted', ['b'.repeat(1_000_000)], [1], { url: 'u' }],
    ['/v1/forget', 'url', ['u'.repeat(65_536)], ['u'.repeat(65_537)]],
    ['/v1/forget', 'domain', ['d'.repeat(1024)], ['d'.repeat(1025)]],
    ['/v1/forget', 'reason', [null, 'r'.repeat(2000)], ['r'.repeat(2001)], { url: 'u' }],
    ['/v1/watches', 'url', ['u'.repeat(8192)], ['u'.repeat(8193)]],
    ['/v1/watches', 'title', [null, 't'.repeat(4096)], ['t'.repeat(4097)], { url: 'u' }],
    [
      '/v1/watches',
      'config',
      [null, texts(32), long(100, 1000)],
      [texts(33), long(101, 1), long(1, 1001)],
      { url: 'u' },
    ],
    ['/v1/feedback', 'query_id', ['q'.repeat(100)], ['q'.repeat(101)], { page_id: 'p', relevant: true }],
    ['/v1/feedback', 'page_id', ['p'.repeat(100)], ['p'.repeat(101)], { query_id: 'q', relevant: true }],
    ['/v1/pages/batch', 'pages', [many(1), many(100)], [[], many(101), {}, undefined]],
    ['/v1/pages/status/batch', 'page_ids', [many(1), many(500)], [[], many(501), ['p'.repeat(101)]]],
    ['/v1/pages/refresh', 'page_ids', [many(1), many(500)], [[], many(501), ['p'.repeat(101)]]],
    ['/v1/jobs/retry', 'job_ids', [null, [], many(500)], [many(501), ['j'.repeat(101)]]],
  ];
  for (const [url, field, allowed, refused, rest = {}] of cases) {
    const post = async (value: unknown) =>
      app.inject({ method: 'POST', url, headers, payload: { ...rest, [field]: value } });
    for (const value of allowed) {
      const { statusCode, body } = await post(value);
      assert.ok([200, 201, 202].includes(statusCode), `${url} ${field} ${JSON.stringify(value)?.slice(0, 40)} ${body}`);
    }
    for (const value of refused) {
      const { statusCode, ...answer } = await post(value);
      assert.equal(statusCode, 422, `${url} ${field} ${JSON.stringify(value)?.slice(0, 40)}`);
      assert.deepEqual(answer.json().detail[0].loc.slice(0, 2), ['body', field]);
    }
  }
  for (const query of [
    'limit=0 limit=1001 limit=x limit= limit=0x10 limit=1e1 limit=1&limit=2 status=lost kind=lost',
    'status=dead&status_filter=dead',
  ].flatMap((line) => line.split(' '))) {
    const answer = await app.inject({ url: `/v1/jobs?${query}`, headers });
    assert.deepEqual([answer.statusCode, answer.json().detail[0].loc[0]], [422, 'query'], query);
  }
});

test('an unknown field is 422 in every body there is, and not repeated beyond its name', async (t) => {
  const { app, asked } = testServer(t);
  await app.ready();
  const bodies: Record<string, object> = {
    '/v1/pages': { url: 'https://a.example/' },
    '/v1/pages/batch': { pages: [{}] },
    '/v1/pages/status/batch': { page_ids: ['pg_1'] },
    '/v1/pages/refresh': { page_ids: ['pg_1'] },
    '/v1/forget': { domain: 'a.example' },
    '/v1/jobs/retry': {},
    '/v1/models': { provider: 'openai', model_name: 'a-model', dim: 300, max_input_tokens: 512 },
    '/v1/models/fill': { paused: true },
    '/v1/watches': { url: 'https://a.example/feed', kind: 'rss' },
    '/v1/watches/check': { url: 'https://a.example/feed', kind: 'rss' },
    '/v1/search': { query: 'x' },
    '/v1/search/batch': { queries: ['x'] },
    '/v1/compare': { query: 'x', models: ['a', 'b'] },
    '/v1/admin/eval/score': {},
    '/v1/admin/eval/replay': {},
    '/v1/ask': { question: 'x' },
    '/v1/codes': { purpose: 'pair' },
    '/v1/sessions': { token: 'x' },
    '/v1/tokens': { name: 'x' },
    '/v1/pair': { code: 'x', name: 'x' },
    '/v1/feedback': { query_id: 'qr_1', page_id: 'pg_1', relevant: true },
  };
  /** What takes no body, or a file, and what speaks a protocol of its own. */
  const others = ['/v1/clusters/recompute', '/v1/demo', '/v1/imports', '/v1/admin/backups', '/mcp'];
  const posts = app.routeTable.filter(
    ({ method, url }) => method === 'POST' && !url.includes(':') && !others.includes(url),
  );
  assert.deepEqual(posts.map(({ url }) => url).sort(), Object.keys(bodies).sort());
  for (const [url, body] of [...Object.entries(bodies), ['/v1/watches/wt_1', {}] as const]) {
    const long = 'y'.repeat(10_000);
    const payload = { ...body, extra: 'canary', [long]: 1 };
    const method = url === '/v1/watches/wt_1' ? 'PATCH' : 'POST';
    const answer = await app.inject({ method, url, headers, payload });
    assert.equal(answer.statusCode, 422);
    const type = 'extra_forbidden';
    const faults = ['extra', `${'y'.repeat(100)}…`].map((name) => ({
      loc: ['body', name],
      msg: 'Unknown field',
      type,
    }));
    assert.deepEqual(answer.json(), { detail: faults });
  }
  const nested = { query: 'x', filters: { sites: [] } };
  const answer = await app.inject({ method: 'POST', url: '/v1/search', headers, payload: nested });
  assert.deepEqual(answer.json().detail[0].loc, ['body', 'filters', 'sites']);
  const flood = Object.fromEntries(Array.from({ length: 5000 }, (_each, i) => [`f${i}`, i]));
  const flooded = await app.inject({ method: 'POST', url: '/v1/search', headers, payload: flood });
  assert.equal(flooded.json().detail.length, 50);
  assert.deepEqual(asked, []);
});

test('health is always ok; readiness says what is missing', async (t) => {
  const index = { state: 'rebuilding', indexed_chunks: 5, total_chunks: 7 } as const;
  const replies = [
    () => ({ store: true, trouble: null, activeModel: 'local-multilingual-e5-small-384', index }),
    () => ({ store: true, trouble: null, activeModel: null, index }),
    () => ({ store: false, trouble: null, activeModel: null, index }),
    () => ({ store: true, trouble: 'No space left on device', activeModel: 'local-multilingual-e5-small-384', index }),
    () => {
      throw new Error('no system yet');
    },
  ];
  let turn = 0;
  const { app } = testServer(t, { 'system.readiness': () => replies[turn++]() });
  assert.deepEqual((await app.inject('/healthz')).json(), { status: 'ok' });
  const answers = [];
  for (const _reply of replies) {
    const answer = await app.inject('/readyz');
    answers.push([answer.statusCode, answer.json()]);
  }
  assert.deepEqual(answers, [
    [200, { status: 'ready', features: { batch_ingest: true, batch_status: true }, index }],
    [503, { status: 'unavailable', reason: 'no active embedding model' }],
    [503, { status: 'unavailable', reason: 'metadata store unavailable' }],
    [503, { status: 'unavailable', reason: 'metadata store unavailable: No space left on device' }],
    [503, { status: 'unavailable', reason: 'metadata store unavailable' }],
  ]);
});

test('metrics are text, count ingest by outcome and time requests by route template', async (t) => {
  const { app } = testServer(t);
  await app.inject({ url: '/v1/pages/pg_secret', headers });
  await app.inject({ url: '/made/up/path', headers });
  const answer = await app.inject({ url: '/metrics', headers });
  assert.match(String(answer.headers['content-type']), /^text\/plain/);
  for (const outcome of ['queued', 'revisit', 'blacklisted']) {
    assert.ok(answer.body.includes(`ingest_pages_total{outcome="${outcome}"} 0`));
  }
  assert.ok(answer.body.includes('_count{method="GET",route="/v1/pages/:page_id",status="404"} 1'));
  assert.ok(answer.body.includes('_count{method="GET",route="none",status="404"} 1'));
  assert.doesNotMatch(answer.body, /pg_secret|made\/up/);
});

test('the settings are told together with the programs that were found', async (t) => {
  const transcription = { kind: 'command', detail: '/usr/bin/whisper-cli', ffmpeg: true } as const;
  const found = { yt_dlp: { version: '2025.11.12', guarded: true }, transcription };
  const mutability = { bind_port: 'boot_only' } as const;
  const shownSettings = () => ({ settings: { bind_port: 8000 }, mutability });
  const { app } = testServer(t, {}, { shownSettings, capabilities: async () => found });
  const answer = await app.inject({ url: '/v1/admin/config', headers });
  assert.deepEqual(answer.json(), { settings: { bind_port: 8000, capabilities: found }, mutability });
});
