import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { connectionsOf, nodeServerOptions, openFileLimit } from '../../src/http/connection-limits.ts';
import type { HttpApp } from '../../src/http/http-app.ts';
import { deferred } from '../deferred.ts';
import { until } from '../process/service.ts';
import { listenAnywhere, rawHead, testServer } from './test-server.ts';

test('limits are within what slow clients may cost', async (t) => {
  const { app } = testServer(t);
  await app.ready();
  const { headersTimeout, requestTimeout, maxConnections, keepAliveTimeout } = app.server;
  assert.equal(headersTimeout, nodeServerOptions.headersTimeout);
  assert.ok(headersTimeout <= 10_000 && requestTimeout <= 120_000 && keepAliveTimeout <= 120_000);
  assert.ok(maxConnections > 0 && Number.isFinite(maxConnections));
  assert.ok(nodeServerOptions.connectionsCheckingInterval <= 1_000);
});

test('connections that are silent, or stop in the middle of headers or body, are cut', async (t) => {
  const { app } = testServer(t);
  app.server.headersTimeout = 20;
  app.server.requestTimeout = 20;
  const port = await listenAnywhere(app);
  const beginnings = [
    '',
    'GET /healthz HTTP/1.1\r\nhost: loc',
    `${rawHead('POST', '/v1/search', 'content-type: application/json', 'content-length: 50')}{"qu`,
  ];
  const answers = await Promise.all(
    beginnings.map(async (beginning) => {
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.on('data', (data) => {
        answer += data;
      });
      if (beginning !== '') socket.write(beginning);
      await once(socket, 'close');
      return answer;
    }),
  );
  for (const answer of answers)
    assert.match(answer, /^HTTP\/1\.1 408 (?:.|\s)*\{"detail":"the request took too long to arrive"\}$/);
});

test('the number of connections follows the open files that the process may have', () => {
  const table = 'Limit                     Soft Limit           Hard Limit           Units     \n';
  const limit = (soft: string) => openFileLimit(`${table}Max open files            ${soft}         4096      files\n`);
  assert.deepEqual([limit('200 '), limit('unlimited '), openFileLimit('')], [200, Infinity, 10_240]);
  assert.deepEqual([Infinity, 20_000, 1_024, 200, 20, 1].map(connectionsOf), [15_000, 15_000, 896, 72, 6, 1]);
});

async function connected(app: HttpApp): Promise<Socket> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').resume();
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

test('who has shown no token makes room first, then who has nothing to ask, and never who is being answered', async (t) => {
  const { promise: answered, resolve: answer } = deferred();
  const { app, asked } = testServer(
    t,
    { 'model.list': async () => answered.then(() => ({ models: [] })), 'cluster.runs': () => ({ runs: [] }) },
    { bounds: { maxConnections: 3 } },
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const ask = (socket: Socket, path: string) => socket.write(rawHead('GET', path));

  const asking = await connected(app);
  ask(asking, '/v1/models');
  await until(() => asked.length === 1, 'it is being answered');
  const idle = await connected(app);
  ask(idle, '/v1/clusters/runs');
  await once(idle, 'data');
  const stranger = await connected(app);
  const strangerEnds = once(stranger, 'close');
  const second = await connected(app);
  await strangerEnds;
  assert.deepEqual([asking.destroyed, idle.destroyed, second.destroyed], [false, false, false]);

  ask(second, '/v1/models');
  await until(() => asked.length === 3, 'two are being answered');
  const idleEnds = once(idle, 'close');
  const third = await connected(app);
  await idleEnds;
  ask(third, '/v1/models');
  await until(() => asked.length === 4, 'three are being answered');
  const refused = await connected(app);
  if (!refused.closed) await once(refused, 'close');
  assert.deepEqual([asking.destroyed, second.destroyed, third.destroyed], [false, false, false]);
  const answers = [asking, second, third].map((socket) => once(socket, 'data'));
  answer();
  for (const [text] of await Promise.all(answers)) assert.match(String(text), /^HTTP\/1\.1 200/);
  for (const socket of [asking, second, third]) socket.destroy();
});
