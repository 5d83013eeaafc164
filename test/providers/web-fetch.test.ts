/** What is fetched from where, and how much of it: the policy of docs/fetching.md, against real servers on loopback. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { FetchError } from '../../src/providers/fetch-error.ts';
import type { ResolvedAddress } from '../../src/providers/resolve-host.ts';
import { createWebFetch, statusError, type WebFetchOptions } from '../../src/providers/web-fetch.ts';
import { HandClock } from './hand-clock.ts';
import { redirectTo, Site, say } from './small-web.ts';

const never = new AbortController().signal;

function fetcher(options: Partial<WebFetchOptions> = {}) {
  return createWebFetch({
    allowPrivateHosts: ['127.0.0.1'],
    perHostGapMs: 0,
    timeoutMs: 10_000,
    maxBytes: 1_000_000,
    userAgent: 'readback/0 (test)',
    ...options,
  });
}

/** The error that a fetch ends with. */
async function failure(fetched: Promise<unknown>): Promise<FetchError> {
  const error = await fetched.then(
    () => assert.fail('it was answered'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FetchError, String(error));
  return error;
}

const loopback = [{ address: '127.0.0.1', family: 4 }];

/** Every way to write an address that must not be fetched from; PORT is the port of a server that listens on loopback. */
const hostile = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
  ],
  ...['127.255.255.254', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1', 'localhost', 'localhost.', 'LOCALHOST'],
  ...['0', '0.0.0.0', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
  ...[
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '[::ffff:a9fe:a9fe]',
    '0251.0376.1',
  ],
  ...['100.64.0.1', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
  ...['255.255.255.255', '[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]'],
  ...[
    '[3fff::1]',
    '[100::1]',
    '[5f00::1]',
    '[4000::1]',
    '[2001:20::1]',
    'user:secret@127.0.0.1',
    'example.com@127.0.0.1',
  ],
  ...[
    '0x7f.0x0.0x0.0x1',
    '0177.1',
    '0x0a000001',
    '[::ffff:169.254.169.254]',
    '[0:0:0:0:0:ffff:c0a8:1]',
    '[::ffff:0:a00:1]',
  ],
];

test('no form of a private, loopback or special address is connected to', async (t) => {
  const site = await Site.open(t, { '*': say('secret') });
  const fetchPage = fetcher({ allowPrivateHosts: [], lookup: async () => loopback });
  assert.ok(new Set(hostile).size >= 60);
  for (const host of hostile) {
    const error = await failure(fetchPage(`http://${host}:${site.port}/`, { signal: never }));
    assert.deepEqual([error.code, error.message, error.permanent], ['blocked_address', 'blocked address', true], host);
  }
  assert.equal(site.connections, 0);
});

test('no form of such an address is connected to after a redirect', async (t) => {
  const inner = await Site.open(t, { '*': say('secret') });
  const pages = Object.fromEntries(
    hostile
      .filter((host) => !host.endsWith('127.0.0.1') || host.includes('::'))
      .map((host, at) => [`/${at}`, redirectTo(`http://${host}:${inner.port}/`)]),
  );
  const outer = await Site.open(t, pages);
  const fetchPage = fetcher({
    allowPrivateHosts: ['pub.test'],
    lookup: async (name) => (name === 'pub.test' ? loopback : [{ address: '127.0.0.2', family: 4 }]),
  });
  for (const path of Object.keys(pages)) {
    const error = await failure(fetchPage(outer.url(path, 'pub.test'), { signal: never }));
    assert.equal(error.message, 'blocked address', path);
  }
  assert.equal(inner.connections, 0);
});

test('only http and https are fetched, also after a redirect', async (t) => {
  const schemes = ['file:///etc/passwd', 'ftp://127.0.0.1/', 'gopher://127.0.0.1/', 'data:text/html,x', 'about:blank'];
  const site = await Site.open(t, Object.fromEntries(schemes.map((location, at) => [`/${at}`, redirectTo(location)])));
  for (const [at, address] of schemes.entries()) {
    const scheme = address.slice(0, address.indexOf(':'));
    for (const given of [address, site.url(`/${at}`)]) {
      const error = await failure(fetcher()(given, { signal: never }));
      assert.deepEqual([error.message, error.permanent], [`unsupported scheme ${scheme}`, true]);
    }
  }
});

test('a name is connected to at the address that was checked, whatever it says afterwards', async (t) => {
  const site = await Site.open(t, { '/': redirectTo('/next'), '/next': say('inside') }, '0.0.0.0');
  const answers: ResolvedAddress[][] = [loopback, [{ address: '127.0.0.2', family: 4 }]];
  let asked = 0;
  const fetchPage = fetcher({ lookup: async () => answers[asked++] ?? [] });
  const error = await failure(fetchPage(site.url('/', 'pub.test'), { signal: never }));
  assert.equal(error.message, 'blocked address');
  assert.equal(asked, 2, 'a name is looked up once a hop');
  assert.deepEqual(site.asked, ['/']);
});

test('of the addresses of a name only those are used that may be', async (t) => {
  const site = await Site.open(t, { '/': say('fine') });
  const mixed = [{ address: '10.0.0.1', family: 4 }, { address: '::ffff:10.0.0.1', family: 6 }, ...loopback];
  const answer = await fetcher({ lookup: async () => mixed })(site.url('/', 'pub.test'), { signal: never });
  assert.equal(Buffer.from(answer.body).toString(), 'fine');
  const error = await failure(
    fetcher({ lookup: async () => mixed.slice(0, 2) })(site.url('/', 'pub.test'), { signal: never }),
  );
  assert.equal(error.message, 'blocked address');
});

test('the operator lists names, addresses and ranges, matched against the host and the resolved address', async (t) => {
  const site = await Site.open(t, { '/': say('fine') });
  const lookup = async () => loopback;
  const answers = async (allow: string[], host: string) => {
    const fetchPage = fetcher({ allowPrivateHosts: allow, lookup });
    try {
      return (await fetchPage(site.url('/', host), { signal: never })).status;
    } catch (error) {
      return error instanceof FetchError ? error.code : error;
    }
  };
  assert.equal(await answers(['wiki.home'], 'wiki.home'), 200);
  assert.equal(await answers(['WIKI.home.'], 'wiki.home'), 200);
  assert.equal(await answers(['wiki.home'], 'a.wiki.home'), 'blocked_address');
  assert.equal(await answers(['wiki.home'], '127.0.0.1'), 'blocked_address');
  assert.equal(await answers(['127.0.0.1'], 'wiki.home'), 200);
  assert.equal(await answers(['127.0.0.0/8'], 'wiki.home'), 200);
  assert.equal(await answers(['127.0.0.0/8'], '127.0.0.1'), 200);
  assert.equal(await answers(['::ffff:127.0.0.1'], '127.0.0.1'), 200);
  assert.equal(await answers(['10.0.0.0/8', '::/0'], '127.0.0.1'), 'blocked_address');
});

test('five redirects are followed and a sixth is not', async (t) => {
  const pages = Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`/${n}`, redirectTo(`/${n - 1}`)]));
  const site = await Site.open(t, { ...pages, '/0': say('there'), '/loop': redirectTo('/loop', 301) });
  const answer = await fetcher()(site.url('/5#part'), { signal: never });
  assert.equal(answer.finalUrl, site.url('/0#part'));
  assert.deepEqual(
    answer.redirects,
    [5, 4, 3, 2, 1].map((n) => site.url(`/${n}#part`)),
  );
  for (const path of ['/6', '/loop']) {
    assert.equal((await failure(fetcher()(site.url(path), { signal: never }))).message, 'too many redirects');
  }
});

