/** Clients that pipeline requests and leave, on a real service: what it had open for them is closed, and what it did for them ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import type { QueryLogListResponse } from '../../src/domain/query-log.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { embedderAt, until } from './service.ts';
import { readToken, sharedService } from './shared-service.ts';

const provider = await startFakeProvider({ after }, { dim: 16 });
const shared = sharedService(embedderAt(provider.url));
/** Of the retriever. */
const batchesAtOnce = 4;

async function connected(count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(shared.service.url);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      await once(socket, 'connect');
      return socket;
    }),
  );
}

function head(method: string, path: string, ...headers: readonly string[]): string {
  const own = [`host: ${new URL(shared.service.url).host}`, `authorization: Bearer ${readToken}`];
  return [`${method} ${path} HTTP/1.1`, ...own, ...headers, '', ''].join('\r\n');
}

/** Send on so many connections, and leave when each has got something or when `when` holds. */
async function sendAndLeave(
  count: number,
  text: string | ((no: number) => string),
  when?: () => Promise<boolean> | boolean,
): Promise<void> {
  const sockets = await connected(count);
  const answered = sockets.map((socket) => (when === undefined ? once(socket, 'data') : null));
  for (const [no, socket] of sockets.entries()) socket.write(typeof text === 'string' ? text : text(no));
  await Promise.all(answered);
  if (when !== undefined) await until(when, 'they may leave');
  for (const socket of sockets) socket.destroy();
}

test('of assets that nobody waits for no file stays open', {
  skip: existsSync('/proc/self/fd') ? false : 'needs the list of open files that Linux has',
}, async () => {
  const openFiles = () => readdirSync(`/proc/${shared.service.pid}/fd`).length;
  const { body } = await shared.get<string>('/');
  const [asset] = /\/assets\/[^"]+\.js/.exec(body) ?? assert.fail('the page has a script');
  await sendAndLeave(1, head('GET', asset));
  const before = openFiles();
  for (let round = 0; round < 3; round++) await sendAndLeave(50, head('GET', asset).repeat(16));
  await until(() => openFiles() <= before + 5, 'its connections are closed, and nothing else is open');
});

test('of pipelined large answers that nobody reads a connection has one, and others are answered', {
  skip: existsSync('/proc/self/status') ? false : 'needs the memory of a process as Linux has it',
}, async () => {
  const anonymousMb = () =>
    Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${shared.service.pid}/status`, 'utf8'))?.[1]) / 1024;
  const { body } = await shared.get<object>('/openapi.json');
  const answerMb = JSON.stringify(body).length / 2 ** 20;
  const before = anonymousMb();
  const sockets = await connected(300);
  for (const socket of sockets) socket.pause().write(head('GET', '/openapi.json').repeat(16));
  for (let no = 0; no < 50; no++) assert.equal((await shared.get('/healthz')).status, 200);
  const grown = anonymousMb() - before;
  for (const socket of sockets) socket.destroy();
  // Sixteen times as much if all were made; the rest is what a connection and garbage take.
  assert.ok(grown < 4 * answerMb * sockets.length, `${grown} MB for answers of ${answerMb} MB`);
});

test('pipelined streams of events take a place for each connection, and none when their clients have left', async () => {
  const subscribers = async () =>
    Number(/^event_subscribers (\d+)$/m.exec((await shared.get<string>('/metrics')).body)?.[1]);
  await sendAndLeave(20, head('GET', '/v1/events').repeat(4), async () => (await subscribers()) === 16);
  await until(async () => (await subscribers()) === 0, 'all places are free');
});

test('batches of searches end with their clients, and others are answered', async () => {
  await shared.add(
    Array.from({ length: 20 }, (_, at) => ({
      url: `https://a.example/${at}`,
      body_extracted: `The heron ${at} stands still.`,
    })),
  );
  const batch = (word: string, no: number) =>
    JSON.stringify({ queries: Array.from({ length: 20 }, (_, at) => `${word} ${no} ${at}`), k: 100 });
  const request = (no: number) => {
    const body = batch('heron', no);
    return `${head('POST', '/v1/search/batch', 'content-type: application/json', `content-length: ${body.length}`)}${body}`;
  };
  const asked = (word: string) => provider.calls.filter(({ body }) => JSON.stringify(body).includes(word)).length;
  const before = asked('heron');
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  provider.faultOf = ({ body }) =>
    JSON.stringify(body).includes('heron') ? { kind: 'hang' } : { kind: 'late', after: released };
  const batches = 12;
  await sendAndLeave(batches, request, () => asked('heron') - before === batchesAtOnce);
  // Batches have their turns in order: when these have all of them, those of the clients that left are over.
  const others = Array.from({ length: batchesAtOnce }, (_, no) => shared.post('/v1/search/batch', batch('otter', no)));
  await until(() => asked('otter') === batchesAtOnce, 'others have their turns');
  release();
  for (const { status } of await Promise.all(others)) assert.equal(status, 200);
  const begun = asked('heron') - before;
  assert.ok(begun <= batches, `${begun} searches were begun, and a batch that is left begins no second one`);
  const runs = async () =>
    (await shared.found<QueryLogListResponse>('/v1/admin/query-log?limit=1000')).runs.map(
      ({ query_text }) => query_text,
    );
  await until(
    async () => (await runs()).filter((text) => text.startsWith('otter')).length === 20 * batchesAtOnce,
    'logged',
  );
  assert.equal((await runs()).length, 20 * batchesAtOnce, 'of the clients that left no search is logged');
});
