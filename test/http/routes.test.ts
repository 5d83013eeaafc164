import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JobResponse, jobListResponse, jobResponse, jobRetryBatchResponse } from '../../src/domain/job.ts';
import * as page from '../../src/domain/page.ts';
import { searchResponse } from '../../src/domain/search.ts';
import { noDetails } from '../rows.ts';
import { searchDefaults } from './search-defaults.ts';
import { testServer, writer } from './test-server.ts';

const headers = { authorization: `Bearer ${writer}` };
const at = '2026-01-02T03:04:05.000Z';

const watched = {
  id: 'wt_00000001',
  kind: 'rss',
  url: 'https://a.example/feed',
  title: null,
  enabled: true,
  interval_hours: 24,
  config: null,
  next_run_at: at,
  last_run_at: null,
  last_status: 'pending',
  last_error: null,
  last_item_count: null,
  created_at: at,
} as const;

const pageBody: page.PageResponse = {
  page_id: 'pg_00000001',
  canonical_url: 'https://a.example/',
  original_url: 'https://a.example/?utm_source=x',
  domain: 'a.example',
  title: null,
  body_text: 'Körper 𝄞',
  source: null,
  metadata: { tags: ['x', 1, null] },
  first_seen_at: at,
  last_seen_at: at,
  visit_count: 2,
  indexed_at: null,
  status: 'queued',
  cluster: { id: 'cl_00000001', label: null },
  ...noDetails,
};
const status: page.PageStatusResponse = {
  page_id: 'pg_00000001',
  status: 'failed',
  last_error: 'down',
  features: null,
};
const scored = { k: 10, logged: 0, labeled: 0, scored: 0, skipped_no_positive: 0, models: [], queries: [] };
const job: JobResponse = {
  job_id: 'jb_00000001',
  kind: 'index_page',
  status: 'dead',
  attempts: 5,
  max_attempts: 5,
  last_error: 'down',
  created_at: at,
  updated_at: at,
};

test('one page is answered by its outcome, without naming the outcome', async (t) => {
  const outcomes = [
    { outcome: 'accepted', page_id: 'pg_1', status: 'queued' } as const,
    { outcome: 'revisit', page_id: 'pg_1', status: 'indexed', revisit: true, content_hash_differs: false } as const,
    { outcome: 'blacklisted', error: 'blacklisted', pattern: 'a.example' } as const,
  ];
  const waiting = [...outcomes];
  const { app, asked } = testServer({ 'page.ingest': () => waiting.shift() ?? outcomes[0] });
  t.after(() => app.close());
  const payload = {
    url: 'https://a.example/',
    title: 'A',
    fetched_at: '2026-01-02T03:04:05+02:00',
    metadata: { a: 1 },
  };
  const answers = [];
  for (const _outcome of outcomes) {
    const answer = await app.inject({ method: 'POST', url: '/v1/pages', headers, payload });
    answers.push([answer.statusCode, answer.json()]);
  }
  assert.deepEqual(answers, [
    [202, { page_id: 'pg_1', status: 'queued' }],
    [200, { page_id: 'pg_1', status: 'indexed', revisit: true, content_hash_differs: false }],
    [403, { error: 'blacklisted', pattern: 'a.example' }],
  ]);
  assert.deepEqual(asked[0], { name: 'page.ingest', request: payload });
});

test('a batch is handed on as it came and answered in order', async (t) => {
  const results: page.IngestBatchResult[] = [
    { outcome: 'rejected', index: 0, detail: 'url: required' },
    { outcome: 'accepted', index: 1, page_id: 'pg_1', status: 'queued' },
  ];
  const { app, asked } = testServer({ 'page.ingestBatch': () => results });
  t.after(() => app.close());
  const pages = [{ nonsense: true }, { url: 'https://a.example/' }];
  const answer = await app.inject({ method: 'POST', url: '/v1/pages/batch', headers, payload: { pages } });
  assert.deepEqual([answer.statusCode, answer.json()], [200, { results }]);
  page.ingestBatchResponse.parse(answer.json());
  assert.deepEqual(asked, [{ name: 'page.ingestBatch', request: { pages } }]);
});

