import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import type { HttpApp } from '../../src/http/http-app.ts';
import { mostAhead } from '../../src/http/requests-ahead.ts';
import { until } from '../process/service.ts';
import { rawHead, type TestServer, testServer } from './test-server.ts';

interface Pipeline {
  socket: Socket;
  /** Status lines that came. */
  statuses: () => number[];
  text: () => string;
}

async function pipeline(app: HttpApp): Promise<Pipeline> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  return { socket, statuses, text: () => text };
}

/** A server that lists models once `answer` was called. */
function waiting(): TestServer & { answer: () => void } {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const server = testServer({ 'model.list': async () => answered.then(() => ({ models: [] })) });
  return { ...server, answer: () => answer() };
}

/** Also after an error, which `once` would throw. */
const closing = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

const requests = (count: number) => rawHead('GET', '/v1/models').repeat(count);

test('as many requests as may be ahead are answered in order, wave after wave', async (t) => {
  const { app } = testServer({ 'model.list': () => ({ models: [] }) });
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { socket, statuses } = await pipeline(app);
  for (let wave = 1; wave <= 4; wave++) {
    socket.write(requests(mostAhead));
    await until(() => statuses().length === wave * mostAhead, 'all of the wave are answered');
  }
  assert.deepEqual(new Set(statuses()), new Set([200]));
  assert.equal(socket.destroyed, false);
  socket.destroy();
});

test('beyond them one is refused, and the connection ends after it; no more are begun', async (t) => {
  const { app, asked, answer } = waiting();
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { socket, statuses, text } = await pipeline(app);
  socket.write(requests(mostAhead + 100));
  await until(() => asked.length >= mostAhead, 'what may be ahead is under way');
  const closed = closing(socket);
  answer();
  await closed;
  assert.deepEqual(statuses(), [...new Array(mostAhead).fill(200), 503]);
  const detail = 'more than 16 requests wait for their answers on this connection';
  assert.ok(text().endsWith(JSON.stringify({ detail })));
  assert.ok(text().includes('\r\nretry-after: 1\r\n'));
  assert.equal(asked.length, mostAhead);
});

test('a connection that sends on and on while nothing is answered is cut', async (t) => {
  const { app, asked, answer } = waiting();
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { socket, statuses } = await pipeline(app);
  const closed = closing(socket);
  socket.write(requests(5_000));
  await closed;
  assert.equal(asked.length, mostAhead);
  assert.deepEqual(statuses(), []);
  answer();
  const other = await pipeline(app);
  other.socket.write(requests(1));
  await until(() => other.statuses().length === 1, 'others are answered');
  other.socket.destroy();
});
