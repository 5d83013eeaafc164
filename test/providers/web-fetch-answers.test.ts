/** Times, failures and statuses of fetching, and when a host is asked again (docs/fetching.md), against real servers on loopback. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { FetchFault } from '../../src/providers/fetch-error.ts';
import { statusError, type WebFetchOptions } from '../../src/providers/web-fetch.ts';
import { HandClock } from './hand-clock.ts';
import { type Page, Site, say } from './small-web.ts';
import { failure, fetcher, loopback, never } from './test-fetch.ts';

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
    const error = await failure(fetcher({ timeoutMs: 500 })(site.url(path), { signal: never }));
    // Between two redirects, and on a busy machine before the first request, a connection is being made.
    const mayConnect = path === '/slow' || !site.asked.includes(path);
    const expected = mayConnect ? /^(?:timed out after|no connection within) 0\.5 s$/ : /^timed out after 0\.5 s$/;
    assert.match(error.message, expected, path);
    assert.equal(error.permanent, false, path);
  }
  while (site.open > 0) await setImmediate();
});

test('a name that cannot be looked up fails as such, and a resolver that hangs ends with the deadline', async () => {
  const failing = (code: string) => async () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code }));
  const cases: [NonNullable<WebFetchOptions['lookup']>, FetchFault, string][] = [
    [failing('ENOTFOUND'), 'no_such_name', 'DNS failure (ENOTFOUND)'],
    [failing('EAI_AGAIN'), 'dns', 'DNS failure (EAI_AGAIN)'],
    [async () => [], 'no_such_name', 'DNS failure: the name has no address'],
    [() => new Promise(() => {}), 'unreachable', 'no connection within 0.1 s'],
  ];
  for (const [lookup, code, message] of cases) {
    const error = await failure(fetcher({ timeoutMs: 100, lookup })('http://pub.test/', { signal: never }));
    assert.deepEqual([error.code, error.message, error.permanent], [code, message, false]);
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

test('what an answer forwards to is a redirect of the same fetch: its address, its credentials, what is left of its time', async (t) => {
  const waiting: (() => void)[] = [];
  const seen: unknown[] = [];
  const hold: Page = (request, response) => {
    seen.push([request.url, request.headers.authorization]);
    waiting.push(() => response.end('held'));
  };
  const pages = { '/a': hold, '/b': hold, '/plain': say('plain') };
  const site = await Site.open(t, pages);
  const other = await Site.open(t, { '/b': hold });
  const asked = async (count: number) => {
    while (waiting.length < count) await setImmediate();
  };
  const clock = new HandClock();
  const request = { signal: never, headers: { authorization: 'secret' } };
  const fetching = fetcher({ clock, timeoutMs: 1000 })(site.url('/a'), request);
  await asked(1);
  await clock.advance(600);
  waiting[0]?.();
  const answer = await fetching;
  await clock.advance(5000); // what the caller does does not count
  let isOver = false;
  const failed = failure(answer.follow(other.url('/b'))).finally(() => {
    isOver = true;
  });
  await asked(2);
  await clock.advance(399);
  assert.equal(isOver, false);
  await clock.advance(1);
  assert.equal((await failed).message, 'timed out after 1 s');
  assert.deepEqual(seen, [
    ['/a', 'secret'],
    ['/b', undefined],
  ]);
  const first = await fetcher()(site.url('/plain'), { signal: never });
  const second = await first.follow('/plain?again');
  assert.deepEqual([second.finalUrl, second.redirects], [site.url('/plain?again'), [site.url('/plain')]]);
  for (const [address, message] of [
    ['http://10.0.0.1/', 'blocked address: fetch.allow_private_hosts does not list it'],
    ['file:///etc/passwd', 'unsupported scheme file'],
    ['http://[', 'redirected to an invalid address'],
    [`http://${'a.'.repeat(200)}com/`, 'an address must have a host of at most 253 characters'],
  ] as const) {
    assert.equal((await failure(second.follow(address))).message, message);
  }
});
