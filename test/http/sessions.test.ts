/** Sessions of browsers over HTTP: how one is made and ended, and which requests its cookie counts in. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InjectOptions } from 'light-my-request';
import { Access } from '../../src/access/access.ts';
import type { AuthToken } from '../../src/domain/access.ts';
import { pluck } from '../rows.ts';
import { reader, sendRaw, type TestServer, testServer, writer } from './test-server.ts';

const unauthenticated = { detail: 'missing or invalid bearer token' };
const host = 'localhost:8000';
const ownPage = { host, 'sec-fetch-site': 'same-origin' };
const bearer = (token: string) => ({ host, authorization: `Bearer ${token}` });

interface Code {
  code: string;
  purpose: string;
  expires_at: string;
  url: string | null;
}

async function codeOf({ app }: TestServer, payload: object = { purpose: 'session' }, token = writer): Promise<Code> {
  const answer = await app.inject({ method: 'POST', url: '/v1/codes', headers: bearer(token), payload });
  assert.equal(answer.statusCode, 201);
  return answer.json();
}

function signIn({ app }: TestServer, payload: object, headers: Record<string, string> = ownPage) {
  return app.inject({ method: 'POST', url: '/v1/sessions', headers, payload });
}

/** `name=value` of the cookie that an answer sets. */
const cookieIn = ({ headers }: { headers: Record<string, unknown> }) => String(headers['set-cookie']).split(';')[0];

async function signedIn(server: TestServer, token = writer): Promise<string> {
  const answer = await signIn(server, { token });
  assert.equal(answer.statusCode, 201);
  return cookieIn(answer);
}

const whoami = async ({ app }: TestServer, headers: Record<string, string>) =>
  (await app.inject({ url: '/v1/whoami', headers })).statusCode;

