/** One rule for each connection: requests one after another, answers that are not read, time limits in a process that was delayed. */

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterListResponse } from '../../src/domain/cluster.ts';
import type { QueryLogRunResponse } from '../../src/domain/query-log.ts';
import { ClientPace, maxAhead, paceLimits } from '../../src/http/client-sockets.ts';
import type { HttpApp } from '../../src/http/http-app.ts';
import { deferred } from '../deferred.ts';
import { until } from '../process/service.ts';
import { type Answers, rawHead, reader, type TestServer, testServer } from './test-server.ts';

interface Client {
  socket: Socket;
  /** Status lines that came. */
  statuses: () => number[];
  text: () => string;
}

async function client(app: HttpApp): Promise<Client> {
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

/** A client that asks and reads nothing. */
async function silent(app: HttpApp, path: string, times = 1): Promise<Socket> {
  const { socket } = await client(app);
  socket.pause().write(rawHead('GET', path).repeat(times));
  return socket;
}

async function listening(
  t: TestContext,
  answers: Answers,
  options: Parameters<typeof testServer>[2] = {},
  prepare = (_app: HttpApp) => {},
): Promise<TestServer> {
  const server = testServer(t, answers, options);
  prepare(server.app);
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  return server;
}

/** A server that lists models once `answer` was called. */
async function waiting(t: TestContext, prepare?: (app: HttpApp) => void): Promise<TestServer & { answer: () => void }> {
  const { promise, resolve: answer } = deferred();
  const server = await listening(t, { 'model.list': async () => promise.then(() => ({ models: [] })) }, {}, prepare);
  return { ...server, answer };
}

/** Also after an error, which `once` would throw. */
const closing = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));
const requests = (count: number) => rawHead('GET', '/v1/models').repeat(count);

test('requests of a connection are answered in order, wave after wave', async (t) => {
  const { app } = await listening(t, { 'model.list': () => ({ models: [] }) });
  const { socket, statuses } = await client(app);
  for (let wave = 1; wave <= 4; wave++) {
    socket.write(requests(maxAhead));
    await until(() => statuses().length === wave * maxAhead, 'all of the wave are answered');
  }
  assert.deepEqual(new Set(statuses()), new Set([200]));
  assert.equal(socket.destroyed, false);
  socket.destroy();
});

test('one is under way, others wait; beyond those one is refused, and the connection ends after it', async (t) => {
  const { app, asked, answer } = await waiting(t);
  const { socket, statuses, text } = await client(app);
  const received = once(app.server, 'request');
  socket.write(requests(maxAhead + 100));
  await received;
  await until(() => asked.length > 0, 'the first is under way');
  const other = await client(app);
  other.socket.write(rawHead('GET', '/healthz'));
  await once(other.socket, 'data');
  assert.equal(asked.length, 1);
  other.socket.destroy();
  const closed = closing(socket);
  answer();
  await closed;
  assert.deepEqual(statuses(), [...new Array(maxAhead).fill(200), 503]);
  const detail = 'more than 16 requests wait for their answers on this connection';
  assert.ok(text().endsWith(JSON.stringify({ detail })));
  assert.ok(text().includes('\r\nretry-after: 1\r\n'));
  assert.equal(asked.length, maxAhead);
});

test('nothing that waits is begun after its client has left, or after the last answer of its connection', async (t) => {
  let closed = 0;
  const { app, asked, answer } = await waiting(t, (server) =>
    server.addHook('onRequest', async (_request, { raw }) => void raw.once('close', () => closed++)),
  );
  const leaver = await client(app);
  leaver.socket.write(requests(maxAhead));
  await until(() => asked.length === 1, 'the first is under way');
  leaver.socket.destroy();
  await until(() => closed === 1, 'its response is closed');
  answer();
  const last = await client(app);
  const ended = closing(last.socket);
  const refused = rawHead('POST', '/v1/none', 'transfer-encoding: chunked').replace('Bearer', 'Bearer not-');
  last.socket.write(`${refused}0\r\n\r\n${requests(3)}`);
  await ended;
  assert.deepEqual([asked.length, closed], [1, 1]);
  assert.deepEqual(last.statuses(), [401]);
});

test('a connection that sends on and on while nothing is answered is cut', async (t) => {
  const { app, asked, answer } = await waiting(t);
  const { socket, statuses } = await client(app);
  const closed = closing(socket);
  socket.write(requests(5_000));
  await closed;
  assert.ok(asked.length <= 1);
  assert.deepEqual(statuses(), []);
  answer();
  const other = await client(app);
  other.socket.write(requests(1));
  await until(() => other.statuses().length === 1, 'others are answered');
  other.socket.destroy();
});

