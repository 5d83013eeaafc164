/** The proxy for other programs, spoken to as programs do: what it forwards, what it refuses, and that refused means not connected. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type FilteringProxyOptions, openFilteringProxy } from '../../src/providers/filtering-proxy.ts';
import { redirectTo, Site, say } from './small-web.ts';

async function setUp(t: TestContext, options: Partial<FilteringProxyOptions> = {}) {
  const proxy = await openFilteringProxy({ allowPrivateHosts: ['127.0.0.1'], maxBytes: 1_000_000, ...options });
  t.after(() => proxy.close());
  const { username, password } = new URL(proxy.url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  /** Ask it for an address, as a program does that wants an http page. */
  const get = async (address: string, headers: Record<string, string> = { 'proxy-authorization': authorization }) => {
    const asked = request({ host: '127.0.0.1', port: proxy.port, path: address, headers, agent: false }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    let body = '';
    for await (const chunk of answer) body += chunk;
    return { status: answer.statusCode, headers: answer.headers, body };
  };
  /** Ask it for a tunnel, and say something through it; gives everything that came back. */
  const tunnel = async (target: string, said: string, credentials = authorization): Promise<string> => {
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\nproxy-authorization: ${credentials}\r\n\r\n`);
    let heard = '';
    socket.setEncoding('latin1');
    socket.on('error', () => {}); // being cut off is one of the ends that are tested
    socket.on('data', (chunk: string) => {
      if (heard === '' && chunk.startsWith('HTTP/1.1 200')) socket.write(said);
      heard += chunk;
    });
    await once(socket, 'close');
    return heard;
  };
  return { proxy, get, tunnel };
}

const plainGet = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';

test('pages come through, by address and by tunnel, and the site never sees the password', async (t) => {
  let seen: IncomingMessage['headers'] = {};
  const site = await Site.open(t, {
    '/': (incoming, response) => {
      seen = incoming.headers;
      response.writeHead(200, { 'x-own': 'kept', 'set-cookie': ['a=1', 'b=2'] }).end('the page');
    },
    '/moved': redirectTo('/'),
  });
  const { proxy, get, tunnel } = await setUp(t);
  const answer = await get(site.url());
  assert.deepEqual([answer.status, answer.body, answer.headers['x-own']], [200, 'the page', 'kept']);
  assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal(seen.host, `127.0.0.1:${site.port}`);
  assert.equal(seen['proxy-authorization'], undefined);
  assert.equal(
    (await get(site.url('/moved'))).status,
    302,
    'redirects are the program’s to follow, with a new request',
  );
  assert.match(
    await tunnel(`127.0.0.1:${site.port}`, plainGet),
    /^HTTP\/1\.1 200 Connection established[\s\S]*the page/,
  );
  assert.equal(proxy.refusal(), null);
});

test('whoever does not know the password gets nothing', async (t) => {
  const site = await Site.open(t, { '*': say('secret') });
  const { get, tunnel } = await setUp(t);
  assert.equal((await get(site.url(), {})).status, 407);
  assert.equal((await get(site.url(), { 'proxy-authorization': 'Basic cmVhZGJhY2s6' })).status, 407);
  assert.match(await tunnel(`127.0.0.1:${site.port}`, plainGet, 'Basic x'), /^HTTP\/1\.1 407 /);
  assert.equal(site.connections, 0);
});

test('what the policy does not allow is not connected to, in whatever form it is asked for', async (t) => {
  const site = await Site.open(t, { '*': say('secret') }, '127.0.0.1');
  const { proxy, get, tunnel } = await setUp(t, {
    allowPrivateHosts: [],
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const hosts = ['127.0.0.1', '127.1', '0x7f.1', '2130706433', 'localhost', 'innocent.example', '[::ffff:7f00:1]'];
  for (const host of hosts) {
    assert.equal((await get(`http://${host}:${site.port}/`)).status, 403, host);
    assert.match(await tunnel(`${host}:${site.port}`, plainGet), /^HTTP\/1\.1 403 /, host);
    assert.equal(proxy.refusal()?.message, 'blocked address: fetch.allow_private_hosts does not list it');
  }
  for (const host of ['169.254.169.254', '[fe80::1]', '10.0.0.1']) {
    assert.equal((await get(`http://${host}/latest/meta-data`)).status, 403, host);
    assert.match(await tunnel(`${host}:443`, ''), /^HTTP\/1\.1 403 /, host);
  }
  assert.equal(site.connections, 0);
});

test('a name is connected to where it was when it was checked, whatever it says then', async (t) => {
  const [allowed, other] = [
    await Site.open(t, { '/': say('allowed') }, '127.0.0.1'),
    await Site.open(t, { '*': say('secret') }, '127.0.0.2'),
  ];
  const answers = ['127.0.0.1', '127.0.0.2'];
  const { get } = await setUp(t, { lookup: async () => [{ address: answers.shift() ?? '127.0.0.2', family: 4 }] });
  assert.equal((await get(`http://two-faced.example:${allowed.port}/`)).body, 'allowed');
  assert.equal((await get(`http://two-faced.example:${other.port}/`)).status, 403);
  assert.equal(other.connections, 0);
});

test('only http is forwarded, and what is no address is refused', async (t) => {
  const { get, tunnel } = await setUp(t);
  for (const address of ['ftp://127.0.0.1/', 'file:///etc/passwd', '/', '*']) {
    assert.ok([403, 502].includes((await get(address)).status ?? 0), address);
  }
  assert.match(await tunnel('no address', ''), /^HTTP\/1\.1 (?:400|403|502) /);
});

test('it knows why the last thing was not given, and that a later one was', async (t) => {
  const site = await Site.open(t, { '/': say('the page') });
  const { proxy, get } = await setUp(t, {
    lookup: async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
  });
  assert.equal((await get('http://127.0.0.1:1/')).status, 502);
  assert.equal(proxy.refusal()?.message, 'no connection (ECONNREFUSED)');
  assert.equal((await get('http://nobody.example/')).status, 502);
  assert.equal(proxy.refusal()?.message, 'DNS failure (ENOTFOUND)');
  await get(site.url());
  assert.equal(proxy.refusal(), null);
});

test('both directions are counted together, and past the limit everything is broken off', async (t) => {
  const site = await Site.open(t, { '/': say('x'.repeat(40_000)) });
  const { proxy, get, tunnel } = await setUp(t, { maxBytes: 60_000 });
  assert.equal((await get(site.url())).body.length, 40_000);
  assert.ok((await tunnel(`127.0.0.1:${site.port}`, plainGet)).length < 60_000, 'cut off');
  assert.equal(proxy.refusal()?.message, 'larger than 60000 bytes');
  assert.equal((await get(site.url())).status, 403);
});

test('closing it breaks off what is open', async (t) => {
  const site = await Site.open(t, { '/': () => {} });
  const { proxy, get, tunnel } = await setUp(t);
  const open = [assert.rejects(get(site.url())), tunnel(`127.0.0.1:${site.port}`, plainGet)];
  while (site.asked.length < 2) await new Promise(setImmediate);
  await proxy.close();
  await Promise.all(open);
  while (site.open > 0) await new Promise(setImmediate);
  await assert.rejects(get(site.url()), { code: 'ECONNREFUSED' });
});