test('credentials go to their origin and no further', async (t) => {
  const seen: unknown[] = [];
  const other = await Site.open(t, {
    '/': ({ headers }, response) => {
      seen.push([headers.authorization, headers.cookie, headers['x-plain']]);
      response.end();
    },
  });
  const site = await Site.open(t, {
    '/': ({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(307, { location: '/again' }).end();
    },
    '/again': ({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(307, { location: other.url() }).end();
    },
  });
  const address = site.url().replace('//', '//jo%20e:p%40ss@');
  const answer = await fetcher()(address, { signal: never, headers: { cookie: 'a=b', 'x-plain': 'c' } });
  const basic = `Basic ${Buffer.from('jo e:p@ss').toString('base64')}`;
  assert.deepEqual(seen, [basic, basic, [undefined, undefined, 'c']]);
  assert.ok(![answer.finalUrl, ...answer.redirects].some((url) => url.includes('jo')));
});

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

test('bodies are unpacked as they say, twice if need be', async (t) => {
  for (const [name, body] of Object.entries(packings)) {
    const site = await Site.open(t, { '/': say(body, { 'content-encoding': name }) });
    const answer = await fetcher()(site.url(), { signal: never });
    assert.equal(Buffer.from(answer.body).toString(), text, name);
  }
});

const wideWindow = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: 2 ** 24 };

test('a body that is not packed as it says has a typed failure', async (t) => {
  const wrong: [string, Uint8Array, string, boolean][] = [
    ['gzip', Buffer.from('plain'), 'the answer is not packed as it says (Z_DATA_ERROR)', false],
    ['gzip', gzipSync(text).subarray(0, -12), 'the answer is not packed as it says (Z_BUF_ERROR)', false],
    ['zstd', Buffer.from('plain'), 'unsupported content encoding zstd', true],
    ['gzip,gzip,gzip,gzip', Buffer.from('plain'), 'the answer is packed too often', false],
    ['br', brotliCompressSync(text, { params: wideWindow }), 'the answer needs too much memory to unpack', true],
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

/** A site whose large pages stop after so many bytes, until they are let go. */
async function slowSite(t: Parameters<typeof Site.open>[0], sent: number) {
  const large = Buffer.alloc(9_000_000, 'a');
  const held = { sent: 0, ends: [] as (() => void)[] };
  const site = await Site.open(t, {
    '/slow': (_request, response) => {
      response.write(large.subarray(0, sent), () => held.sent++);
      held.ends.push(() => response.end(large.subarray(sent)));
    },
    '/large': say(large),
    '/small': say('small'),
    '/br': say(packings.br, { 'content-encoding': 'br' }),
    '/br-drip': (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'br' }).write(packings.br.subarray(0, 1));
    },
  });
  const letGo = () => {
    for (const end of held.ends) end();
  };
  return { site, large, held, letGo };
}

test('bodies that come slowly hold up nobody', async (t) => {
  const { site, large, letGo } = await slowSite(t, 1_200_000);
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
  for (const page of await Promise.all(slow)) assert.equal(page.body.length, large.length);
});

test('large bodies wait for one another when all of them are too much, without their time running out', async (t) => {
  const { site, large, held, letGo } = await slowSite(t, 8_500_000);
  const clock = new HandClock();
  const fetchPage = fetcher({ clock, maxBytes: 10_000_000, timeoutMs: 1000 });
  const slow = [1, 2].map(() => fetchPage(site.url('/slow'), { signal: never, timeoutMs: 60_000 }));
  while (held.sent < 2) await setImmediate();
  const stop = new AbortController();
  const left = fetchPage(site.url('/large'), { signal: stop.signal });
  left.catch(() => {});
  const waiting = [1, 2, 3].map(() => fetchPage(site.url('/large'), { signal: never }));
  while (site.asked.length < 6 || clock.waiting > 2) await setImmediate(); // of those four the time stands still
  await clock.advance(5000);
  assert.equal(Buffer.from((await fetchPage(site.url('/small'), { signal: never })).body).toString(), 'small');
  stop.abort(new Error('left'));
  await assert.rejects(left, { message: 'left' });
  letGo();
  for (const page of await Promise.all([...slow, ...waiting])) assert.equal(page.body.length, large.length);
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
    ['/nothing', 'no connection (ECONNRESET)', false],
  ]);
});

