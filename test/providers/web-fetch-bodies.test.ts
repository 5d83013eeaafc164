/** How much is fetched, and how it is packed: bodies within their limits (docs/fetching.md), against real servers on loopback. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { HandClock } from './hand-clock.ts';
import { Site, say } from './small-web.ts';
import { failure, fetcher, never } from './test-fetch.ts';

const text = 'grüße '.repeat(1000);
const packings: Record<string, Uint8Array> = {
  gzip: gzipSync(text),
  'x-gzip': gzipSync(text),
  br: brotliCompressSync(text),
  deflate: deflateSync(text),
  'DEFLATE ': deflateRawSync(text),
  'gzip, gzip': gzipSync(gzipSync(text)),
  'gzip,br': brotliCompressSync(gzipSync(text)),
  identity: Buffer.from(text),
  'utf-8': Buffer.from(text),
};

const wideWindow = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: 2 ** 24 };

/** A site whose slow page stops after so many bytes, until it is let go. */
async function slowSite(t: Parameters<typeof Site.open>[0], slow: Buffer, sent: number) {
  const large = Buffer.alloc(9_000_000, 'a');
  let ends: (() => void)[] | null = [];
  const site = await Site.open(t, {
    '/slow': (_request, response) => {
      response.write(slow.subarray(0, sent));
      const end = () => response.end(slow.subarray(sent));
      if (ends === null) end();
      else ends.push(end);
    },
    '/large': say(large),
    '/small': say('small'),
    '/br': say(packings.br, { 'content-encoding': 'br' }),
    '/br-drip': (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'br' }).write(packings.br.subarray(0, 1));
    },
  });
  const letGo = () => {
    for (const end of ends ?? []) end();
    ends = null;
  };
  return { site, large, letGo };
}

test('bodies are unpacked as they say, twice if need be', async (t) => {
  for (const [name, body] of Object.entries(packings)) {
    const site = await Site.open(t, { '/': say(body, { 'content-encoding': name }) });
    const answer = await fetcher()(site.url(), { signal: never });
    assert.equal(Buffer.from(answer.body).toString(), text, name);
  }
});

test('a body that is not packed as it says has a typed failure', async (t) => {
  const wrong: [string, Uint8Array, string, boolean][] = [
    ['gzip', Buffer.from('plain'), 'the answer does not have its declared encoding (Z_DATA_ERROR)', false],
    ['gzip', gzipSync(text).subarray(0, -12), 'the answer does not have its declared encoding (Z_BUF_ERROR)', false],
    ['zstd', Buffer.from('plain'), 'unsupported content encoding zstd', true],
    ['gzip,gzip,gzip,gzip', Buffer.from('plain'), 'the answer is compressed too often', false],
    ['br', brotliCompressSync(text, { params: wideWindow }), 'the answer needs too much memory to decompress', true],
  ];
  for (const [name, body, message, permanent] of wrong) {
    const site = await Site.open(t, { '/': say(body, { 'content-encoding': name }) });
    const error = await failure(fetcher()(site.url(), { signal: never }));
    assert.deepEqual([error.code, error.message, error.permanent], ['bad_encoding', message, permanent]);
  }
});

test('bombs of every packing end at the limit, in little memory', async (t) => {
  const zeros = Buffer.alloc(80_000_000);
  const packed = gzipSync(zeros);
  const bombs: Record<string, Uint8Array> = {
    gzip: packed,
    deflate: deflateSync(zeros),
    br: brotliCompressSync(zeros, { params: { 1: 1 } }),
    'gzip,gzip': gzipSync(packed),
  };
  for (const [name, body] of Object.entries(bombs)) {
    const site = await Site.open(t, { '/': say(body, { 'content-encoding': name }) });
    // What the collector of garbage has left of something else is not there a second time.
    let grown = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3 && grown >= 40_000_000; round++) {
      const before = process.memoryUsage().rss;
      const error = await failure(fetcher()(site.url(), { signal: never }));
      grown = Math.min(grown, process.memoryUsage().rss - before);
      assert.deepEqual([error.message, error.permanent], ['larger than 1000000 bytes', true], name);
    }
    assert.ok(grown < 40_000_000, `${name}: ${grown} bytes`);
  }
});