test('pages, chunks, status and jobs are answered as the system replies', async (t) => {
  const chunks: page.PageChunksResponse = {
    page_id: 'pg_00000001',
    chunks: [
      {
        chunk_id: 'ck_1',
        ordinal: 0,
        text: 'Körper',
        token_count: 1,
        char_start: 0,
        char_end: 6,
        section_title: null,
        section_start_s: null,
      },
    ],
  };
  const statuses: page.PageStatusBatchResponse = {
    results: [
      { found: true, ...status },
      { found: false, page_id: 'pg_x' },
    ],
  };
  const retried = { requested: 1, retried: 1, results: [{ ...job, outcome: 'retried' as const }] };
  const { app, asked } = testServer({
    'page.get': () => {
      const { body_text: _, ...facts } = pageBody;
      return facts;
    },
    'page.text': () => ({ body_text: pageBody.body_text, body_length: 3 }),
    'page.chunks': () => ({ ...chunks, chunks: rowsOf(chunks.chunks) }),
    'page.status': () => status,
    'page.statusBatch': () => statuses,
    'job.list': () => ({ jobs: [job] }),
    'job.retry': () => job,
    'job.retryBatch': () => retried,
  });
  t.after(() => app.close());
  const get = async (url: string) => (await app.inject({ url, headers })).json();
  const post = async (url: string, payload?: object) =>
    (await app.inject({ method: 'POST', url, headers, ...(payload === undefined ? {} : { payload }) })).json();
  assert.deepEqual(page.pageResponse.parse(await get('/v1/pages/pg_00000001')), pageBody);
  assert.deepEqual(page.pageChunksResponse.parse(await get('/v1/pages/pg_00000001/chunks')), chunks);
  assert.deepEqual(page.pageStatusResponse.parse(await get('/v1/pages/pg_00000001/status')), status);
  const page_ids = ['pg_00000001', 'pg_x'];
  assert.deepEqual(page.pageStatusBatchResponse.parse(await post('/v1/pages/status/batch', { page_ids })), statuses);
  assert.deepEqual(jobListResponse.parse(await get('/v1/jobs?kind=cluster&status=dead&limit=1000&other=1')), {
    jobs: [job],
  });
  assert.deepEqual(jobListResponse.parse(await get('/v1/jobs?status_filter=dead')), { jobs: [job] });
  assert.deepEqual(jobResponse.parse(await post('/v1/jobs/jb_00000001/retry')), job);
  const job_ids = ['jb_00000001'];
  assert.deepEqual(jobRetryBatchResponse.parse(await post('/v1/jobs/retry', { job_ids })), retried);
  assert.deepEqual(asked, [
    { name: 'page.get', request: { page_id: 'pg_00000001' } },
    { name: 'page.text', request: { page_id: 'pg_00000001' } },
    { name: 'page.chunks', request: { page_id: 'pg_00000001' } },
    { name: 'page.status', request: { page_id: 'pg_00000001' } },
    { name: 'page.statusBatch', request: { page_ids } },
    { name: 'job.list', request: { kind: 'cluster', status: 'dead', subject: false, limit: 1000 } },
    { name: 'job.list', request: { status_filter: 'dead', subject: false, limit: 100 } },
    { name: 'job.retry', request: { job_id: 'jb_00000001' } },
    { name: 'job.retryBatch', request: { job_ids, status: 'dead', limit: 100 } },
  ]);
});

test('similar pages are asked for by page, with the defaults and bounds of the contract', async (t) => {
  const similar = { page_id: 'pg_00000001', mediation: 'vector' as const, results: [] };
  const { app, asked } = testServer({ 'search.similar': () => similar });
  t.after(() => app.close());
  const get = (query: string) => app.inject({ url: `/v1/pages/pg_00000001/similar${query}`, headers });
  assert.deepEqual((await get('')).json(), similar);
  await get('?k=50&mediation=entity');
  assert.deepEqual(
    asked.map(({ request }) => request),
    [
      { page_id: 'pg_00000001', mediation: 'vector', k: 10 },
      { page_id: 'pg_00000001', mediation: 'entity', k: 50 },
    ],
  );
  for (const query of ['?k=0', '?k=51', '?k=1.5', '?k=', '?k=0x10', '?k=1e1', '?mediation=none']) {
    assert.equal((await get(query)).statusCode, 422, query);
  }
});