test('one deadline ends a drip, a silence and a chain of slow redirects', async (t) => {
  const drips = new Set<NodeJS.Timeout>();
  t.after(() => drips.forEach(clearInterval));
  const site = await Site.open(t, {
    '/drip': (_request, response) => {
      response.writeHead(200);
      drips.add(setInterval(() => response.write('x'), 20));
    },
    '/silent': () => {},
    '/slow': (_request, response) => {
      drips.add(setTimeout(() => response.writeHead(302, { location: '/slow' }).end(), 200));
    },
  });
  for (const path of ['/drip', '/silent', '/slow']) {
    const began = performance.now();
    const error = await failure(fetcher({ timeoutMs: 500 })(site.url(path), { signal: never }));
    assert.deepEqual([error.message, error.permanent], ['timed out after 0.5 s', false], path);
    assert.ok(performance.now() - began < 5000);
  }
  while (site.open > 0) await setImmediate();
});

test('a name that cannot be looked up fails as such, and a resolver that hangs ends with the deadline', async () => {
  const code = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
  const cases: [NonNullable<WebFetchOptions['lookup']>, string][] = [
    [async () => Promise.reject(code), 'DNS failure (ENOTFOUND)'],
    [async () => [], 'DNS failure: the name has no address'],
    [() => new Promise(() => {}), 'timed out after 0.1 s'],
  ];
  for (const [lookup, message] of cases) {
    const error = await failure(fetcher({ timeoutMs: 100, lookup })('http://pub.test/', { signal: never }));
    assert.deepEqual([error.message, error.permanent], [message, false]);
  }
});

test('a connection that is refused, and one that is not TLS, fail as such', async (t) => {
  const site = await Site.open(t, { '/': say('plain') });
  const tls = await failure(fetcher()(site.url().replace('http:', 'https:'), { signal: never }));
  assert.equal(tls.code, 'tls');
  assert.match(tls.message, /^TLS failure \(\w+\)$/);
  const refused = await failure(fetcher()('http://127.0.0.1:1/', { signal: never }));
  assert.equal(refused.message, 'no connection (ECONNREFUSED)');
});

