/** Requests for libraries of other hosts: passed on once, as they come, and answered as the other answers. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { DomainError } from '../../src/domain/errors.ts';
import type { Peers } from '../../src/http/pass-on.ts';
import type { ServerOptions } from '../../src/http/server.ts';
import { freePort } from '../free-port.ts';
import { until } from '../process/service.ts';
import { pluck } from '../rows.ts';
import { listenAnywhere, testServer, writer } from './test-server.ts';

const secret = 'what hosts show each other';

async function listeningHost(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
/** Another host, which tells what it was sent. */
async function otherHost(t: TestContext) {
  const got: { method: string | undefined; url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
  const address = await listeningHost(t, async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    got.push({ method: request.method, url: request.url, headers: request.headers, body });
    response.writeHead(207, { 'x-of': 'the owner', 'retry-after': '7' }).end('as it answers');
  });
  return { got, address };
}

async function hostOf(
  t: TestContext,
  place: string | null | (() => string | null),
  { bounds = {}, ...given }: Partial<Pick<Peers, 'libraryOf'> & Pick<ServerOptions, 'bounds'>> = {},
) {
  const placeOf = async () => (typeof place === 'function' ? place() : place);
  const peers = { secret, libraryOf: async () => 'anna', placeOf, ...given };
  const { app, asked } = testServer(t, { 'job.list': () => ({ jobs: [] }) }, { peers, bounds });
  return { asked, url: `http://127.0.0.1:${await listenAnywhere(app)}` };
}

const authorization = `Bearer ${writer}`;

test('a request is passed on as it came, and its answer comes back as it is', async (t) => {
  const { got, address } = await otherHost(t);
  const { url, asked } = await hostOf(t, address);
  const body = JSON.stringify({ pages: ['x'.repeat(1_000_000)] });
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/pages/batch?a=%20b`, { method: 'POST', headers, body });
  const { status, headers: answered } = answer;
  assert.deepEqual([status, answered.get('x-of'), answered.get('retry-after')], [207, 'the owner', '7']);
  assert.equal(await answer.text(), 'as it answers');
  const [{ method, url: path, headers: sent, body: received }] = got;
  assert.deepEqual([method, path, received === body], ['POST', '/v1/pages/batch?a=%20b', true]);
  const seen = [sent.authorization, sent['x-readback-host'], sent.host];
  assert.deepEqual(seen, [authorization, secret, new URL(url).host]);
  assert.deepEqual(asked, [], 'nothing is done here');
});

test('what another host has passed on is not passed on again', async (t) => {
  const { got, address } = await otherHost(t);
  const { url } = await hostOf(t, address);
  const answer = await fetch(`${url}/v1/jobs`, { headers: { authorization, 'x-readback-host': secret } });
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
  assert.deepEqual(got, []);
});

test('what was passed on with another secret is refused, whoever serves the library, and says so', async (t) => {
  const { got, address } = await otherHost(t);
  for (const place of [address, null]) {
    const { url, asked } = await hostOf(t, place);
    const answer = await fetch(`${url}/v1/jobs`, { headers: { authorization, 'x-readback-host': 'a guess' } });
    const detail = 'the host that passed the request on has another cluster.secret than this one';
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
    assert.deepEqual(await answer.json(), { detail });
    assert.deepEqual([got, asked], [[], []]);
  }
});

test('a library that is served here is not asked for elsewhere', async (t) => {
  const { url, asked } = await hostOf(t, null);
  assert.equal((await fetch(`${url}/v1/jobs`, { headers: { authorization } })).status, 200);
  assert.deepEqual(pluck(asked, 'name'), ['job.list']);
});

test('a host that does not answer is told, with when to come again', async (t) => {
  const { url } = await hostOf(t, `http://127.0.0.1:${await freePort()}`);
  const answer = await fetch(`${url}/v1/pages`, { method: 'POST', headers: { authorization }, body: '{}' });
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
});

for (const [who, place] of Object.entries({
  'another has the library': (): null => null,
  'nobody may serve the library any more': (): never => {
    throw new DomainError('store_unavailable', 'the library is suspended', { retryAfterS: 60 });
  },
})) {
  test(`who waits for a host that is held up is let go when ${who}`, async (t) => {
    const address = await listeningHost(t, () => {});
    let asked = 0;
    const { url } = await hostOf(t, () => (++asked > 2 ? place() : address));
    const answer = await fetch(`${url}/v1/jobs`, { headers: { authorization } });
    assert.deepEqual([answer.status, answer.headers.get('retry-after'), asked], [503, '1', 3]);
  });
}

