/** Contract section: Authentication, errors and limits. Every route with every kind of token, the bodies of errors, and each bound. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Document, Documented } from './documented.ts';
import { token } from './service.ts';
import { type Invalid, readToken, sharedService } from './shared-service.ts';

const writerToken = 'process-test-writer-41ad07';
const shared = sharedService({
  SERVICE_AUTH_TOKENS: JSON.stringify([
    { name: 'phone', token: readToken, scopes: ['read'] },
    { name: 'importer', token: writerToken, scopes: ['write'] },
    { name: 'both', token: 'process-test-both-77b3c9' },
  ]),
  SERVICE_JOBS__MAX_ATTEMPTS: '1',
});

/** The contract's tables: method, path, scope. */
const endpoints: readonly [method: string, path: string, scope: 'read' | 'write'][] = [
  ['POST', '/v1/pages', 'write'],
  ['POST', '/v1/pages/batch', 'write'],
  ['POST', '/v1/pages/status/batch', 'read'],
  ['POST', '/v1/pages/refresh', 'write'],
  ['GET', '/v1/pages/{page_id}', 'read'],
  ['GET', '/v1/pages/{page_id}/chunks', 'read'],
  ['GET', '/v1/pages/{page_id}/status', 'read'],
  ['GET', '/v1/pages/{page_id}/entities', 'read'],
  ['GET', '/v1/pages/{page_id}/similar', 'read'],
  ['GET', '/v1/jobs', 'read'],
  ['POST', '/v1/jobs/retry', 'write'],
  ['POST', '/v1/jobs/{job_id}/retry', 'write'],
  ['POST', '/v1/search', 'read'],
  ['POST', '/v1/search/batch', 'read'],
  ['POST', '/v1/ask', 'read'],
  ['POST', '/v1/feedback', 'read'],
  ['POST', '/v1/compare', 'read'],
  ['POST', '/v1/demo', 'write'],
  ['DELETE', '/v1/demo', 'write'],
  ['POST', '/v1/forget', 'write'],
  ['GET', '/v1/blacklist', 'read'],
  ['DELETE', '/v1/blacklist/{blacklist_id}', 'write'],
  ['GET', '/v1/clusters', 'read'],
  ['GET', '/v1/clusters/runs', 'read'],
  ['GET', '/v1/clusters/projection', 'read'],
  ['GET', '/v1/clusters/{cluster_id}', 'read'],
  ['POST', '/v1/clusters/recompute', 'write'],
  ['GET', '/v1/entities/{ref}', 'read'],
  ['POST', '/v1/entities/merges/{merge_id}/undo', 'write'],
  ['GET', '/v1/models', 'read'],
  ['POST', '/v1/models', 'write'],
  ['POST', '/v1/models/{model_id}/activate', 'write'],
  ['DELETE', '/v1/models/{model_id}', 'write'],
  ['GET', '/v1/models/{model_id}/backfill', 'read'],
  ['POST', '/v1/models/{model_id}/backfill', 'write'],
  ['GET', '/v1/watches', 'read'],
  ['POST', '/v1/watches', 'write'],
  ['POST', '/v1/watches/check', 'write'],
  ['GET', '/v1/watches/{watch_id}', 'read'],
  ['PATCH', '/v1/watches/{watch_id}', 'write'],
  ['DELETE', '/v1/watches/{watch_id}', 'write'],
  ['POST', '/v1/watches/{watch_id}/run', 'write'],
  ['GET', '/v1/events', 'read'],
  ['GET', '/v1/admin/metrics/timeseries', 'read'],
  ['GET', '/v1/admin/metrics/summary', 'read'],
  ['GET', '/v1/admin/disk', 'read'],
  ['GET', '/v1/admin/query-log', 'read'],
  ['GET', '/v1/admin/query-log/{query_id}', 'read'],
  ['POST', '/v1/admin/eval/score', 'read'],
  ['POST', '/v1/admin/eval/replay', 'write'],
  ['GET', '/v1/admin/eval/replay/{job_id}', 'read'],
  ['GET', '/v1/admin/config', 'read'],
  ['GET', '/v1/admin/mcp', 'read'],
  ['GET', '/v1/whoami', 'read'],
  ['GET', '/metrics', 'read'],
];
const unauthenticated = { detail: 'missing or invalid bearer token' };

