import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOperatorError } from '../../src/domain/errors.ts';
import { listen } from '../../src/http/listen.ts';
import { testServer } from './test-server.ts';

test('port 0 takes a free port, and a second server on it gets one clear line', async (t) => {
  const { app: first } = testServer(t);
  const { app: second } = testServer(t);
  const { port, address } = await listen(first, { host: '127.0.0.1', port: 0 });
  assert.equal(address, '127.0.0.1');
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
  await assert.rejects(listen(second, { host: '127.0.0.1', port }), (error) => {
    assert.ok(isOperatorError(error, 'listen'));
    assert.equal(
      error.message,
      `cannot listen on 127.0.0.1 port ${port}: the port is in use: stop the program that has it, or set SERVICE_BIND_PORT`,
    );
    return true;
  });
});

test('a name that cannot be looked up, as without a network, is one clear line, too', async (t) => {
  const { app } = testServer(t);
  const unavailable = Object.assign(new Error('getaddrinfo EAI_AGAIN nas.local'), { code: 'EAI_AGAIN' });
  t.mock.method(app, 'listen', () => Promise.reject(unavailable));
  await assert.rejects(listen(app, { host: 'nas.local', port: 80 }), {
    code: 'listen',
    message:
      'cannot listen on nas.local port 80: this name cannot be looked up now: try again later, or set SERVICE_BIND_HOST to an address',
    cause: unavailable,
  });
});
