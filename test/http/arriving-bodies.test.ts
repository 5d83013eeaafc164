import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { BodyRoom } from '../../src/compute/structures/body-room.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { ClientPace, paceLimits } from '../../src/http/client-sockets.ts';
import { deferred } from '../deferred.ts';
import { until } from '../process/service.ts';
import { listenAnywhere, rawHead, testServer, writer } from './test-server.ts';

/** A client that has sent this, and reads what comes back away. */
async function sending(t: TestContext, port: number, part: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').resume();
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(part);
  return socket;
}

test('bodies beyond the room are not read until others are answered, and small ones do not wait', async (t) => {
  const size = 1_000_000;
  const { app, asked } = testServer(t, {}, { bounds: { bodies: new BodyRoom(size) } });
  const body = JSON.stringify({ url: 'https://a.example/', body_extracted: 'x'.repeat(size) });
  const received = new Map<number | undefined, number>();
  app.addHook('preParsing', (request, _reply, payload, done) => {
    request.raw.on('data', (bytes: Buffer) => {
      const from = request.raw.socket.remotePort;
      received.set(from, (received.get(from) ?? 0) + bytes.length);
    });
    done(null, payload);
  });
  const port = await listenAnywhere(app);
  const head = rawHead('POST', '/v1/pages', 'content-type: application/json', `content-length: ${body.length}`);
  const sockets: Socket[] = [];
  for (let no = 0; no < 3; no++) sockets.push(await sending(t, port, head + body.slice(0, size - 1)));
  // One has come as far as it was sent, beside it only pieces of the others.
  const total = () => [...received.values()].reduce((sum, bytes) => sum + bytes, 0);
  await until(() => total() >= size - 1, 'the room is taken');
  const small = await fetch(`http://127.0.0.1:${port}/v1/pages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${writer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://b.example/' }),
  });
  assert.equal(small.status, 404);
  assert.ok(total() < 2.5 * size, `${total()} bytes were taken`);
  for (const socket of sockets) socket.write(body.slice(size - 1));
  await until(() => asked.length === 4, 'all are answered, one after another');
  assert.equal(total(), 3 * body.length + Buffer.byteLength(JSON.stringify({ url: 'https://b.example/' })));
});

test('bodies without an end on routes that do not write do not hold up pages', async (t) => {
  const size = 1_000_000;
  const { app } = testServer(t, {}, { bounds: { bodies: new BodyRoom(size) } });
  let received = 0;
  app.addHook('preParsing', (request, _reply, payload, done) => {
    request.raw.on('data', (bytes: Buffer) => {
      received += bytes.length;
    });
    done(null, payload);
  });
  const port = await listenAnywhere(app);
  const paths = ['/v1/search', '/v1/search/batch', '/mcp', '/v1/sessions'];
  for (const path of paths) {
    const head = rawHead('POST', path, 'content-type: application/json', `content-length: ${size}`);
    await sending(t, port, head + ' '.repeat(size - 1));
  }
  await until(() => received === paths.length * (size - 1), 'the bodies have arrived but for their ends');
  const { status } = await fetch(`http://127.0.0.1:${port}/v1/pages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${writer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://b.example/', body_extracted: 'x'.repeat(size / 2) }),
  });
  assert.equal(status, 404);
});

test('a body in crumbs is cut off, one in small pieces is read', async (t) => {
  const { app, asked } = testServer(t);
  const port = await listenAnywhere(app);
  const head = rawHead('POST', '/v1/pages', 'content-type: application/json', 'transfer-encoding: chunked');
  const send = async (piece: string, count: number) => {
    const socket = connect(port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    let text = '';
    socket
      .on('error', () => {})
      .on('data', (data) => {
        text += data;
        socket.end();
      });
    const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
    const chunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
    socket.write(head + chunks('{"url":"https://a.example/","body_extracted":"'));
    for (let sent = 0; sent < count && !socket.destroyed; sent += 1_000) socket.write(chunk.repeat(1_000));
    socket.write(`${chunks('"}')}0\r\n\r\n`);
    await closed;
    return text.slice(9, 12);
  };
  assert.equal(await send('x'.repeat(80), 20_000), '404');
  assert.equal(asked.length, 1);
  assert.equal(await send('x', 200_000), '');
  assert.equal(asked.length, 1);
});

test('a body that stops arriving is answered 408 on every route, one that waits to be read here is not', async (t) => {
  const gate = deferred();
  let imports = 0;
  const { app } = testServer(
    t,
    {
      'import.begin': async ({ bytes }) => {
        if (++imports === 1) await gate.promise;
        let length = 0;
        for await (const piece of bytes) length += piece.length;
        throw new DomainError('invalid', `${length} bytes were read`);
      },
    },
    { bounds: { pace: new ClientPace({ ...paceLimits, bodyMs: 20, bodyBytes: 1, lookEveryMs: 20 }) } },
  );
  const port = await listenAnywhere(app);
  const send = async (path: string, type: string, length: number, part: string) => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(rawHead('POST', path, `content-type: ${type}`, `content-length: ${length}`) + part);
    return socket;
  };
  const [json, file] = ['application/json', 'application/octet-stream'];
  const size = 1_000_000;
  const waiting = await send('/v1/imports?name=a', file, size, 'x'.repeat(size));
  await until(() => imports === 1, 'it waits to be read');
  for (const [path, type, length] of [
    ['/v1/search', json, 1_000],
    ['/v1/pages', json, 16 * size],
    ['/mcp', json, 4 * size],
    ['/v1/imports?name=a', file, size],
  ] as const) {
    const socket = await send(path, type, length, '{"que');
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 408 /, path);
  }
  const answered = once(waiting, 'data');
  gate.resolve();
  assert.match(String((await answered)[0]), /^HTTP\/1\.1 422 [\s\S]*1000000 bytes were read/);
  waiting.destroy();
});
