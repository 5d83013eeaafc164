import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { nodeServerOptions } from '../../src/http/connection-limits.ts';
import { rawHead, testServer } from './test-server.ts';

test('limits are within what slow clients may cost', async (t) => {
  const { app } = testServer();
  t.after(() => app.close());
  await app.ready();
  const { headersTimeout, requestTimeout, maxConnections, keepAliveTimeout } = app.server;
  assert.equal(headersTimeout, nodeServerOptions.headersTimeout);
  assert.ok(headersTimeout <= 10_000 && requestTimeout <= 120_000 && keepAliveTimeout <= 120_000);
  assert.ok(maxConnections > 10_000 && Number.isFinite(maxConnections));
  assert.ok(nodeServerOptions.connectionsCheckingInterval <= 1_000);
});

test('connections that are silent, or stop in the middle of headers or body, are cut', async (t) => {
  const { app } = testServer();
  t.after(() => app.close());
  app.server.headersTimeout = 20;
  app.server.requestTimeout = 20;
  await app.listen({ host: '127.0.0.1', port: 0 });
  const beginnings = [
    '',
    'GET /healthz HTTP/1.1\r\nhost: loc',
    `${rawHead('POST', '/v1/search', 'content-type: application/json', 'content-length: 50')}{"qu`,
  ];
  const answers = await Promise.all(
    beginnings.map(async (beginning) => {
      const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
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
