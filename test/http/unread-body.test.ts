import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import fastify from 'fastify';
import { type DrainLimits, drainUnreadBodies } from '../../src/http/arriving-bodies.ts';
import { patienceMs } from '../process/service.ts';
import { listenAnywhere, reader, testServer, writer } from './test-server.ts';

async function listening(t: TestContext) {
  const { app } = testServer(t, {}, { bounds: { drain: { ms: patienceMs, bytes: 64 << 20, atOnce: 32 } } });
  return `http://127.0.0.1:${await listenAnywhere(app)}`;
}

interface Sending {
  token?: string;
  headers?: Record<string, string>;
}

/** As programs of Node send: the body in one piece, waiting for the answer, failing on any error of the connection. */
async function byHttp(url: string, body: Buffer, { token = writer, headers = {} }: Sending = {}) {
  const request = httpRequest(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
  request.end(body);
  const [response] = await once(request, 'response');
  let text = '';
  for await (const part of response) text += part;
  return [response.statusCode, JSON.parse(text)];
}

async function byFetch(url: string, body: Buffer | ReadableStream, { token = writer, headers = {} }: Sending = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  });
  return [response.status, await response.json()];
}

const tooLarge = [413, { detail: 'the body is larger than 16777216 bytes' }];
const large = Buffer.alloc(24 << 20, 0x20);

test('a client that is still sending too large a body gets its 413, whether it says the length or not', async (t) => {
  const url = await listening(t);
  const chunked = { headers: { 'transfer-encoding': 'chunked' } };
  for (let turn = 0; turn < 3; turn++) {
    assert.deepEqual(await byHttp(`${url}/v1/pages`, large), tooLarge);
    assert.deepEqual(await byHttp(`${url}/v1/pages`, large, chunked), tooLarge);
    assert.deepEqual(await byFetch(`${url}/v1/pages`, large), tooLarge);
    assert.deepEqual(await byFetch(`${url}/v1/pages`, new Blob([large]).stream()), tooLarge);
  }
});

test('a client that is refused before its body was read gets its 401, 403 or 404', async (t) => {
  const url = await listening(t);
  const cases = [
    ['/v1/pages', { token: 'wrong' }, 401],
    ['/v1/pages', { token: reader }, 403],
    ['/v1/pages', { headers: { origin: 'https://elsewhere.example' } }, 403],
    ['/v1/none', {}, 404],
  ] as const;
  for (const [path, sending, status] of cases) {
    assert.equal((await byHttp(url + path, large, sending))[0], status, path);
    assert.equal((await byFetch(url + path, large, sending))[0], status, path);
  }
});

const bodyBytes = 8 << 20;

/** A server that refuses every body, and what a client that never stops sending sees of it. */
async function refusing(t: TestContext, limits: DrainLimits) {
  const app = fastify({ bodyLimit: 1 });
  drainUnreadBodies(app, limits);
  app.post('/', async () => ({}));
  t.after(() => app.close());
  const port = await listenAnywhere(app);
  return async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${bodyBytes}\r\n\r\n`,
    );
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 413 .*connection: close.*\r\n\r\n\{.*\}$/is);
    return socket;
  };
}

test('a body that goes on is taken for a bounded time and amount, and then the connection is closed', async (t) => {
  const patient = await (await refusing(t, { ms: 60_000, bytes: 1 << 20, atOnce: 1 }))();
  // What it sent behind the bound may be answered by a reset, which is a close, too.
  const closed = new Promise((resolve) => patient.once('close', resolve));
  for (let sent = 0; sent <= 1 << 20; sent += 1 << 18) patient.write(Buffer.alloc(1 << 18));
  await closed;

  const silent = await (await refusing(t, { ms: 1, bytes: Number.POSITIVE_INFINITY, atOnce: 1 }))();
  await once(silent, 'close');
});

test('so many bodies are taken at once; the next is answered and cut, until one has ended', async (t) => {
  const send = await refusing(t, { ms: 60_000, bytes: bodyBytes, atOnce: 1 });
  const first = await send();
  await once(await send(), 'close');
  assert.equal(first.readyState, 'open');
  first.write(Buffer.alloc(bodyBytes));
  await once(first, 'close');
  const second = await send();
  await once(await send(), 'close');
  assert.equal(second.readyState, 'open');
  second.destroy();
});
