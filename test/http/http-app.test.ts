import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { DomainError, type ErrorCode } from '../../src/domain/errors.ts';
import { statusOf } from '../../src/http/http-app.ts';
import { deferred } from '../deferred.ts';
import { nothingFound } from './search-defaults.ts';
import { listenAnywhere, rawHead, testServer, writer } from './test-server.ts';

const headers = { authorization: `Bearer ${writer}` };

test('every code of a domain error has its status and the body {detail}', async (t) => {
  let error = new DomainError('not_found', '');
  const { app } = testServer(t, {
    'page.get': () => {
      throw error;
    },
  });
  const expected: Record<ErrorCode, [number, string | undefined]> = {
    not_found: [404, undefined],
    conflict: [409, undefined],
    invalid: [422, undefined],
    no_active_model: [503, undefined],
    store_unavailable: [503, '5'],
    extraction_unavailable: [501, undefined],
    overloaded: [503, '1'],
    over_quota: [507, undefined],
    rate_limited: [429, '60'],
    shutting_down: [503, undefined],
  };
  for (const code of Object.keys(statusOf) as ErrorCode[]) {
    error = new DomainError(code, `because of ${code}`);
    const answer = await app.inject({ url: '/v1/pages/pg_1', headers });
    assert.deepEqual([answer.statusCode, answer.headers['retry-after']], expected[code], code);
    const detail = `because of ${code}`;
    const faults = [{ loc: ['query'], msg: detail, type: 'value_error' }];
    assert.deepEqual(answer.json(), { detail: code === 'invalid' ? faults : detail });
  }
  error = new DomainError('overloaded', 'full', { retryAfterS: 2.2 });
  assert.equal((await app.inject({ url: '/v1/pages/pg_1', headers })).headers['retry-after'], '3');
});

test('anything else is 500 without its text, and logged with it', async (t) => {
  const { app, lines } = testServer(t, {
    'page.get': () => {
      throw new Error('canary in a stack');
    },
    'page.status': () => {
      throw Object.assign(new Error('canary with a status'), { statusCode: 418, code: 'ETEAPOT' });
    },
  });
  for (const url of ['/v1/pages/pg_1', '/v1/pages/pg_1/status']) {
    const answer = await app.inject({ url, headers });
    assert.deepEqual([answer.statusCode, answer.json()], [500, { detail: 'internal error' }]);
  }
  const logged = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50);
  const told = logged.map(({ err, route }) => `${err.message} ${route}`);
  const page = '/v1/pages/:page_id';
  assert.deepEqual(told, [`canary in a stack ${page}`, `canary with a status ${page}/status`]);
});

test('when the caller leaves, the work is told to stop, with a body and without', async (t) => {
  const signals: AbortSignal[] = [];
  let begun = deferred<AbortSignal>();
  const wait = (signal: AbortSignal | undefined): Promise<never> =>
    new Promise((_resolve, reject) => {
      assert.ok(signal);
      signals.push(signal);
      signal.addEventListener('abort', () => reject(signal.reason));
      begun.resolve(signal);
    });
  const { app, lines } = testServer(t, {
    'search.query': (_request, signal) => wait(signal),
    'page.get': (_, signal) => wait(signal),
  });
  const port = await listenAnywhere(app);
  const body = '{"query":"x"}';
  const requests = [
    `${rawHead('POST', '/v1/search', 'content-type: application/json', `content-length: ${body.length}`)}${body}`,
    rawHead('GET', '/v1/pages/pg_1'),
  ];
  for (const request of requests) {
    begun = deferred();
    const socket = connect(port, '127.0.0.1');
    socket.write(request);
    const signal = await begun.promise;
    assert.equal(signal.aborted, false);
    const stopped = once(signal, 'abort');
    socket.destroy();
    await stopped;
  }
  assert.equal(signals.length, 2);
  assert.ok(!lines.some((line) => JSON.parse(line).level >= 50), lines.join(''));
});

test('a finished request is not told to stop before its answer is out', async (t) => {
  let signal: AbortSignal | undefined;
  const { app } = testServer(t, {
    'search.query': async (_request, given) => {
      signal = given;
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(given?.aborted, false);
      return nothingFound;
    },
  });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const answer = await fetch(`${address}/v1/search`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"query":"x"}',
  });
  assert.deepEqual([answer.status, await answer.json()], [200, nothingFound]);
  assert.ok(signal);
});