/** A connection's side of an answer. */
class Taker extends EventEmitter {
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  get raw(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

const limits = { ...paceLimits, units: 100 };

test('an answer of which nothing is read for long is ended, one that moves is not', async () => {
  let now = 0;
  const pace = new ClientPace(limits, () => now);
  const [still, moving] = [new Taker(), new Taker()];
  pace.answer(still.raw, 40);
  const moved = pace.answer(moving.raw, 40);
  for (now = 0; now < 29_000; now += 1_000) await pace.look();
  pace.moved(moved);
  assert.deepEqual([still.destroyed, moving.destroyed], [false, false]);
  now = 30_000;
  await pace.look();
  assert.deepEqual([still.destroyed, moving.destroyed], [true, false]);
});

test('where there is no room those that do not read are ended after their grace, the longest first, until then others are refused', () => {
  let now = 0;
  const pace = new ClientPace(limits, () => now);
  const [first, second, fast] = [new Taker(), new Taker(), new Taker()];
  pace.answer(first.raw, 30);
  now = 1;
  pace.answer(second.raw, 30);
  const moving = pace.answer(fast.raw, 40);
  const refused = { code: 'overloaded', retryAfterS: 5 };
  now = 4_000;
  pace.moved(moving);
  assert.throws(() => pace.answer(new Taker().raw, 30), refused);
  assert.deepEqual([first.destroyed, second.destroyed, fast.destroyed], [false, false, false]);
  now = 6_000;
  const next = new Taker();
  pace.answer(next.raw, 30);
  assert.deepEqual([first.destroyed, second.destroyed, fast.destroyed], [true, false, false]);
  pace.answer(new Taker().raw, 70);
  assert.deepEqual([second.destroyed, fast.destroyed, next.destroyed], [true, false, false]);
  assert.throws(() => pace.answer(new Taker().raw, 1), refused);
  fast.emit('finish');
  fast.emit('close');
  assert.throws(() => pace.answer(new Taker().raw, 1), refused); // 30 and 70: an answer that is sent gives its room back, once
  next.emit('finish');
  pace.answer(new Taker().raw, 1);
});

test('while there is room an answer of any size is sent', () => {
  const pace = new ClientPace(limits, () => 0);
  pace.answer(new Taker().raw, 99);
  pace.answer(new Taker().raw, 1_000);
  assert.throws(() => pace.answer(new Taker().raw, 1), { code: 'overloaded' });
});

const size = 30_000_000; // more than systems take from a socket
const list = { clusters: [{ label: 'x'.repeat(size) }] } as ClusterListResponse;

function getClusters(app: HttpApp) {
  const { port } = app.server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}/v1/clusters`, { headers: { authorization: `Bearer ${reader}` } });
}

test('of a client that does not read one answer is made, and its room is free again when it leaves', async (t) => {
  const pace = new ClientPace({ ...paceLimits, units: size });
  const { app, asked } = await listening(t, { 'cluster.list': () => list }, { bounds: { pace } });
  const socket = await silent(app, '/v1/clusters', maxAhead);
  await until(() => asked.length === 1, 'the first is being answered');
  await until(async () => (await getClusters(app)).status === 503, 'it has the room');
  assert.equal(asked.filter(({ name }) => name === 'cluster.list').length, asked.length);
  const before = asked.length;
  socket.destroy();
  await until(async () => (await (await getClusters(app)).text()).length > size, 'the room is free again');
  assert.ok(asked.length > before);
});

test('clients that do not read hold no more than the room, and are ended for those that read', async (t) => {
  let now = 0;
  const pace = new ClientPace({ ...paceLimits, units: 2 * size + 1_000_000 }, () => now);
  const statuses: number[] = [];
  const { app } = await listening(t, { 'cluster.list': () => list }, { bounds: { pace } }, (server) =>
    server.addHook('onResponse', async (_request, { statusCode }) => void statuses.push(statusCode)),
  );
  const sockets = await Promise.all(Array.from({ length: 10 }, () => silent(app, '/v1/clusters')));
  let ended = 0;
  for (const socket of sockets) socket.once('close', () => ended++);
  await until(() => statuses.length === 7, 'three have room, all others are refused');
  assert.deepEqual([...new Set(statuses)], [503]);
  const refused = await getClusters(app);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5']);
  now = paceLimits.stallMs;
  await pace.look();
  for (const socket of sockets) socket.resume();
  await until(() => ended === 3, 'those that did not read are ended');
  assert.deepEqual(await (await getClusters(app)).json(), list);
  for (const socket of sockets) socket.destroy();
});

test('of a log that nobody reads no more runs are made than the system takes', async (t) => {
  let now = 0;
  let made = 0;
  const rows = 1_000;
  const runs = async function* () {
    while (made < rows) yield { query_id: `qr_${made++}`, query_text: 'x'.repeat(1_000_000) } as QueryLogRunResponse;
  };
  const pace = new ClientPace(paceLimits, () => now);
  const { app } = await listening(t, { 'queryLog.list': () => ({ runs: runs() }) }, { bounds: { pace } });
  const socket = await silent(app, '/v1/admin/query-log?limit=1000');
  await until(() => made > 1, 'it is being written');
  now = paceLimits.stallMs;
  await pace.look();
  socket.resume();
  await closing(socket);
  assert.ok(made < rows / 10, `${made} of ${rows} runs were made`);
});

// The process was delayed: what the client sent meanwhile is here, and nobody has read it when Node's timers look.

async function openConnection(t: TestContext) {
  const { app } = await listening(t, {});
  const accepted = once(app.server, 'connection');
  const { socket } = await client(app);
  t.after(() => socket.destroy());
  const [served] = (await accepted) as [Socket];
  return { server: app.server, socket, served };
}

/** Send a request, and let it be judged in the same turn of the loop, in a timer, as Node does. */
async function answerTo(socket: Socket, judge: () => void): Promise<string> {
  await delay(0);
  socket.write(rawHead('GET', '/healthz'));
  judge();
  const [answer] = await once(socket, 'data');
  return String(answer).split('\r\n')[0];
}

test('a request that has arrived is not late', async (t) => {
  const { server, socket, served } = await openConnection(t);
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  for (let round = 0; round < 2; round++) {
    assert.equal(await answerTo(socket, () => server.emit('clientError', late, served)), 'HTTP/1.1 200 OK');
  }
});

test('a connection that has brought a request is not idle', async (t) => {
  const { socket, served } = await openConnection(t);
  for (let round = 0; round < 2; round++) {
    assert.equal(await answerTo(socket, () => served.emit('timeout')), 'HTTP/1.1 200 OK');
  }
  await delay(0);
  served.emit('timeout');
  await once(socket, 'close');
});