test('codes are guessed no faster at a host that passes the right one on', async (t) => {
  const { got, address } = await otherHost(t);
  let library: string | null = null;
  const { url } = await hostOf(t, address, { libraryOf: async () => library });
  const pair = async (code: string, at = url) => {
    const body = JSON.stringify({ code, name: 'Chromium' });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${at}/v1/pair`, { method: 'POST', headers, body })).status;
  };
  const wrong = await Promise.all(Array.from({ length: 30 }, (_, no) => pair(`0000-00${String(no).padStart(2, '0')}`)));
  assert.deepEqual(new Set(wrong), new Set([401]));
  library = 'anna';
  assert.deepEqual([await pair('7K2M-9QXD'), got], [429, []]);

  // Of many at once the right one is looked up when others have been wrong.
  let looked = 0;
  let answered = 0;
  const libraryOf = async () => {
    if (++looked <= 40) return null;
    await until(() => answered === 40, 'the others are answered');
    return 'anna';
  };
  const other = await hostOf(t, address, { libraryOf });
  const all = Array.from({ length: 41 }, async (_, no) => {
    const status = await pair(`0000-00${String(no).padStart(2, '0')}`, other.url);
    answered++;
    return status;
  });
  assert.deepEqual([new Set(await Promise.all(all)), got], [new Set([401, 429]), []]);
});

test('a request waits for who follows a host that takes no connection, and goes there whole', async (t) => {
  const { got, address } = await otherHost(t);
  const gone = `http://127.0.0.1:${await freePort()}`;
  const follows = async (place: string | null) => {
    let asked = 0;
    return hostOf(t, () => (++asked > 2 ? place : gone));
  };
  const body = JSON.stringify({ pages: ['x'.repeat(1_000_000)] });
  const headers = { authorization, 'content-type': 'application/json' };
  const there = await follows(address);
  const answer = await fetch(`${there.url}/v1/pages/batch`, { method: 'POST', headers, body });
  assert.deepEqual([answer.status, got.map((each) => each.body === body)], [207, [true]]);
  const here = await follows(null);
  assert.equal((await fetch(`${here.url}/v1/jobs`, { headers })).status, 200);
  assert.deepEqual(pluck(here.asked, 'name'), ['job.list']);
});

test('a stream of events ends when another host has the library, also where the first says nothing any more', async (t) => {
  const address = await listeningHost(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: first\n\n');
  });
  let place = address;
  const { url } = await hostOf(t, () => place);
  const answer = await fetch(`${url}/v1/events`, { headers: { authorization } });
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined && !(await reader.read()).done);
  place = 'http://127.0.0.1:9';
  await assert.rejects(reader.read(), TypeError);
});

test('a stream that is passed on outlasts the connections of strangers', async (t) => {
  let more = () => {};
  const address = await listeningHost(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: first\n\n');
    more = () => void response.write('event: second\n\n');
  });
  const { url } = await hostOf(t, address, { bounds: { maxConnections: 2 } });
  const answer = await fetch(`${url}/v1/events`, { headers: { authorization } });
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined && !(await reader.read()).done);
  const strangers: Socket[] = [];
  const ended: Promise<unknown>[] = [];
  for (let no = 0; no < 3; no++) {
    const stranger = connect(Number(new URL(url).port), '127.0.0.1').resume();
    strangers.push(stranger);
    ended.push(once(stranger, 'close'));
    await once(stranger, 'connect');
  }
  await Promise.all(ended.slice(0, 2));
  more();
  assert.match(new TextDecoder().decode((await reader.read()).value), /second/);
  await reader.cancel();
  for (const stranger of strangers) stranger.destroy();
});

test('foreign pages and unknown credentials go nowhere', async (t) => {
  const { got, address } = await otherHost(t);
  const { url } = await hostOf(t, address);
  const origin = 'https://elsewhere.example';
  assert.equal((await fetch(`${url}/v1/jobs`, { headers: { authorization, origin } })).status, 403);
  assert.equal((await fetch(`${url}/v1/jobs`)).status, 401);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.deepEqual(got, []);
});
