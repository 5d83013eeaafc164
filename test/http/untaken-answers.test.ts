import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import type { ClusterListResponse } from '../../src/domain/cluster.ts';
import type { QueryLogRunResponse } from '../../src/domain/query-log.ts';
import type { HttpApp } from '../../src/http/http-app.ts';
import { answerLimits, UntakenAnswers } from '../../src/http/untaken-answers.ts';
import { until } from '../process/service.ts';
import { rawHead, reader, testServer } from './test-server.ts';

/** A connection's side of an answer. */
class Taker extends EventEmitter {
  destroyed = false;
  readonly req = { socket: new EventEmitter() };
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  get raw(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

const limits = { held: 100, waiting: 60, waitMs: 120_000, stallMs: 30_000, graceMs: 5_000 };

test('an answer of which nothing is taken for long is ended, one that moves is not', async () => {
  let now = 0;
  const answers = new UntakenAnswers(limits, () => now);
  const [still, moving] = [new Taker(), new Taker()];
  await answers.open(still.raw, 40);
  const moved = await answers.open(moving.raw, 40);
  for (now = 0; now < 29_000; now += 1_000) answers.look();
  answers.moved(moved, 1);
  assert.deepEqual([still.destroyed, moving.destroyed], [false, false]);
  now = 30_000;
  answers.look();
  assert.deepEqual([still.destroyed, moving.destroyed], [true, false]);
});

test('when there is no room the slowest is ended for those who wait, and nobody before his grace is over', async () => {
  let now = 0;
  const answers = new UntakenAnswers(limits, () => now);
  const [slow, fast, late] = [new Taker(), new Taker(), new Taker()];
  answers.moved(await answers.open(slow.raw, 50), 5);
  answers.moved(await answers.open(fast.raw, 50), 40);
  // The first beyond the room goes on without it.
  const beyond = new Taker();
  await answers.open(beyond.raw, 30);
  now = 4_000;
  const waiting = answers.open(late.raw, 40);
  answers.look();
  assert.deepEqual([slow.destroyed, fast.destroyed, beyond.destroyed], [false, false, false]);
  beyond.destroy();
  await waiting;
  now = 5_000;
  answers.look();
  assert.deepEqual([slow.destroyed, fast.destroyed, late.destroyed], [false, false, false], 'it had come to its room');
  const next = answers.open(new Taker().raw, 40);
  await next;
  assert.deepEqual([slow.destroyed, fast.destroyed], [true, false]);
});

test('a bounded number waits, and is refused where no room comes', async () => {
  const answers = new UntakenAnswers({ ...limits, waitMs: 20 }, () => 0);
  const first = new Taker();
  await answers.open(first.raw, 100);
  await answers.open(new Taker().raw, 10); // beyond the room
  const waiting = [answers.open(new Taker().raw, 30), answers.open(new Taker().raw, 30)];
  const leaver = new Taker();
  await assert.rejects(answers.open(leaver.raw, 1), { code: 'overloaded', retryAfterS: 5 });
  for (const each of waiting) await assert.rejects(each, { code: 'overloaded', retryAfterS: 5 });
  first.emit('finish');
  await answers.open(new Taker().raw, 100); // what is sent gives its room back, once
  first.emit('close');
});

test('pipelined answers give their room back when their connection closes before their turn', async (t) => {
  const size = 1_000_000;
  const list = { clusters: [{ label: 'x'.repeat(size) }] } as ClusterListResponse;
  const answers = new UntakenAnswers({ ...answerLimits, held: 20 * size, waiting: 0 });
  const { app, asked } = testServer({ 'cluster.list': () => list }, { bounds: { answers } });
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const before = asked.length;
  const path = '/v1/clusters';
  const socket = await asking(app, path);
  socket.write(rawHead('GET', path).repeat(15));
  await until(() => asked.length > before + 1, 'some are waiting for the first');
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
  const { port } = app.server.address() as AddressInfo;
  const get = () => fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${reader}` } });
  await until(async () => (await (await get()).text()).length > size, 'the server has seen it');
  // All of the room is free again: as many as it is for are answered at once.
  const all = await Promise.all(Array.from({ length: 18 }, async () => (await (await get()).text()).length > size));
  assert.ok(all.every(Boolean));
});

async function asking(app: HttpApp, path: string): Promise<Socket> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause();
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(rawHead('GET', path));
  return socket;
}

test('clients that do not read hold no more than the room, and are ended for those that read', async (t) => {
  let now = 0;
  const size = 30_000_000; // more than systems take from a socket
  const list = { clusters: [{ label: 'x'.repeat(size) }] } as ClusterListResponse;
  const answers = new UntakenAnswers({ ...answerLimits, held: 3 * size + 1_000_000, waitMs: 20 }, () => now);
  const { app } = testServer({ 'cluster.list': () => list }, { bounds: { answers } });
  t.after(() => app.close());
  const statuses: number[] = [];
  app.addHook('onResponse', async (_request, { statusCode }) => void statuses.push(statusCode));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const sockets = await Promise.all(Array.from({ length: 10 }, () => asking(app, '/v1/clusters')));
  let ended = 0;
  for (const socket of sockets) socket.once('close', () => ended++);
  // Three have room, and one beyond it goes on.
  await until(() => statuses.length === 6, 'all others are refused');
  assert.deepEqual([...new Set(statuses)], [503]);
  const { port } = app.server.address() as AddressInfo;
  const get = () => fetch(`http://127.0.0.1:${port}/v1/clusters`, { headers: { authorization: `Bearer ${reader}` } });
  const refused = await get();
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5']);
  now = answerLimits.stallMs;
  answers.look();
  for (const socket of sockets) socket.resume();
  await until(() => ended === 4, 'those that did not read are ended');
  assert.deepEqual(await (await get()).json(), list);
  for (const socket of sockets) socket.destroy();
});

test('of a log that nobody reads no more runs are made than the system takes', async (t) => {
  let now = 0;
  let made = 0;
  const rows = 1_000;
  const runs = async function* () {
    while (made < rows) yield { query_id: `qr_${made++}`, query_text: 'x'.repeat(1_000_000) } as QueryLogRunResponse;
  };
  const answers = new UntakenAnswers(answerLimits, () => now);
  const { app } = testServer({ 'queryLog.list': () => ({ runs: runs() }) }, { bounds: { answers } });
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = await asking(app, '/v1/admin/query-log?limit=1000');
  await until(() => made > 1, 'it is being written');
  now = answerLimits.stallMs;
  answers.look();
  socket.resume();
  await once(socket, 'close');
  assert.ok(made < rows / 10, `${made} of ${rows} runs were made`);
});