test('a code makes one session, whose cookie no script reads and no other site sends', async (t) => {
  const server = testServer(t);
  const { code, purpose, url } = await codeOf(server);
  assert.deepEqual([purpose, url], ['session', `http://${host}/#code=${code}`]);
  const answer = await signIn(server, { code }, { ...ownPage, 'user-agent': 'Mozilla/5.0' });
  assert.equal(answer.statusCode, 201);
  assert.match(
    String(answer.headers['set-cookie']),
    /^readback_session_8000=[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { id, created_at, last_used_at, expires_at, ...rest } = answer.json();
  assert.match(id, /^ss_[0-9a-f]{16}$/);
  assert.equal(Date.parse(expires_at) - Date.parse(created_at), 30 * 24 * 3600 * 1000);
  assert.equal(last_used_at, created_at);
  const who = { name: 'home', library: 'default', scopes: ['read', 'write'] };
  assert.deepEqual(rest, { ...who, user_agent: 'Mozilla/5.0', current: true });
  const again = await signIn(server, { code });
  assert.deepEqual([again.statusCode, again.json(), again.headers['set-cookie']], [401, unauthenticated, undefined]);
  const asked = await server.app.inject({ url: '/v1/whoami', headers: { ...ownPage, cookie: cookieIn(answer) } });
  assert.deepEqual(asked.json(), { name: 'home', scopes: ['read', 'write'] });
});

test('a code of another library is refused to who asks for that, names it, and can still be used', async (t) => {
  const library = 'second';
  const second = 'token-of-another-library';
  const tokenOf = (library: string, token: string): AuthToken => ({ name: 'home', library, token, scopes: ['write'] });
  const access = new Access({
    operatorTokens: () => [tokenOf('default', writer), tokenOf(library, second)],
    libraries: new Set(['default', library]),
    file: { records: null, save: async () => {} },
    log: { warn: () => {} },
  });
  const server = testServer(t, {}, { access });
  const cookie = await signedIn(server);
  const { code } = await codeOf(server, undefined, second);
  const keep_library = true;
  const refused = await signIn(server, { code, keep_library }, { ...ownPage, cookie });
  const detail = 'the code is of the library second; this browser is signed in to default';
  const said = [refused.statusCode, refused.json(), refused.headers['set-cookie']];
  assert.deepEqual(said, [409, { detail, library, current_library: 'default' }, undefined]);
  const own = await codeOf(server);
  assert.equal((await signIn(server, { code: own.code, keep_library }, { ...ownPage, cookie })).statusCode, 201);
  // Without a session there is nothing to keep.
  const switched = await signIn(server, { code, keep_library });
  assert.deepEqual([switched.statusCode, switched.json().library], [201, library]);
});

test('without a right code or token there is no session', async (t) => {
  const server = testServer(t);
  const { code } = await codeOf(server, { purpose: 'pair' });
  for (const payload of [{ code: 'wrong' }, { token: 'wrong' }, { code }, { token: `${writer}x` }]) {
    const answer = await signIn(server, payload);
    const said = [answer.statusCode, answer.json(), answer.headers['set-cookie']];
    assert.deepEqual(said, [401, unauthenticated, undefined]);
  }
  for (const payload of [{}, { code: 'a', token: 'b' }, { code: '' }, { code: 7 }, { token: writer, name: 'x' }])
    assert.equal((await signIn(server, payload)).statusCode, 422);
});

test('a token that may only read makes no code, and its session only reads', async (t) => {
  const server = testServer(t);
  const payload = { purpose: 'session' };
  const headers = bearer(reader);
  assert.equal((await server.app.inject({ method: 'POST', url: '/v1/codes', headers, payload })).statusCode, 403);
  const { code } = await codeOf(server, { purpose: 'session', scopes: ['read'] });
  for (const given of [{ code }, { token: reader }]) {
    const cookie = cookieIn(await signIn(server, given));
    const written = await server.app.inject({
      method: 'POST',
      url: '/v1/forget',
      headers: { ...ownPage, cookie },
      payload: { domain: 'a.example' },
    });
    assert.deepEqual([written.statusCode, written.json()], [403, { detail: 'token lacks required scope: write' }]);
  }
});

test('the cookie counts in requests of the page itself only', async (t) => {
  const server = testServer(t);
  const cookie = await signedIn(server);
  const origin = `http://${host}`;
  const own: Record<string, string>[] = [
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-origin', origin },
    { 'x-readback': 'console' },
    { 'x-readback': 'console', origin },
    { 'sec-fetch-site': 'same-origin', accept: 'text/event-stream' },
  ];
  for (const headers of own) assert.equal(await whoami(server, { host, cookie, ...headers }), 200);
  const foreign: Record<string, string>[] = [
    {},
    { origin },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'x-readback': 'console' },
    { 'sec-fetch-site': 'same-site', 'x-readback': 'console' },
    { 'sec-fetch-site': 'Same-Origin' },
    { 'x-readback': '1' },
    { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:3000' },
    { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:8000' },
    { 'x-readback': 'console', origin: 'chrome-extension://localhost:8000x' },
    { 'x-readback': 'console', origin: 'chrome-extension://abc' },
  ];
  for (const headers of foreign) {
    const answer = await server.app.inject({ url: '/v1/whoami', headers: { host, cookie, ...headers } });
    assert.deepEqual([answer.statusCode, answer.json()], [401, unauthenticated], JSON.stringify(headers));
  }
  const evil = { host, cookie, 'sec-fetch-site': 'same-origin', origin: 'https://evil.test' };
  assert.equal(await whoami(server, evil), 403);
  assert.equal(await whoami(server, { cookie, 'sec-fetch-site': 'same-origin', host: 'evil.test:8000' }), 403);
});

test('a form of another page changes nothing, whatever its type', async (t) => {
  const server = testServer(t);
  const cookie = await signedIn(server);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const request: InjectOptions = {
      method: 'POST',
      url: '/v1/forget',
      headers: { host, cookie, 'content-type': type, 'sec-fetch-site': 'cross-site' },
      payload: '{"domain":"a.example"}',
    };
    assert.equal((await server.app.inject(request)).statusCode, 401);
    const origin = { ...request.headers, origin: 'https://evil.test' };
    assert.equal((await server.app.inject({ ...request, headers: origin })).statusCode, 403);
  }
  assert.deepEqual(server.asked, []);
});

test('an Authorization header goes before a cookie, also a wrong one', async (t) => {
  const server = testServer(t);
  const cookie = await signedIn(server);
  const asked = (authorization: string) =>
    server.app.inject({ url: '/v1/whoami', headers: { ...ownPage, cookie, authorization } });
  assert.equal((await asked(`Bearer ${reader}`)).json().name, 'phone');
  for (const wrong of ['Bearer wrong', 'Basic eDp5', '']) assert.equal((await asked(wrong)).statusCode, 401);
});

test('a value that a browser brings is never taken over, and of two cookies none counts', async (t) => {
  const server = testServer(t);
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  const planted = `readback_session_8000=${'a'.repeat(43)}`;
  const answer = await signIn(server, { token: writer }, { ...ownPage, cookie: planted });
  const cookie = cookieIn(answer);
  assert.notEqual(cookie, planted);
  assert.equal(await whoami(server, { ...ownPage, cookie: planted }), 401);
  for (const both of [`${planted}; ${cookie}`, `${cookie}; ${planted}`, `${cookie};${cookie}`])
    assert.equal(await whoami(server, { ...ownPage, cookie: both }), 401);
  const twice = ['GET /v1/whoami HTTP/1.1', `host: ${host}`, 'sec-fetch-site: same-origin'];
  const raw = (headers: string[]) => sendRaw(server.app, `${[...twice, ...headers].join('\r\n')}\r\n\r\n`);
  assert.equal((await raw([`cookie: ${cookie}`])).status, 200);
  assert.equal((await raw([`cookie: ${cookie}`, `cookie: ${planted}`])).status, 401);
  assert.equal(await whoami(server, { ...ownPage, cookie: `theme=dark; ${cookie}; other=1` }), 200);
  assert.equal(await whoami(server, { ...ownPage, cookie: cookie.replace('_8000', '') }), 401);
  assert.equal(await whoami(server, { ...ownPage, host: 'localhost:8001', cookie }), 401);
});

test('signing in anew ends the session that the browser had', async (t) => {
  const server = testServer(t);
  const before = await signedIn(server);
  const after = cookieIn(await signIn(server, { token: writer }, { ...ownPage, cookie: before }));
  assert.equal(await whoami(server, { ...ownPage, cookie: before }), 401);
  assert.equal(await whoami(server, { ...ownPage, cookie: after }), 200);
});

test('sessions are listed, and end at once', async (t) => {
  const server = testServer(t);
  const cookies = [await signedIn(server), await signedIn(server), await signedIn(server, reader)];
  const as = (cookie: string) => ({ ...ownPage, cookie });
  const listed = async (headers: Record<string, string>) =>
    (await server.app.inject({ url: '/v1/sessions', headers })).json().sessions as { id: string; current: boolean }[];
  const sessions = await listed(as(cookies[0]));
  assert.deepEqual(sessions.map(({ current }) => current).sort(), [false, false, true]);
  const own = sessions.find(({ current }) => current)?.id ?? '';
  const end = (id: string, headers: Record<string, string>) =>
    server.app.inject({ method: 'DELETE', url: `/v1/sessions/${id}`, headers });
  const refused = await end(own, as(cookies[2]));
  assert.equal(own, (await listed(as(cookies[0]))).find(({ current }) => current)?.id);
  assert.deepEqual([refused.statusCode, refused.json()], [403, { detail: 'token lacks required scope: write' }]);
  assert.equal((await end(own, as(cookies[1]))).statusCode, 204);
  assert.equal(await whoami(server, as(cookies[0])), 401);
  assert.equal((await end(own, bearer(writer))).statusCode, 404);
  const out = await end('current', as(cookies[2]));
  assert.equal(out.statusCode, 204);
  assert.match(String(out.headers['set-cookie']), /^readback_session_8000=; Max-Age=0; Path=\/; HttpOnly/);
  assert.equal(await whoami(server, as(cookies[2])), 401);
  assert.equal((await end('current', bearer(writer))).statusCode, 404);
  assert.deepEqual(pluck(await listed(bearer(writer)), 'current'), [false]);
});

test('where the page came by https the cookie goes back by https only', async (t) => {
  const server = testServer(t, {}, { allowed_hosts: ['read.example'] });
  const headers = { host: 'read.example', origin: 'https://read.example', 'sec-fetch-site': 'same-origin' };
  const answer = await signIn(server, { token: writer }, headers);
  assert.equal(answer.statusCode, 201);
  assert.match(String(answer.headers['set-cookie']), /^readback_session=.*; Secure/);
  assert.equal(await whoami(server, { ...headers, cookie: cookieIn(answer) }), 200);
  const elsewhere = { ...headers, origin: 'https://other.example' };
  assert.equal((await signIn(server, { token: writer }, elsewhere)).statusCode, 403);
});

test('who is not known sends little', async (t) => {
  const server = testServer(t);
  for (const url of ['/v1/sessions', '/v1/pair']) {
    const payload = { code: 'x'.repeat(40_000), name: 'x' };
    assert.equal((await server.app.inject({ method: 'POST', url, headers: ownPage, payload })).statusCode, 413);
  }
});
