/** The process was held up: what the client sent meanwhile is here, and nobody has read it when Node's timers look. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { rawHead, testServer } from './test-server.ts';

async function openConnection(t: TestContext) {
  const { app } = testServer();
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const accepted = once(app.server, 'connection');
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => client.destroy());
  const [[served]] = await Promise.all([accepted as Promise<[Socket]>, once(client, 'connect')]);
  return { server: app.server, client, served };
}

/** Send a request, and let it be judged in the same turn of the loop, in a timer, as Node does. */
async function answerTo(client: Socket, judge: () => void): Promise<string> {
  await delay(0);
  client.write(rawHead('GET', '/healthz'));
  judge();
  const [answer] = await once(client, 'data');
  return String(answer).split('\r\n')[0];
}

test('a request that has arrived is not late', async (t) => {
  const { server, client, served } = await openConnection(t);
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  for (let round = 0; round < 2; round++) {
    assert.equal(await answerTo(client, () => server.emit('clientError', late, served)), 'HTTP/1.1 200 OK');
  }
});

test('a connection that has brought a request is not idle', async (t) => {
  const { client, served } = await openConnection(t);
  for (let round = 0; round < 2; round++) {
    assert.equal(await answerTo(client, () => served.emit('timeout')), 'HTTP/1.1 200 OK');
  }
  await delay(0);
  served.emit('timeout');
  await once(client, 'close');
});