test('a search has the defaults of the contract', async (t) => {
  const found = {
    query_id: 'q',
    results: [],
    corrected: [],
    corrected_query: null,
    no_results: null,
    offset: 0,
    has_more: false,
    suggestions: [],
    timing_ms: { total: 1 },
  };
  const { app, asked } = testServer({ 'search.query': () => found });
  t.after(() => app.close());
  const answer = await app.inject({ method: 'POST', url: '/v1/search', headers, payload: { query: 'x' } });
  assert.deepEqual(searchResponse.parse(answer.json()), found);
  assert.deepEqual(asked[0]?.request, { query: 'x', ...searchDefaults });
});

test('the bounds of the contract are allowed, and one step beyond is 422 at that field', async (t) => {
  const found = {
    query_id: 'q',
    results: [],
    corrected: [],
    corrected_query: null,
    no_results: null,
    offset: 0,
    has_more: false,
    suggestions: [],
    timing_ms: {},
  };
  const { app } = testServer({
    'search.query': () => found,
    'search.batch': () => ({ results: [] }),
    'eval.score': () => scored,
    'eval.startReplay': () => ({ job_id: 'jb_1', result_url: '/v1/admin/eval/replay/jb_1' }),
    'search.compare': () => ({ compare_id: 'cp_1', query: 'x', runs: [], agreement: [] }),
    'page.ingest': () => ({ outcome: 'accepted', page_id: 'p', status: 'queued' }),
    'page.ingestBatch': () => [],
    'page.statusBatch': () => ({ results: [] }),
    'page.forget': () => forgotten,
    'watch.create': () => watched,
    'feedback.give': () => ({}),
    'job.retryBatch': () => ({ requested: 0, retried: 0, results: [] }),
    'job.list': () => ({ jobs: [] }),
  });
  t.after(() => app.close());
  const many = (length: number) => Array.from({ length }, (_each, i) => `${i}`);
  const texts = (count: number) => Object.fromEntries(many(count).map((key) => [key, key]));
  const long = (key: number, value: number) => ({ ['k'.repeat(key)]: 'v'.repeat(value) });
  const forgotten = {
    blacklist_id: 'b',
    pattern: 'p',
    kind: 'url',
    pages_purged: 0,
    vector_deletes_queued: 0,
  } as const;
  const cases: [url: string, field: string, allowed: unknown[], refused: unknown[], rest?: object][] = [
    ['/v1/search/batch', 'queries', [many(1).map(() => 'x'), many(20)], [[], many(21), [''], ['x'.repeat(4001)], 'x']],
    ['/v1/search/batch', 'recency_half_life_days', [null, 0.5], [0, -1], { queries: ['x'] }],
    [
      '/v1/compare',
      'models',
      [many(2), many(5)],
      [many(1), many(6), 'x', [1, 2], ['a', 'm'.repeat(411)]],
      { query: 'x' },
    ],
    ['/v1/compare', 'k', [1, 100], [0, 101], { query: 'x', models: many(2) }],
    ['/v1/compare', 'candidates', [1, 1000], [0, 1001], { query: 'x', models: many(2) }],
    ['/v1/admin/eval/score', 'k', [1, 1000], [0, 1001]],
    ['/v1/admin/eval/score', 'since', [null, at], ['yesterday', '2026-01-02T03:04:05']],
    ['/v1/admin/eval/replay', 'k', [1, 1000], [0, 1001]],
    ['/v1/admin/eval/replay', 'candidates', [1, 10_000], [0, 10_001]],
    ['/v1/admin/eval/replay', 'limit', [null, 1], [0, 1.5]],
    ['/v1/search', 'query', ['x', 'x'.repeat(4000)], ['', 'x'.repeat(4001), null, 1]],
    ['/v1/search', 'k', [1, 100], [0, 101, 1.5, '5', null], { query: 'x' }],
    ['/v1/search', 'offset', [0, 5000], [-1], { query: 'x' }],
    ['/v1/search', 'candidates', [1, 1000], [0, 1001], { query: 'x' }],
    ['/v1/search', 'rerank', [true, false], ['true', 1], { query: 'x' }],
    ['/v1/search', 'chunks_per_page', [0, 10], [-1, 11], { query: 'x' }],
    ['/v1/search', 'rollup', ['max', 'mean_top_m', 'sum_rrf'], ['mean'], { query: 'x' }],
    ['/v1/search', 'rollup_m', [1, 20], [0, 21], { query: 'x' }],
    ['/v1/search', 'rrf_k', [1, 1e6], [0], { query: 'x' }],
    ['/v1/search', 'suggest', [0, 10], [-1, 11], { query: 'x' }],
    ['/v1/search', 'mediation', ['vector', 'cluster', 'entity'], ['none'], { query: 'x' }],
    ['/v1/search', 'recency_half_life_days', [null, 0.5], [0, -1], { query: 'x' }],
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
    ['/v1/jobs/retry', 'job_ids', [null, [], many(500)], [many(501), ['j'.repeat(101)]]],
    ['/v1/jobs/retry', 'limit', [1, 500], [0, 501]],
    ['/v1/jobs/retry', 'status', ['dead'], ['failed']],
    ['/v1/jobs/retry', 'kind', [null, 'index_page'], ['other']],
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
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=',
    'limit=0x10',
    'limit=1e1',
    'limit=1&limit=2',
    'status=lost',
    'kind=lost',
    'status=dead&status_filter=dead',
  ]) {
    const answer = await app.inject({ url: `/v1/jobs?${query}`, headers });
    assert.deepEqual([answer.statusCode, answer.json().detail[0].loc[0]], [422, 'query'], query);
  }
});

