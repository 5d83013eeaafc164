/** Tokens at runtime and pairing over HTTP, and which origins browsers let read the answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changingTools } from '../../src/mcp/changing-tools.ts';
import { readingTools } from '../../src/mcp/reading-tools.ts';
import { reader, type TestServer, testServer, writer } from './test-server.ts';

const host = 'localhost:8000';
const extension = 'chrome-extension://abcdefghijklmnop';
const bearer = (token: string) => ({ host, authorization: `Bearer ${token}` });

async function pairCode({ app }: TestServer, scopes?: string[]): Promise<string> {
  const payload = { purpose: 'pair', ...(scopes === undefined ? {} : { scopes }) };
  const answer = await app.inject({ method: 'POST', url: '/v1/codes', headers: bearer(writer), payload });
  const { code, purpose, url } = answer.json();
  assert.deepEqual([answer.statusCode, purpose, url], [201, 'pair', null]);
  return code;
}

function pair({ app }: TestServer, code: string, origin: string | null = extension) {
  const headers = { host, ...(origin === null ? {} : { origin }) };
  return app.inject({ method: 'POST', url: '/v1/pair', headers, payload: { code, name: 'Chromium at home' } });
}

const corsOf = ({ headers }: { headers: Record<string, unknown> }) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

const preflight = ({ app }: TestServer, url: string, origin: string, method = 'POST') => {
  const asking = { 'access-control-request-method': method };
  const named = { 'access-control-request-headers': 'authorization,content-type' };
  return app.inject({ method: 'OPTIONS', url, headers: { host, origin, ...asking, ...named } });
};

test('a code becomes a token of the extension, once', async (t) => {
  const server = testServer(t);
  const code = await pairCode(server);
  const answer = await pair(server, code.toLowerCase().replace('-', ''));
  assert.equal(answer.statusCode, 201);
  const { token, ...rest } = answer.json();
  assert.deepEqual(rest, { name: 'Chromium at home', library: 'default', scopes: ['read', 'write'] });
  assert.equal(answer.headers['set-cookie'], undefined);
  const again = await pair(server, code);
  assert.deepEqual([again.statusCode, again.json()], [401, { detail: 'wrong or used code' }]);
  const asked = await server.app.inject({ url: '/v1/tokens', headers: { ...bearer(token), origin: extension } });
  const { tokens } = asked.json();
  const told = tokens.map((each: Record<string, unknown>) =>
    [each.name, each.source, each.origin, each.current].join(),
  );
  const paired = `Chromium at home,paired,${extension},true`;
  assert.deepEqual(told, ['home,settings,,false', 'phone,settings,,false', paired]);
  assert.ok(!asked.body.includes(token));
  const reading = (await pair(server, await pairCode(server, ['read']), null)).json();
  assert.deepEqual(reading.scopes, ['read']);
});

test('pairing codes cannot be tried one after the other', async (t) => {
  const server = testServer(t);
  for (let i = 0; i < 30; i++) assert.equal((await pair(server, `AAAA-AA${i}`)).statusCode, 401);
  const right = await pairCode(server);
  const refused = await pair(server, right);
  assert.equal(refused.statusCode, 429);
  assert.ok(Number(refused.headers['retry-after']) > 0 && Number(refused.headers['retry-after']) <= 60);
  const allowed = { 'access-control-allow-origin': extension, 'access-control-expose-headers': 'retry-after' };
  assert.deepEqual(corsOf(refused), allowed);
  // Who has a token is not kept from anything by it.
  const payload = { token: writer };
  const signedIn = await server.app.inject({ method: 'POST', url: '/v1/sessions', headers: { host }, payload });
  assert.equal(signedIn.statusCode, 201);
});

test('only paired extensions may read answers, and any extension that of pairing', async (t) => {
  const server = testServer(t);
  const allowed = { 'access-control-allow-origin': extension, 'access-control-expose-headers': 'retry-after' };
  const asked = (origin: string, authorization = `Bearer ${writer}`) =>
    server.app.inject({ url: '/v1/whoami', headers: { host, origin, authorization } });
  const preflighted = {
    ...allowed,
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '600',
  };
  const before = await preflight(server, '/v1/pair', extension);
  const methodsOf = (methods: string) => ({ ...preflighted, 'access-control-allow-methods': methods });
  assert.deepEqual([before.statusCode, corsOf(before)], [204, methodsOf('POST')]);
  for (const url of ['/v1/pages/batch', '/v1/pairs', '/v1/pair/x', '/', '/v1/sessions'])
    assert.deepEqual(corsOf(await preflight(server, url, extension)), {}, url);
  assert.deepEqual(corsOf(await asked(extension)), {});

  const { token } = (await pair(server, await pairCode(server))).json();
  assert.deepEqual(corsOf(await asked(extension)), allowed);
  const refused = await asked(extension, 'Bearer wrong');
  assert.deepEqual([refused.statusCode, corsOf(refused)], [401, allowed]);
  const after = await preflight(server, '/v1/pages/batch', extension);
  const all = methodsOf('GET, POST, PATCH, DELETE');
  assert.deepEqual([after.statusCode, after.body, corsOf(after)], [204, '', all]);
  for (const origin of ['chrome-extension://another', 'moz-extension://abcdefghijklmnop', 'http://localhost:3000']) {
    assert.deepEqual(corsOf(await asked(origin)), {}, origin);
    assert.deepEqual(corsOf(await preflight(server, '/v1/pages/batch', origin)), {}, origin);
  }
  for (const origin of ['https://evil.test', 'null', 'chrome-extension://a b', `${extension}.evil.test/x`]) {
    const answer = await preflight(server, '/v1/pair', origin);
    assert.deepEqual([answer.statusCode, corsOf(answer)], [403, {}], origin);
  }

  const list = await server.app.inject({ url: '/v1/tokens', headers: bearer(token) });
  const { id } = list.json().tokens.find((each: { current: boolean }) => each.current);
  const revoked = await server.app.inject({ method: 'DELETE', url: `/v1/tokens/${id}`, headers: bearer(writer) });
  assert.equal(revoked.statusCode, 204);
  assert.deepEqual(corsOf(await asked(extension)), {});
  assert.equal((await asked(extension, `Bearer ${token}`)).statusCode, 401);
});

test('a web page that pairs, which needs a code, gets no CORS by it', async (t) => {
  const server = testServer(t);
  const origin = 'http://localhost:3000';
  const answer = await pair(server, await pairCode(server), origin);
  assert.deepEqual([answer.statusCode, corsOf(answer)], [201, {}]);
  const asked = await server.app.inject({ url: '/v1/whoami', headers: { ...bearer(writer), origin } });
  assert.deepEqual(corsOf(asked), {});
});

test('tokens are made, shown once and revoked; those of the settings are not', async (t) => {
  const server = testServer(t);
  const make = (payload: object, token = writer) =>
    server.app.inject({ method: 'POST', url: '/v1/tokens', headers: bearer(token), payload });
  const revoke = (id: string, token = writer) =>
    server.app.inject({ method: 'DELETE', url: `/v1/tokens/${encodeURIComponent(id)}`, headers: bearer(token) });
  const made = await make({ name: 'backup script', scopes: ['read'] });
  assert.equal(made.statusCode, 201);
  const { id, token, created_at, ...rest } = made.json();
  assert.match(id, /^tk_[0-9a-f]{16}$/);
  assert.ok(Date.parse(created_at) > 0);
  const unused = { origin: null, last_used_at: null, current: false };
  assert.deepEqual(rest, { name: 'backup script', scopes: ['read'], source: 'created', ...unused });
  const who = await server.app.inject({ url: '/v1/whoami', headers: bearer(token) });
  assert.deepEqual(who.json(), { name: 'backup script', scopes: ['read'] });
  assert.equal((await make({ name: 'x' }, token)).statusCode, 403);
  assert.equal((await revoke(id, reader)).statusCode, 403);
  for (const payload of [{}, { name: '' }, { name: 'x'.repeat(101) }, { name: 'x', scopes: [] }, { name: 'x\ud800' }])
    assert.equal((await make(payload)).statusCode, 422, JSON.stringify(payload));
  assert.equal((await revoke(id)).statusCode, 204);
  assert.equal((await server.app.inject({ url: '/v1/whoami', headers: bearer(token) })).statusCode, 401);
  assert.equal((await revoke(id)).statusCode, 404);
  assert.equal((await revoke('settings:home')).statusCode, 409);
});

test('no tool of a language model reaches tokens, sessions, codes or imports', () => {
  const routes = [...readingTools, ...changingTools].map(({ url }) => url);
  assert.ok(routes.includes('/v1/pages'));
  const forbidden = /^\/v1\/(?:tokens|sessions|codes|pair|imports|admin)\b/;
  assert.ok(!routes.some((url) => forbidden.test(url)));
});