test('an endless body ends at the limit, an announced one before it is sent', async (t) => {
  const site = await Site.open(t, {
    '/endless': (_request, response) => {
      const more = () => {
        while (response.writable && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', more);
      more();
    },
    '/announced': (_request, response) => {
      response.writeHead(200, { 'content-length': '1000001' }).flushHeaders();
    },
    '/full': say(Buffer.alloc(1_000_000)),
  });
  for (const path of ['/endless', '/announced']) {
    const error = await failure(fetcher()(site.url(path), { signal: never }));
    assert.equal(error.message, 'larger than 1000000 bytes');
  }
  assert.equal((await fetcher()(site.url('/full'), { signal: never })).body.length, 1_000_000);
});

test('bodies that come slowly hold up nobody', async (t) => {
  const body = Buffer.alloc(9_000_000, 'a');
  // Together with one large body they stay within the room, whatever comes first.
  const { site, large, letGo } = await slowSite(t, body, 1_100_000);
  const clock = new HandClock();
  const fetchPage = fetcher({ clock, maxBytes: 10_000_000 });
  const stop = new AbortController();
  const drips = Array.from({ length: 10 }, () => fetchPage(site.url('/br-drip'), { signal: stop.signal }));
  const slow = Array.from({ length: 10 }, () => fetchPage(site.url('/slow'), { signal: never }));
  for (const drip of drips) drip.catch(() => {});
  for (let i = 0; i < 3; i++) {
    assert.equal((await fetchPage(site.url('/large'), { signal: never })).body.length, large.length);
    assert.equal(Buffer.from((await fetchPage(site.url('/br'), { signal: never })).body).toString(), text);
  }
  stop.abort(new Error('left'));
  for (const drip of drips) await assert.rejects(drip, { message: 'left' });
  letGo();
  for (const page of await Promise.all(slow)) assert.equal(page.body.length, body.length);
});

test('large bodies wait for one another when all of them are too much, without their time running out', async (t) => {
  const body = Buffer.alloc(13_000_000, 'a');
  const { site, large, letGo } = await slowSite(t, body, 12_500_000);
  const clock = new HandClock();
  const fetchPage = fetcher({ clock, maxBytes: 15_000_000, timeoutMs: 1000 });
  const slow = [1, 2].map(() => fetchPage(site.url('/slow'), { signal: never, timeoutMs: 60_000 }));
  // One of them goes first; the other has what room there is, wants more, and its time stands still.
  while (site.asked.length < 2 || clock.waiting > 1) await setImmediate();
  const stop = new AbortController();
  const left = fetchPage(site.url('/large'), { signal: stop.signal });
  left.catch(() => {});
  const waiting = [1, 2, 3].map(() => fetchPage(site.url('/large'), { signal: never }));
  while (site.asked.length < 6 || clock.waiting > 1) await setImmediate(); // of those four, too
  await clock.advance(5000);
  assert.equal(Buffer.from((await fetchPage(site.url('/small'), { signal: never })).body).toString(), 'small');
  stop.abort(new Error('left'));
  await assert.rejects(left, { message: 'left' });
  letGo();
  for (const page of await Promise.all(slow)) assert.equal(page.body.length, body.length);
  for (const page of await Promise.all(waiting)) assert.equal(page.body.length, large.length);
});

test('a body of another length than announced', async (t) => {
  const raw = (text: string) => (request: { socket: { end(text: string): void } }) => {
    request.socket.end(`HTTP/1.1 200 OK\r\n${text}`);
  };
  const site = await Site.open(t, {
    '/short': raw('Content-Length: 100\r\n\r\nhalf'),
    '/long': raw('Content-Length: 4\r\n\r\nhalf and the rest'),
    '/none': raw('\r\nuntil the end'),
    '/chunked': raw('Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'),
    '/nonsense': (request) => request.socket.end('what?\r\n\r\n'),
    '/nothing': (request) => request.socket.destroy(),
  });
  const bodyOf = async (path: string) =>
    Buffer.from((await fetcher()(site.url(path), { signal: never })).body).toString();
  assert.equal(await bodyOf('/long'), 'half');
  assert.equal(await bodyOf('/none'), 'until the end');
  const messages = await Promise.all(
    ['/short', '/chunked', '/nonsense', '/nothing'].map(async (path) => {
      const { message, permanent } = await failure(fetcher()(site.url(path), { signal: never }));
      return [path, message, permanent];
    }),
  );
  assert.deepEqual(messages, [
    ['/short', 'the answer broke off or is not HTTP (ECONNRESET)', false],
    ['/chunked', 'the answer broke off or is not HTTP (ECONNRESET)', false],
    ['/nonsense', 'the answer broke off or is not HTTP (HPE_INVALID_CONSTANT)', false],
    ['/nothing', 'the answer broke off or is not HTTP (ECONNRESET)', false],
  ]);
});

test('a body that goes elsewhere has limits of its own, and what cannot be taken ends the fetch', async (t) => {
  const body = Buffer.alloc(3_000_000, 'sound');
  const site = await Site.open(t, {
    '/a': say(body),
    '/packed': say(gzipSync(body), { 'content-encoding': 'gzip' }),
    '/missing': say('nothing here', {}, 404),
  });
  const fetch = fetcher();
  const sinkOf = (maxBytes: number, write: (bytes: Uint8Array) => Promise<void>) => ({
    signal: new AbortController().signal,
    admit: () => ({ maxBytes, timeoutMs: 600_000, write }),
  });
  for (const path of ['/a', '/packed']) {
    const taken: Buffer[] = [];
    // The bytes are gone when they are taken.
    const answer = await fetch(
      site.url(path),
      sinkOf(body.length, async (bytes) => void taken.push(Buffer.from(bytes))),
    );
    assert.deepEqual([answer.status, answer.body.length], [200, 0]);
    assert.ok(Buffer.concat(taken).equals(body), path);
    const { code, message } = await failure(
      fetch(
        site.url(path),
        sinkOf(body.length - 1, async () => {}),
      ),
    );
    assert.deepEqual([code, message], ['too_large', 'larger than 2999999 bytes']);
  }
  const full = new Error('no room');
  await assert.rejects(
    fetch(
      site.url('/a'),
      sinkOf(body.length, () => Promise.reject(full)),
    ),
    (error) => error === full,
  );
  const missing = await fetch(
    site.url('/missing'),
    sinkOf(9, () => assert.fail('it is not asked')),
  );
  assert.equal(Buffer.from(missing.body).toString(), 'nothing here');
  await assert.rejects(fetch(site.url('/missing'), { signal: AbortSignal.abort(full) }), (error) => error === full);
});