test('an unknown field is 422 in every body there is, and not repeated beyond its name', async (t) => {
  const { app, asked } = testServer();
  t.after(() => app.close());
  await app.ready();
  const bodies: Record<string, object> = {
    '/v1/pages': { url: 'https://a.example/' },
    '/v1/pages/batch': { pages: [{}] },
    '/v1/pages/status/batch': { page_ids: ['pg_1'] },
    '/v1/forget': { domain: 'a.example' },
    '/v1/jobs/retry': {},
    '/v1/models': { provider: 'openai', model_name: 'a-model', dim: 300, max_input_tokens: 512 },
    '/v1/models/fill': { paused: true },
    '/v1/watches': { url: 'https://a.example/feed', kind: 'rss' },
    '/v1/search': { query: 'x' },
    '/v1/search/batch': { queries: ['x'] },
    '/v1/compare': { query: 'x', models: ['a', 'b'] },
    '/v1/admin/eval/score': {},
    '/v1/admin/eval/replay': {},
    '/v1/codes': { purpose: 'pair' },
    '/v1/sessions': { token: 'x' },
    '/v1/tokens': { name: 'x' },
    '/v1/pair': { code: 'x', name: 'x' },
    '/v1/feedback': { query_id: 'qr_1', page_id: 'pg_1', relevant: true },
  };
  /** What takes no body, or a file, and what speaks a protocol of its own. */
  const others = ['/v1/clusters/recompute', '/v1/imports', '/v1/admin/backups', '/mcp'];
  const posts = app.routeTable.filter(
    ({ method, url }) => method === 'POST' && !url.includes(':') && !others.includes(url),
  );
  assert.deepEqual(posts.map(({ url }) => url).sort(), Object.keys(bodies).sort());
  for (const [url, body] of Object.entries(bodies)) {
    const long = 'y'.repeat(10_000);
    const payload = { ...body, extra: 'canary', [long]: 1 };
    const answer = await app.inject({ method: 'POST', url, headers, payload });
    assert.equal(answer.statusCode, 422);
    assert.deepEqual(answer.json(), {
      detail: [
        { loc: ['body', 'extra'], msg: 'Unknown field', type: 'extra_forbidden' },
        { loc: ['body', `${'y'.repeat(100)}…`], msg: 'Unknown field', type: 'extra_forbidden' },
      ],
    });
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
  const { app } = testServer({ 'system.readiness': () => replies[turn++]() });
  t.after(() => app.close());
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
  const { app } = testServer();
  t.after(() => app.close());
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
  const { app } = testServer(
    {},
    {
      shownSettings: () => ({ settings: { bind_port: 8000 }, mutability: { bind_port: 'boot_only' } }),
      capabilities: async () => found,
    },
  );
  t.after(() => app.close());
  const answer = await app.inject({ url: '/v1/admin/config', headers: { authorization: `Bearer ${writer}` } });
  assert.deepEqual(answer.json(), {
    settings: { bind_port: 8000, capabilities: found },
    mutability: { bind_port: 'boot_only' },
  });
});

async function* rowsOf<Row>(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* rows;
}
