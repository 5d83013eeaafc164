/** Servers that speak HTTP oddly, or to do harm, on raw sockets: each ends in the page or in a fault that is told, and in no open socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { statusError, type WebAnswer } from '../../src/providers/web-fetch.ts';
import { HandClock } from './hand-clock.ts';
import { failure, fetcher, loopback, never } from './test-fetch.ts';

type Answer = (socket: Socket) => void;

/** A server that answers what it is told to, byte by byte; its address. `asked` resolves when a request has come. */
async function openServer(t: TestContext, answers: Record<string, Answer>) {
  const sockets = new Set<Socket>();
  let arrived = () => {};
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // the fetch leaves early where it has seen enough
    socket.once('data', (request) => {
      answers[request.toString().split(' ')[1] ?? '']?.(socket);
      arrived();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: (path: string) => `http://127.0.0.1:${port}${path}`, open: () => sockets.size, asked };
}

const page = '<p>The weir</p>';
const ok = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n';
const sized = `content-length: ${page.length}\r\n\r\n${page}`;
const chunk = `${page.length.toString(16)}\r\n${page}\r\n`;
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

const say =
  (...parts: (string | Buffer)[]): Answer =>
  (socket) =>
    socket.end(Buffer.concat(parts.map((part) => Buffer.from(part))));
const packed = (encoding: string, body: Buffer) =>
  say(`${ok}content-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`, body);
/** Goes on saying the same as long as anybody listens. */
const sayOn =
  (start: string, more: string): Answer =>
  (socket) => {
    const extendTime = () => {
      while (!socket.destroyed && socket.write(more));
    };
    socket.on('drain', extendTime);
    socket.write(start);
    extendTime();
  };

const gzipped = gzipSync(page);
const header = (bytes: number) => `x-a: ${'a'.repeat(bytes)}\r\n`;

const pages: Record<string, Answer> = {
  'a header of 60 KB': say(ok, header(60_000), sized),
  'many headers': say(ok, 'x: y\r\n'.repeat(1500), sized),
  'a wall of cookies': say(ok, `set-cookie: a=${'b'.repeat(100)}\r\n`.repeat(400), sized),
  'chunks with extensions': say(chunked, `${page.length.toString(16)};a=b;c="d"\r\n${page}\r\n0;e\r\n\r\n`),
  'trailers, one of them a redirect': say(chunked, chunk, '0\r\nlocation: /evil\r\n\r\n'),
  'a body that is longer than announced': say(`${ok}content-length: ${page.length}\r\n\r\n${page} and more`),
  'a length and chunks': say(`${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n`, chunk, '0\r\n\r\n'),
  'hints before the answer': say('HTTP/1.1 103 Early Hints\r\nlocation: /evil\r\n\r\n'.repeat(50), ok, sized),
  'two answers': say(ok, sized, 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'),
  'lines that end without CR': say(`${ok}${sized}`.replaceAll('\r', '')),
  'a header in two lines': say(`${ok}content-security-policy: default-src 'self';\r\n  img-src *\r\n${sized}`),
  'gzip with zeros behind it': packed('gzip', Buffer.concat([gzipped, Buffer.alloc(512)])),
  'deflate with more behind it': packed('deflate', Buffer.concat([deflateSync(page), Buffer.from('more')])),
  'gzip in Brotli': packed('gzip, br', brotliCompressSync(gzipped)),
  'an encoding that nobody knows': packed('plain', Buffer.from(page)),
  'a status that nobody knows': say(`HTTP/1.1 299 What\r\ncontent-type: text/html\r\n${sized}`),
  'a part that is the whole': say(
    `HTTP/1.1 206 Partial\r\ncontent-range: bytes 0-${page.length - 1}/${page.length}\r\n${sized}`,
  ),
};

for (const [name, answer] of Object.entries(pages)) {
  test(`the page: ${name}`, async (t) => {
    const server = await openServer(t, { '/': answer });
    const got = await fetcher()(server.url('/'), { signal: never });
    assert.deepEqual([Buffer.from(got.body).toString(), got.redirects], [page, []]);
    assert.equal(statusError(got), null);
    while (server.open() > 0) await setImmediate();
  });
}

const broken = (code: string) => `the answer broke off or is not HTTP (${code})`;
const faults: Record<string, [Answer, string]> = {
  'a header over 64 KB': [say(ok, header(66_000), sized), broken('HPE_HEADER_OVERFLOW')],
  'endless headers': [sayOn(ok, header(1000)), broken('HPE_HEADER_OVERFLOW')],
  'an endless extension of a chunk': [sayOn(`${chunked}f;a=`, 'b'.repeat(65_536)), broken('ECONNRESET')],
  'endless trailers': [sayOn(`${chunked}${chunk}0\r\n`, header(1000)), broken('ECONNRESET')],
  'endless hints': [sayOn('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)), 'timed out after 0.5 s'],
  'two lengths': [
    say(`${ok}content-length: 1\r\ncontent-length: 15\r\n\r\n${page}`),
    broken('HPE_UNEXPECTED_CONTENT_LENGTH'),
  ],
  'a chunk larger than anything': [say(chunked, 'ffffffffffffffffff\r\n', page), broken('ECONNRESET')],
  'another protocol': [
    (socket) => socket.write('HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
    broken('unknown'),
  ],
  'HTTP/2': [say(Buffer.from('000006040000000000000300000064', 'hex')), broken('HPE_INVALID_CONSTANT')],
  'no HTTP': [say(page), broken('HPE_INVALID_CONSTANT')],
  'gzip that is none': [
    packed('gzip, br', brotliCompressSync(page)),
    'the answer does not have its declared encoding (Z_DATA_ERROR)',
  ],
  'gzip that breaks off': [
    packed('gzip', gzipped.subarray(0, -4)),
    'the answer does not have its declared encoding (Z_BUF_ERROR)',
  ],
  'gzip with text behind it': [
    packed('gzip', Buffer.concat([gzipped, Buffer.from('more')])),
    'the answer does not have its declared encoding (Z_DATA_ERROR)',
  ],
};

for (const [name, [answer, message]] of Object.entries(faults)) {
  test(`a fault: ${name}`, async (t) => {
    const server = await openServer(t, { '/': answer });
    const clock = message.startsWith('timed out') ? new HandClock() : null;
    const limit = clock === null ? {} : { clock, timeoutMs: 500 };
    const failed = failure(fetcher(limit)(server.url('/'), { signal: never }));
    if (clock !== null) {
      await server.asked;
      await clock.advance(500);
    }
    const error = await failed;
    assert.deepEqual([error.message, error.permanent], [message, false]);
    while (server.open() > 0) await setImmediate();
  });
}

test('a part of a page that was not asked for is no page', async (t) => {
  const part = (range: string) => say(`HTTP/1.1 206 Partial\r\ncontent-range: ${range}\r\n${sized}`);
  const ranges = ['bytes 0-14/5000', 'bytes 10-24/25', 'bytes 0-14/*', 'lines 1-2/2'];
  const server = await openServer(t, Object.fromEntries(ranges.map((range, at) => [`/${at}`, part(range)])));
  for (const at of ranges.keys()) {
    const error = statusError(await fetcher()(server.url(`/${at}`), { signal: never }));
    assert.deepEqual([error?.message, error?.permanent], ['HTTP 206', false]);
  }
});

test('where a redirect leads to, as servers write it', async (t) => {
  const targets: Record<string, [location: string, finalPath: string]> = {
    '/relative': ['end', '/end'],
    '/fragment': ['/end#part', '/end#part'],
    '/without-scheme': ['//localhost.test:PORT/end', '//localhost.test:PORT/end'],
    '/backslashes': ['\\end', '/end'],
    '/space': [' /end?a b ', '/end?a%20b'],
    '/utf-8': [Buffer.from('/é?é').toString('latin1'), '/%C3%A9?%C3%A9'],
    '/latin-1': ['/\xe9', '/%E9'],
    '/idn': [Buffer.from('//bücher.test:PORT/end').toString('latin1'), '//xn--bcher-kva.test:PORT/end'],
  };
  let port = '';
  const redirect = (location: string): Answer => {
    return (socket) =>
      socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location.replace('PORT', port)}\r\n\r\n`, 'latin1');
  };
  const server = await openServer(t, {
    ...Object.fromEntries(Object.entries(targets).map(([path, [location]]) => [path, redirect(location)])),
    ...Object.fromEntries(['/end', '/end?a%20b', '/%C3%A9?%C3%A9', '/%E9'].map((path) => [path, say(ok, sized)])),
  });
  port = new URL(server.url('/')).port;
  const fetchPage = fetcher({ lookup: async () => loopback });
  for (const [path, [, finalPath]] of Object.entries(targets)) {
    const { finalUrl, body }: WebAnswer = await fetchPage(server.url(path), { signal: never });
    const expected = new URL(finalPath.replace('PORT', port), server.url('/')).href;
    assert.deepEqual([finalUrl, Buffer.from(body).toString()], [expected, page], path);
  }
});

test('a header with control characters is left out, so that none is sent back', async (t) => {
  const server = await openServer(t, { '/': say(`${ok}etag: "a\u0001b"\r\nlast-modified: today\r\n${sized}`) });
  const { headers } = await fetcher()(server.url('/'), { signal: never });
  assert.deepEqual([headers.etag, headers['last-modified']], [undefined, 'today']);
});
