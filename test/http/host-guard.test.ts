import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback } from '../../src/http/admission.ts';
import { listenAnywhere, sendRaw, testServer, writer } from './test-server.ts';

const good = `authorization: Bearer ${writer}`;

test('a foreign Host or Origin is refused with 403 before anything else, on every route, without CORS headers', async (t) => {
  const { app, asked } = testServer(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const foreignHosts =
    'evil.test 127.0.0.1.evil.test 127.0.0.1@evil.test localhost:80@evil.test localhost:8000:80 localhost. [::1';
  const foreignOrigins = ['https://evil.test', 'null', 'http://localhost.evil.test', 'file://'];
  const foreign = [
    ...foreignHosts.split(' ').map((host) => [`host: ${host}`]),
    ...foreignOrigins.map((origin) => ['host: localhost', `origin: ${origin}`]),
    ['host: localhost', 'Host: evil.test'],
    ['host: localhost', 'origin: http://localhost:1', 'origin: https://evil.test'],
  ];
  const paths = [...new Set(app.routeTable.map(({ url }) => url.replace(/:\w+/g, 'x'))), '/mcp', '/nothing', '/%zz'];
  // On one route all of them, and on each other a foreign host and a foreign origin.
  for (const path of paths) {
    for (const headers of path === '/v1/pages' ? foreign : [foreign[0], foreign[7]]) {
      for (const authorization of [[], [good]]) {
        const request = [`GET ${path} HTTP/1.1`, ...headers, ...authorization, '', ''].join('\r\n');
        const { status, head, body } = await sendRaw(app, request);
        assert.equal(status, 403, `${path} ${headers}`);
        assert.match(body, /^\{"detail":"(host|origin) not allowed"\}$/);
        assert.doesNotMatch(head, /access-control/i);
      }
    }
  }
  const preflight = ['host: localhost', 'origin: https://evil.test', 'access-control-request-method: POST', '', ''];
  const refused = await sendRaw(app, ['OPTIONS /v1/pages HTTP/1.1', ...preflight].join('\r\n'));
  assert.equal(refused.status, 403);
  assert.doesNotMatch(refused.head, /access-control/i);
  assert.equal((await sendRaw(app, `GET http://evil.test/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n`)).status, 403);
  assert.deepEqual(asked, []);
});

test('loopback names with any port, extensions and what the operator allows pass', async (t) => {
  const allowed = { allowed_hosts: ['Read.example', 'box.example:8443'], allowed_origins: ['https://app.example'] };
  const { app } = testServer(t, {}, allowed);
  const port = await listenAnywhere(app);
  const names = ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'];
  const hosts = names.flatMap((host) => [host, `${host}:${port}`, `${host}:1`]);
  for (const host of [...hosts, 'read.example', 'read.example:99', 'box.example:8443']) {
    assert.equal((await sendRaw(app, `GET /healthz HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).status, 200, host);
  }
  assert.equal((await sendRaw(app, 'GET /healthz HTTP/1.1\r\nhost: box.example\r\n\r\n')).status, 403);
  const origins = ['http://localhost:3000', 'http://127.0.0.1', 'https://[::1]:1', 'https://app.example'];
  for (const origin of [...origins, 'moz-extension://3c1f-aa', 'chrome-extension://abcdef']) {
    const request = `GET /healthz HTTP/1.1\r\nhost: localhost\r\norigin: ${origin}\r\n\r\n`;
    assert.equal((await sendRaw(app, request)).status, 200, origin);
  }
});

test('a service on another address of loopback is called by that address', async (t) => {
  const { app } = testServer(t, {}, { bind_host: '127.0.0.2' });
  const from = async (host: string) => (await app.inject({ url: '/healthz', headers: { host } })).statusCode;
  const hosts = ['127.0.0.2', '127.0.0.2:8000', 'localhost', '127.0.0.3', 'evil.test'];
  assert.deepEqual(await Promise.all(hosts.map(from)), [200, 200, 200, 403, 403]);
});

test('a service that listens beyond loopback takes any Host, but no foreign Origin', async (t) => {
  const { app } = testServer(t, {}, { bind_host: '0.0.0.0' });
  const from = async (headers: Record<string, string>) => (await app.inject({ url: '/healthz', headers })).statusCode;
  assert.equal(await from({ host: 'nas.local' }), 200);
  assert.equal(await from({ host: 'nas.local', origin: 'https://evil.test' }), 403);
  // A name that was made to point here has pages, too; only the operator tells which names are the service's.
  assert.equal(await from({ host: 'evil.test', origin: 'http://evil.test' }), 403);
  assert.equal(await from({ host: 'nas.local:8000', origin: 'http://nas.local:8000' }), 403);
});

test('the page of a host that the operator allows may call it, and none of another port or host', async (t) => {
  const { app } = testServer(t, {}, { bind_host: '0.0.0.0', allowed_hosts: ['nas.local'] });
  const from = async (host: string, origin: string) =>
    (await app.inject({ url: '/healthz', headers: { host, origin } })).statusCode;
  assert.equal(await from('nas.local:8000', 'http://nas.local:8000'), 200);
  assert.equal(await from('NAS.local:8000', 'https://nas.local:8000'), 200);
  const others = 'http://nas.local http://nas.local:9000 http://a.nas.local:8000 http://evil.test:8000';
  for (const origin of others.split(' ')) assert.equal(await from('nas.local:8000', origin), 403, origin);
  assert.equal(await from('evil.test:8000', 'http://nas.local:8000'), 403);
});

test('loopback addresses are known in all their forms', () => {
  for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1'])
    assert.ok(isLoopback(host), host);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com', '128.0.0.1']) assert.ok(!isLoopback(host), host);
});