test('the signal ends a fetch with its reason and its socket', async (t) => {
  const stop = new AbortController();
  const site = await Site.open(t, { '/': () => stop.abort(new Error('forgotten')) });
  await assert.rejects(fetcher()(site.url(), { signal: stop.signal }), { message: 'forgotten' });
  while (site.open > 0) await setImmediate();
});

test('a status is told as it is, with the beginning of its body', async (t) => {
  const long = 'x'.repeat(2_000_000);
  const site = await Site.open(t, {
    '/404': say('gone missing', {}, 404),
    '/410': say('', {}, 410),
    '/500': say(long, {}, 500),
    '/429': say('', { 'retry-after': '7' }, 429),
    '/503': say(Buffer.from('broken'), { 'content-encoding': 'gzip', 'retry-after': '99999999' }, 503),
    '/304': (_request, response) => response.writeHead(304, { etag: '"a"' }).end(),
    '/300': say('choose', {}, 300),
  });
  const told = async (path: string) => {
    const answer = await fetcher()(site.url(path), { signal: never });
    const error = statusError(answer);
    return [answer.status, answer.body.length, error?.message, error?.permanent, error?.retryAfterMs];
  };
  assert.deepEqual(await told('/404'), [404, 12, 'HTTP 404', true, undefined]);
  assert.deepEqual(await told('/410'), [410, 0, 'HTTP 410', true, undefined]);
  assert.deepEqual(await told('/500'), [500, 65_536, 'HTTP 500', false, undefined]);
  assert.deepEqual(await told('/429'), [429, 0, 'HTTP 429', false, 7000]);
  assert.deepEqual(await told('/503'), [503, 0, 'HTTP 503', false, 86_400_000]);
  assert.deepEqual(await told('/304'), [304, 0, undefined, undefined, undefined]);
  assert.deepEqual(await told('/300'), [300, 6, 'HTTP 300', false, undefined]);
});

test('a host is called once at a time, with a gap, and not before it wants to be; a listed one as it comes', async (t) => {
  const clock = new HandClock();
  const times: number[] = [];
  let running = 0;
  const site = await Site.open(t, {
    '/': (_request, response) => {
      times.push(clock.monotonic());
      assert.equal(++running, 1);
      response.end('x', () => running--);
    },
    '/busy': say('', { 'retry-after': '60' }, 503),
  });
  const lookup = async () => loopback;
  const fetchPage = fetcher({ clock, lookup, perHostGapMs: 500 });
  const url = site.url('/', 'pub.test');
  const all = Promise.all([1, 2, 3].map(() => fetchPage(url, { signal: never })));
  const done = all.then(() => 'done');
  while ((await Promise.race([done, setImmediate()])) !== 'done') await clock.advance(10);
  assert.equal(times.length, 3);
  assert.ok(
    times.every((time, at) => at === 0 || time - (times[at - 1] ?? 0) >= 500),
    times.join(),
  );

  const busy = fetchPage(site.url('/busy', 'pub.test'), { signal: never });
  await clock.advance(500);
  assert.equal((await busy).status, 503);
  const told = await failure(fetchPage(url, { signal: never }));
  assert.deepEqual([told.message, told.retryAfterMs, told.permanent], ['the host has asked to wait', 60_000, false]);
  const asked = site.asked.length;

  const listed = fetcher({ clock, lookup, perHostGapMs: 500, allowPrivateHosts: ['pub.test'] });
  await listed(url, { signal: never });
  await listed(url, { signal: never });
  assert.equal(site.asked.length, asked + 2);
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
    admit: () => ({ maxBytes, timeoutMs: 10_000, write }),
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

test('the time for a body that goes elsewhere counts from the beginning of the fetch', async (t) => {
  const site = await Site.open(t, {
    '/drip': (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    },
  });
  const clock = new HandClock();
  const signal = new AbortController().signal;
  let written = () => {};
  const flowing = new Promise<void>((resolve) => {
    written = resolve;
  });
  const long = { signal, admit: () => ({ maxBytes: 1e6, timeoutMs: 700, write: async () => written() }) };
  let isOver = false;
  const failed = failure(fetcher({ clock, timeoutMs: 100 })(site.url('/drip'), long)).finally(() => {
    isOver = true;
  });
  await flowing;
  await clock.advance(699);
  assert.equal(isOver, false);
  await clock.advance(1);
  assert.equal((await failed).message, 'timed out after 0.7 s');
});