/** The status and body of a request with nothing in it; of a stream the status alone. */
async function probeSession(method: string, path: string, sent: string | null): Promise<[number, unknown]> {
  const response = await fetch(shared.service.url + path.replaceAll(/\{\w+\}/g, 'none'), {
    method,
    headers: sent === null ? {} : { authorization: `Bearer ${sent}` },
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  return [response.status, text.startsWith('{') ? JSON.parse(text) : text];
}

for (const [method, path, scope] of endpoints) {
  test(`${method} ${path} is documented, wants a token, and one with scope ${scope}`, async () => {
    const document = await shared.found<{ paths: Record<string, Record<string, unknown>> }>('/openapi.json');
    assert.ok(document.paths[path]?.[method.toLowerCase()] !== undefined, 'documented');
    for (const sent of [null, 'wrong', token.slice(0, -1), `${token}x`])
      assert.deepEqual(await probeSession(method, path, sent), [401, unauthenticated]);
    const [status, body] = await probeSession(method, path, readToken);
    if (scope === 'write') assert.deepEqual([status, body], [403, { detail: 'token lacks required scope: write' }]);
    else assert.ok([200, 404, 422].includes(status), `${status}`);
  });
}

/** Beside the contract's two: the console's files, and how one comes in. */
const open: readonly [method: string, path: string, status: number][] = [
  ['GET', '/healthz', 200],
  ['GET', '/readyz', 200],
  ['POST', '/v1/sessions', 422],
  ['POST', '/v1/pair', 422],
];
test('every other route there is wants a token', async () => {
  const document = await shared.found<{ paths: Record<string, Record<string, { security?: unknown[] }>> }>(
    '/openapi.json',
  );
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({ method: method.toUpperCase(), path, security })),
  );
  assert.ok(routes.length > endpoints.length);
  for (const { method, path, security } of routes) {
    const known = open.find(([openMethod, openPath]) => openMethod === method && openPath === path);
    assert.deepEqual(security, known === undefined ? undefined : [], path);
    const [status, body] = await probeSession(method, path, null);
    if (known === undefined) assert.deepEqual([status, body], [401, unauthenticated], `${method} ${path}`);
    else assert.equal(status, known[2], path);
  }
  for (const path of ['/', '/favicon.svg', '/assets/app.js']) {
    assert.ok([200, 404, 503].includes((await probeSession('GET', path, null))[0]), path);
    assert.deepEqual(await probeSession('POST', path, null), [401, unauthenticated], path);
  }
});

test('write implies read, scopes are both by default, and the single token is one more', async () => {
  const names = async (sent: string) => (await shared.call('GET', '/v1/whoami', undefined, { token: sent })).body;
  assert.deepEqual(await names(writerToken), { name: 'importer', scopes: ['read', 'write'] });
  assert.deepEqual(await names('process-test-both-77b3c9'), { name: 'both', scopes: ['read', 'write'] });
  assert.deepEqual(await names(token), { name: 'default', scopes: ['read', 'write'] });
  assert.deepEqual(await names(readToken), { name: 'phone', scopes: ['read'] });
});

