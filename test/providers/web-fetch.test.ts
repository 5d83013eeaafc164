/** What is fetched from where: the policy of docs/fetching.md, against real servers on loopback. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FetchError } from '../../src/providers/fetch-error.ts';
import type { ResolvedAddress } from '../../src/providers/resolve-host.ts';
import { redirectTo, Site, say } from './small-web.ts';
import { failure, fetcher, loopback, never } from './test-fetch.ts';

/** Every way to write an address that must not be fetched from; PORT is the port of a server that listens on loopback. */
const hostile = [
  ...'127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 017700000001 0177.0.0.1 127.0.0.1.'.split(' '),
  ...['127.255.255.254', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1', 'localhost', 'localhost.', 'LOCALHOST'],
  ...['0', '0.0.0.0', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
  ...'10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 [::ffff:a9fe:a9fe] 0251.0376.1'.split(' '),
  ...['100.64.0.1', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
  ...['255.255.255.255', '[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]'],
  ...'[3fff::1] [100::1] [5f00::1] [4000::1] [2001:20::1] user:secret@127.0.0.1 example.com@127.0.0.1'.split(' '),
  '0x7f.0x0.0x0.0x1',
  '0177.1',
  '0x0a000001',
  '[::ffff:169.254.169.254]',
  '[0:0:0:0:0:ffff:c0a8:1]',
  '[::ffff:0:a00:1]',
];

test('no form of a private, loopback or special address is connected to', async (t) => {
  const site = await Site.open(t, { '*': say('secret') });
  const fetchPage = fetcher({ allowPrivateHosts: [], lookup: async () => loopback });
  assert.ok(new Set(hostile).size >= 60);
  for (const host of hostile) {
    const error = await failure(fetchPage(`http://${host}:${site.port}/`, { signal: never }));
    assert.deepEqual(
      [error.code, error.message, error.permanent],
      [
        /^localhost/i.test(host) ? 'blocked_name' : 'blocked_address',
        'blocked address: fetch.allow_private_hosts does not list it',
        true,
      ],
      host,
    );
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
    assert.equal(error.message, 'blocked address: fetch.allow_private_hosts does not list it', path);
  }
  assert.equal(inner.connections, 0);
});

test('a redirect inside is for good, unless it came by plain HTTP from out there, where any network can answer', async (t) => {
  const inner = await Site.open(t, { '*': say('secret') });
  const site = await Site.open(t, {
    '/address': redirectTo(`http://127.0.0.2:${inner.port}/`),
    '/name': redirectTo(`http://inner.test:${inner.port}/`),
    '/on': redirectTo('/address'),
  });
  const lookup = async (name: string) => (name === 'pub.test' ? loopback : [{ address: '127.0.0.2', family: 4 }]);
  const fault = async (allowPrivateHosts: string[], path: string) => {
    const error = await failure(fetcher({ allowPrivateHosts, lookup })(site.url(path, 'pub.test'), { signal: never }));
    return [error.code, error.permanent, error.maxReachTries];
  };
  for (const path of ['/address', '/name', '/on']) {
    assert.deepEqual(await fault(['127.0.0.1'], path), ['blocked_redirect', false, 32], path);
  }
  assert.deepEqual(await fault(['pub.test'], '/address'), ['blocked_address', true, null]);
  assert.deepEqual(await fault(['pub.test'], '/name'), ['blocked_name', true, null]);
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
  assert.equal(error.message, 'blocked address: fetch.allow_private_hosts does not list it');
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
  assert.equal(error.message, 'blocked address: fetch.allow_private_hosts does not list it');
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
  assert.equal(await answers(['wiki.home'], 'a.wiki.home'), 'blocked_name');
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
