import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { WatchResponse } from '../../src/domain/watch.ts';
import { type Answers, testServer, writer } from './test-server.ts';

const watch: WatchResponse = {
  id: 'wt_00000001',
  kind: 'rss',
  url: 'https://example.com/feed',
  title: null,
  enabled: true,
  interval_hours: 24,
  config: null,
  next_run_at: '2026-11-21T00:00:00.000Z',
  last_run_at: null,
  last_status: 'pending',
  last_error: null,
  last_item_count: null,
  created_at: '2026-11-21T00:00:00.000Z',
};
const answers: Answers = {
  'watch.list': () => ({ watches: Readable.from([watch]) }),
  'watch.get': () => watch,
  'watch.create': () => watch,
  'watch.update': () => watch,
  'watch.delete': () => null,
  'watch.run': ({ watch_id }) => ({ watch_id, job_id: 'jb_00000001' }),
};

async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: object) {
  const { app, asked } = testServer(answers);
  const reply = await app.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${writer}`,
      host: 'localhost',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return { status: reply.statusCode, body: reply.body === '' ? null : reply.json(), request: asked[0]?.request };
}

const path = `/v1/watches/${watch.id}`;

test('every route answers with its status and body', async () => {
  assert.deepEqual(await call('GET', '/v1/watches'), { status: 200, body: { watches: [watch] }, request: {} });
  assert.deepEqual((await call('GET', '/v1/watches?offset=1&limit=2')).request, { offset: 1, limit: 2 });
  assert.equal((await call('GET', '/v1/watches?limit=1001')).status, 422);
  assert.deepEqual(await call('GET', path), { status: 200, body: watch, request: { watch_id: watch.id } });
  assert.deepEqual(await call('POST', '/v1/watches', { url: watch.url }), {
    status: 201,
    body: watch,
    request: { url: watch.url, kind: 'rss', enabled: true },
  });
  assert.deepEqual(await call('PATCH', path, { title: null, enabled: false }), {
    status: 200,
    body: watch,
    request: { watch_id: watch.id, title: null, enabled: false },
  });
  assert.deepEqual(await call('DELETE', path), { status: 204, body: null, request: { watch_id: watch.id } });
  assert.deepEqual(await call('POST', `${path}/run`), {
    status: 202,
    body: { watch_id: watch.id, job_id: 'jb_00000001' },
    request: { watch_id: watch.id },
  });
});

test('bodies out of bounds are refused', async () => {
  const url = watch.url;
  for (const body of [
    {},
    { url, interval_hours: 0 },
    { url, interval_hours: 8761 },
    { url, interval_hours: 1.5 },
    { url, kind: 'atom' },
    { url, config: { max_items: 5 } },
    { url, enabled: null },
    { url, urll: 'x' },
  ]) {
    assert.equal((await call('POST', '/v1/watches', body)).status, 422, JSON.stringify(body));
  }
  for (const body of [{ url }, { interval_hours: 8761 }, { interval_hours: '6' }, { id: 'x' }]) {
    assert.equal((await call('PATCH', path, body)).status, 422, JSON.stringify(body));
  }
  for (const body of [{ interval_hours: 8760 }, { interval_hours: 1 }, {}]) {
    assert.equal((await call('PATCH', path, body)).status, 200, JSON.stringify(body));
  }
});
