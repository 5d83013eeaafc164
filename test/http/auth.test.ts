import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Access } from '../../src/access/access.ts';
import type { AuthToken } from '../../src/domain/access.ts';
import type { RouteEntry } from '../../src/http/http-app.ts';
import { reader, sendRaw, testServer, writer } from './test-server.ts';

const unauthenticated = { detail: 'missing or invalid bearer token' };
const concrete = ({ url }: RouteEntry): string => url.replace(/:\w+/g, 'unknown');

test('every route there is has a scope, and only health, readiness, signing in and the console’s files are public', async (t) => {
  const { app } = testServer(t);
  await app.ready();
  const printed = app.printRoutes({ commonPrefix: false }).match(/\((?:GET|POST|PUT|PATCH|DELETE)[^)]*\)/g) ?? [];
  const inRouter = printed.flatMap((methods) => methods.slice(1, -1).split(', '));
  assert.equal(app.routeTable.length, inRouter.length);
  assert.deepEqual(
    app.routeTable.filter(({ scope }) => scope === 'public').map(({ method, url }) => `${method} ${url}`),
    [
      'GET /healthz',
      'HEAD /healthz',
      'GET /readyz',
      'HEAD /readyz',
      'POST /v1/sessions',
      'POST /v1/pair',
      'GET /',
      'HEAD /',
      ...[
        ...['favicon.svg', 'icon-192.png', 'icon-512.png', 'icon-maskable.png'],
        ...['manifest.webmanifest', 'service-worker.js'],
      ].flatMap((name) => [`GET /${name}`, `HEAD /${name}`]),
      'GET /assets/*',
      'HEAD /assets/*',
    ],
  );
});

test('a route that has no scope cannot be registered', async (t) => {
  const { app } = testServer(t);
  app.register(async (routes) => {
    routes.get('/v1/forgotten', async () => ({}));
  });
  await assert.rejects(async () => app.ready(), /route GET \/v1\/forgotten has no scope/);
});

test('every route answers 401 to anything but one right bearer token', async (t) => {
  const { app, asked } = testServer(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const wrong: Record<string, string[]> = {
    none: [],
    wrong: ['authorization: Bearer nobody'],
    prefix: [`authorization: Bearer ${writer.slice(0, -1)}`],
    longer: [`authorization: Bearer ${writer}0`],
    'two in one': [`authorization: Bearer ${writer}, Bearer ${writer}`],
    basic: [`authorization: Basic ${Buffer.from(`home:${writer}`).toString('base64')}`],
    'basic with the token': [`authorization: Basic ${writer}`],
    bare: [`authorization: ${writer}`],
    'scheme alone': ['authorization: Bearer '],
    'two headers': [`authorization: Bearer ${writer}`, `Authorization: Bearer ${writer}`],
    'two headers, one empty': [`authorization: Bearer ${writer}`, 'authorization:'],
    cookie: [`cookie: authorization=${writer}`],
  };
  const onEachRoute = ['none', 'wrong', 'two headers'];
  const locked = app.routeTable.filter(({ scope, method }) => scope !== 'public' && method !== 'HEAD');
  assert.ok(locked.length >= 13);
  for (const route of locked) {
    for (const [name, headers] of Object.entries(wrong)) {
      if (route !== locked[0] && !onEachRoute.includes(name)) continue;
      const request = [`${route.method} ${concrete(route)} HTTP/1.1`, 'host: localhost', ...headers];
      const { status, body } = await sendRaw(app, [...request, 'content-length: 0', '', ''].join('\r\n'));
      assert.deepEqual([name, status, JSON.parse(body)], [name, 401, unauthenticated], route.url);
    }
    for (const query of [`token=${writer}`, `access_token=${writer}`, `authorization=Bearer%20${writer}`]) {
      const request = `${route.method} ${concrete(route)}?${query} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`;
      assert.equal((await sendRaw(app, request)).status, 401, route.url);
    }
  }
  assert.deepEqual(asked, []);
});

test('a token passes where its scope is enough, in any case of the scheme, and gets one fixed 403 elsewhere', async (t) => {
  const { app, asked } = testServer(t);
  await app.ready();
  const written = app.routeTable.find(({ scope }) => scope === 'write');
  for (const route of app.routeTable) {
    const method = route.method as 'GET';
    for (const scheme of route === written ? ['bearer', 'BEARER', 'bEaReR '] : ['Bearer']) {
      for (const token of [writer, reader]) {
        const headers = { authorization: `${scheme} ${token}` };
        const answer = await app.inject({ method, url: concrete(route), headers });
        if (route.scope === 'write' && token === reader) {
          assert.deepEqual([answer.statusCode, answer.json()], [403, { detail: 'token lacks required scope: write' }]);
        } else assert.ok(![401, 403].includes(answer.statusCode), `${route.url} ${answer.statusCode}`);
      }
    }
  }
  assert.ok(asked.length > 0);
});

test('authentication comes before the body is read or checked, and before a route is said to be unknown', async (t) => {
  const { app } = testServer(t);
  const json = { 'content-type': 'application/json' };
  const broken = { method: 'POST', url: '/v1/search', payload: '{', headers: json } as const;
  assert.equal((await app.inject(broken)).statusCode, 401);
  for (const url of ['/v1/nothing', '/nothing', '/v1/pages/%zz', `/v1/pages/${'x'.repeat(3000)}`]) {
    const unknown = await app.inject({ url });
    assert.deepEqual([url, unknown.statusCode, unknown.json()], [url, 401, unauthenticated]);
    const known = await app.inject({ url, headers: { authorization: `Bearer ${reader}` } });
    assert.deepEqual([url, known.statusCode, known.json()], [url, 404, { detail: 'no such route' }]);
  }
});

test('exactly the holders of the tokens are found', () => {
  const tokens = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(tokens, fc.string(), (known, other) => {
      const token = (token: string, at: number) => ({
        name: `${at}`,
        library: 'default',
        token,
        scopes: ['read' as const],
      });
      const list: AuthToken[] = known.map(token);
      const access = new Access({
        operatorTokens: () => list,
        libraries: new Set(['default']),
        file: { records: null, save: async () => {} },
        log: { warn: () => {} },
      });
      for (const [at, token] of known.entries()) assert.equal(access.holderOfToken(token)?.name, `${at}`);
      assert.equal(access.holderOfToken(other) !== null, known.includes(other));
    }),
  );
});