/** A body that is taken where one field has an allowed value, and refused at that field beyond it. */
const query = { query: 'heron' };
const queries = { queries: ['heron'] };
const text = (length: number) => 'x'.repeat(length);
const many = (length: number) => Array.from({ length }, (_, i) => `item ${i}`);
const turn = (question: string) => ({ question, answer: '' });
const pages = (length: number) => many(length).map((url) => ({ url }));
type Bounds = readonly [path: string, base: object, field: string, taken: unknown[], refused: unknown[]];
const search = (path: string, base: object): Bounds[] => [
  [path, base, 'k', [1, 100], [0, 101, 1.5, '10']],
  [path, base, 'offset', [0, 1e9], [-1]],
  [path, base, 'candidates', [1, 1000], [0, 1001]],
  [path, base, 'rerank', [true, false], ['yes']],
  [path, base, 'chunks_per_page', [0, 10], [-1, 11]],
  [path, base, 'rollup', ['max', 'mean_top_m', 'sum_rrf'], ['min']],
  [path, base, 'rollup_m', [1, 20], [0, 21]],
  [path, base, 'rrf_k', [1, 10_000], [0]],
  [path, base, 'suggest', [0, 10], [-1, 11]],
  [path, base, 'mediation', ['vector', 'cluster', 'entity'], ['magic']],
  [path, base, 'recency_half_life_days', [null, 0.5, 3650], [0, -1]],
  [path, base, 'filters', [null, {}, { domain: null, after: '2024-01-01T00:00:00Z' }], ['all', [], { type: 'essay' }]],
  [path, base, 'sort', ['relevance', 'newest'], ['best']],
  [path, base, 'tz', ['UTC', 'Europe/Berlin'], ['Mars/Olympus', '+02:00']],
];
const bounds: readonly Bounds[] = [
  ['/v1/search', {}, 'query', [text(1), text(4000)], ['', text(4001), null, 7]],
  ...search('/v1/search', query),
  ['/v1/search/batch', {}, 'queries', [many(1), many(20)], [[], many(21), 'heron', null]],
  ...search('/v1/search/batch', queries),
  ['/v1/ask', {}, 'question', [text(1), text(4000), '?'], ['', ' \u200b', text(4001), null, 7]],
  ['/v1/ask', { question: 'Herons?' }, 'sentences', [1, 5], [0, 6]],
  ['/v1/ask', { question: 'Herons?' }, 'turns', [[], many(8).map(turn)], [many(9).map(turn), [{ question: '' }]]],
  ['/v1/pages/batch', {}, 'pages', [pages(1), pages(100)], [[], pages(101), {}]],
  ['/v1/pages/status/batch', {}, 'page_ids', [many(1), many(500)], [[], many(501), 'one']],
  ['/v1/jobs/retry', {}, 'job_ids', [null, [], many(500)], [many(501), 'one']],
  ['/v1/jobs/retry', {}, 'limit', [1, 500], [0, 501]],
  ['/v1/jobs/retry', {}, 'status', ['dead'], ['done', 'failed', null]],
  ['/v1/jobs/retry', {}, 'kind', [null, 'poll_watch'], ['dance']],
  ['/v1/admin/eval/score', {}, 'k', [1, 1000], [0, 1001]],
  ['/v1/admin/eval/replay', {}, 'k', [1, 1000], [0, 1001]],
  ['/v1/admin/eval/replay', {}, 'candidates', [1, 10_000], [0, 10_001]],
];
for (const [path, base, field, taken, refused] of bounds) {
  test(`${path} bounds ${field}`, async () => {
    for (const value of taken) {
      const { status, body } = await shared.post(path, { ...base, [field]: value });
      assert.ok(status < 300, `${JSON.stringify(value).slice(0, 80)}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
    }
    for (const value of refused) {
      const { status, body } = await shared.post<Invalid>(path, { ...base, [field]: value });
      assert.equal(status, 422, JSON.stringify(value).slice(0, 80));
      assert.deepEqual(body.detail[0].loc.slice(0, 2), ['body', field]);
    }
  });
}

for (const [path, field, taken, refused] of [
  ['/v1/jobs', 'limit', [1, 1000], [0, 1001, 'all']],
  ['/v1/clusters/runs', 'limit', [1, 1000], [0, 1001, 'all']],
  ['/v1/watches', 'limit', [1, 1000], [0, 1001, 'all']],
  ['/v1/admin/query-log', 'limit', [1, 1000], [0, 1001, 'all']],
  ['/v1/pages/{page}/similar', 'k', [1, 50], [0, 51, 'all']],
  ['/v1/pages/{page}/similar', 'mediation', ['vector', 'cluster', 'entity'], ['magic']],
  ['/v1/search/suggest', 'q', ['x', text(200)], ['', text(201)]],
  ['/v1/clusters', 'include_tombstoned', [true, false, 'True', '1', 'FALSE', '0'], ['perhaps', '', '2', 'constructor']],
] as const) {
  test(`${path} bounds ${field} in its query`, async () => {
    const [page] = await shared.add([{ url: 'https://access.example/1', body_extracted: 'A page.' }]);
    const at = (value: unknown) => `${path.replace('{page}', page)}?${field}=${value}`;
    for (const value of taken) assert.equal((await shared.call('GET', at(value))).status, 200, `${value}`);
    for (const value of refused) {
      const { status, body } = await shared.call<Invalid>('GET', at(value));
      assert.deepEqual([status, body.detail[0].loc], [422, ['query', field]], `${value}`);
    }
  });
}

test('every body that is documented is closed: a field that it does not name is a fault', async () => {
  const { operations } = new Documented(await shared.found<Document>('/openapi.json'));
  const bodies = operations.filter(({ body }) => body !== undefined);
  assert.ok(bodies.length > 12, `${bodies.length} bodies`);
  for (const { id, faultsOf } of bodies) assert.ok(faultsOf({ no_such_field: 1 }).includes('no_such_field'), id);
});

/** More values than a body of this length may have. */
const crowded = '['.repeat(100_000);
const nested = `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`;
/** Bodies that are no JSON document, or one that nobody would write. */
const brokenBodies = [
  ...['{', '[1,]', '{}{}', 'NaN', '{"k":01}', '{"k":NaN}', 'null', '[]', '"text"', '{"k":1e999}'],
  ...['{"__proto__":{"polluted":true}}', '{"\\u005f_proto__":1}', nested, crowded],
];
for (const body of brokenBodies) {
  const expected = body === crowded ? 413 : 422;
  test(`a body that begins with ${body.slice(0, 20)} is answered ${expected}`, async () => {
    for (const path of ['/v1/search', '/v1/ask', '/v1/compare']) {
      const { status, body: answer } = await shared.post<{ detail: unknown }>(path, body);
      assert.equal(status, expected, path);
      assert.equal(Array.isArray(answer.detail), expected === 422, path);
    }
  });
}

test('a validation failure has the shape of HTTPValidationError, and does not repeat what was sent', async () => {
  const { status, body } = await shared.post<Invalid>('/v1/search', {
    query: 'x',
    k: 'a-secret-9f2',
    other: 'a-secret-9f2',
  });
  assert.equal(status, 422);
  for (const { loc, msg, type } of body.detail) {
    assert.ok(
      loc.every((part) => typeof part === 'string' || Number.isInteger(part)),
      'loc',
    );
    assert.deepEqual([typeof msg, typeof type], ['string', 'string']);
  }
  assert.deepEqual(
    body.detail.map(({ loc }) => loc),
    [
      ['body', 'k'],
      ['body', 'other'],
    ],
  );
  assert.ok(!JSON.stringify(body).includes('a-secret-9f2'), 'repeated');
});
