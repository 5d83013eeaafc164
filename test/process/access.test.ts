/** Sessions, tokens and one-time codes of a running service: `readback open`, restarts, what is revoked, several libraries; the console that it serves. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CliHere } from '../cli/run-cli.ts';
import { newestFirst } from '../scope.ts';
import { EventStream } from './event-stream.ts';
import { RunningService, token, until, withoutModel } from './service.ts';

let service: RunningService;
const scope = newestFirst({ after });
before(async () => {
  service = await RunningService.start(scope, { ...withoutModel, SERVICE_EVENTS__HEARTBEAT_S: '3600' });
});

const ownPage = { 'sec-fetch-site': 'same-origin' };

/** The cookie of a session that a code or a token makes. */
async function signIn(body: object, service: RunningService): Promise<string> {
  const { status, headers } = await service.call('POST', '/v1/sessions', body, { token: null, headers: ownPage });
  assert.equal(status, 201);
  return String(headers.get('set-cookie')).split(';')[0];
}

const asPage = (cookie: string) => ({ token: null, headers: { ...ownPage, cookie } });

test('`readback open` prints a link that signs one browser in; the session outlives kill -9, and is not in the log', async () => {
  const cli = new CliHere(service.home, { SERVICE_AUTH_TOKEN: token });
  const { url } = await cli.json<{ url: string }>(['--url', service.url, 'open']);
  assert.ok(url.startsWith(`${service.url}/#code=`));
  const code = new URL(url).hash.slice('#code='.length);
  const cookie = await signIn({ code }, service);
  const printed = await cli.run(['--url', service.url, 'open', '--print']);
  assert.deepEqual([printed.code, printed.stderr], [0, 'it signs in one browser within a minute\n']);
  assert.match(printed.stdout, /^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}\n$/);
  const again = await service.call('POST', '/v1/sessions', { code }, { token: null });
  assert.deepEqual([again.status, again.body], [401, { detail: 'missing or invalid bearer token' }]);
  await service.kill();
  const path = join(service.dataDir, 'access.json');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const secret = cookie.split('=')[1];
  assert.ok(!readFileSync(path, 'utf8').includes(secret));
  // The cookie's name has the port, which is another one now.
  await service.start();
  const renamed = `readback_session_${new URL(service.url).port}=${secret}`;
  assert.equal((await service.call('GET', '/v1/jobs', undefined, asPage(renamed))).status, 200);
  for (const each of [secret, code]) assert.ok(!service.output.includes(each));
});

test('`readback pair` prints a code that an extension exchanges for a token', async () => {
  const cli = new CliHere(service.home, { SERVICE_AUTH_TOKEN: token });
  const printed = await cli.run(['--url', service.url, 'pair']);
  assert.equal(printed.code, 0);
  const [, code, address] = /^code {5}(\S{9})\naddress {2}(\S+)\n$/.exec(printed.stdout) ?? [];
  assert.equal(address, service.url);
  const origin = 'moz-extension://3c1f2aab-0000-4000-8000-000000000000';
  const request = { token: null, headers: { origin } };
  const paired = await service.call<{ token: string }>('POST', '/v1/pair', { code, name: 'Firefox' }, request);
  assert.deepEqual([paired.status, paired.headers.get('access-control-allow-origin')], [201, origin]);
  const asked = await service.call('GET', '/v1/whoami', undefined, { token: paired.body.token, headers: { origin } });
  assert.deepEqual([asked.status, asked.body], [200, { name: 'Firefox', scopes: ['read', 'write'] }]);
  assert.equal(asked.headers.get('access-control-allow-origin'), origin);
});

test('`readback token` adds, lists and revokes tokens', async () => {
  const cli = new CliHere(service.home, { SERVICE_AUTH_TOKEN: token, COLUMNS: '80' });
  const run = (...args: string[]) => cli.run(['--url', service.url, 'token', ...args]);
  const made = await run('add', 'reader', '--scope', 'read');
  const id = /^shown only once; revoke it with `readback token revoke (tk_\w+)`\n$/.exec(made.stderr)?.[1] ?? '';
  const added = made.stdout.trim();
  const asked = async () => (await service.call('GET', '/v1/whoami', undefined, { token: added })).status;
  assert.deepEqual([made.code, await asked()], [0, 200]);
  const { stdout } = await run();
  assert.match(stdout, /^id +name +scope +source +last used\n/);
  assert.match(stdout, new RegExp(`^${id} +reader +read +created [\\d-]{10} +[\\d-]{10}$`, 'm'));
  assert.match(stdout, /^settings:default +default +write +settings +[\d-]{10}$/m);
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  const revoked = await run('revoke', id);
  assert.deepEqual([revoked.stdout, await asked()], [`revoked ${id}; its sessions have ended\n`, 401]);
  assert.deepEqual([(await run('revoke', id)).code, (await run('revoke', 'settings:default')).code], [1, 1]);
});

test('an event stream ends when what opened it is revoked, and the others go on', async () => {
  const made = await service.call<{ id: string; token: string }>('POST', '/v1/tokens', { name: 'phone' });
  assert.equal(made.status, 201);
  const cookie = await signIn({ token }, service);
  const streams = [made.body.token, asPage(cookie).headers, token].map((sent) => EventStream.open(service.url, sent));
  const [ofToken, ofSession, other] = await Promise.all(streams);
  for (const stream of [ofToken, ofSession, other]) assert.equal((await stream.next())?.name, 'snapshot');
  assert.equal((await service.call('DELETE', `/v1/tokens/${made.body.id}`)).status, 204);
  assert.equal(await ofToken.next(), null);
  const refused = await service.call('GET', '/v1/whoami', undefined, { token: made.body.token });
  assert.equal(refused.status, 401);
  assert.equal((await service.call('DELETE', '/v1/sessions/current', undefined, asPage(cookie))).status, 204);
  assert.equal(await ofSession.next(), null);
  assert.equal((await service.call('GET', '/v1/whoami', undefined, asPage(cookie))).status, 401);
  await service.call('POST', '/v1/pages', { url: 'https://a.example/', body_extracted: 'A page.' });
  assert.equal((await other.next())?.name, 'job');
  other.close();
});

test('a session belongs to the library of its token', async (t) => {
  const ben = 'token-of-ben-4711';
  const tokens = [
    { name: 'laptop', token, library: 'anna' },
    { name: 'laptop', token: ben, library: 'ben' },
  ];
  const service = RunningService.prepare(t, {
    ...withoutModel,
    SERVICE_AUTH_TOKEN: '',
    SERVICE_AUTH_TOKENS: JSON.stringify(tokens),
  });
  await service.start({ SERVICE_LIBRARIES__DIR: join(service.home, 'libraries') });
  const cookie = await signIn({ token: ben }, service);
  const added = async () => {
    const body = { url: 'https://ben.example/', title: 'Of Ben', body_extracted: 'Herons wade in shallow water.' };
    return (await service.call('POST', '/v1/pages', body, asPage(cookie))).status < 300;
  };
  await until(added, 'the library is open');
  await until(async () => (await service.call('GET', '/v1/jobs')).status === 200, 'and so is the other');
  const pages = async (options: { token?: string | null }) =>
    (await service.call<{ pages: unknown[] }>('GET', '/v1/pages', undefined, options)).body.pages.length;
  assert.deepEqual([await pages(asPage(cookie)), await pages({ token: ben })], [1, 1]);
  assert.equal(await pages({}), 0);
  const { id } = (await service.call<{ id: string }>('POST', '/v1/tokens', { name: 'tablet' }, { token: ben })).body;
  const seen = await service.call<{ tokens: { id: string }[] }>('GET', '/v1/tokens');
  assert.deepEqual(
    seen.body.tokens.map((each) => each.id),
    ['settings:laptop'],
  );
  assert.deepEqual((await service.call('GET', '/v1/sessions')).body, { sessions: [] });
  assert.equal((await service.call('DELETE', `/v1/tokens/${id}`)).status, 404);
});

test('what was acknowledged of tokens outlives kill -9 at any moment, and what was revoked stays so', async () => {
  const held = new Map<string, string>();
  const revoked: string[] = [];
  const turn = async (name: string) => {
    for (;;) {
      const made = await service.call<{ id: string; token: string }>('POST', '/v1/tokens', { name }).catch(() => null);
      if (made === null) return;
      held.set(made.body.id, made.body.token);
      const [oldest] = held;
      if (held.size < 10) continue;
      held.delete(oldest[0]); // whether it holds is not known until it is acknowledged
      const gone = await service.call('DELETE', `/v1/tokens/${oldest[0]}`).catch(() => null);
      if (gone === null) return;
      revoked.push(oldest[1]);
    }
  };
  const turns = ['a', 'b', 'c'].map(turn);
  await until(() => held.size + revoked.length >= 40, 'some were made and revoked');
  await service.kill();
  await Promise.all(turns);
  await service.start();
  const status = async (sent: string) => (await service.call('GET', '/v1/whoami', undefined, { token: sent })).status;
  for (const each of held.values()) assert.equal(await status(each), 200);
  for (const each of revoked) assert.equal(await status(each), 401);
  assert.ok(revoked.length > 10);
});

test('the console that was built is served with all that it names, and nothing of it is from elsewhere', async () => {
  const get = (path: string) => service.call<string>('GET', path, undefined, { token: null });
  const page = await get('/');
  assert.equal(page.status, 200);
  const named = Array.from(page.body.matchAll(/\b(?:src|href)="([^"#]+)"/g), ([, path]) => path);
  assert.ok(named.length >= 2);
  for (const path of named) {
    assert.match(path, /^\/(?:assets\/|favicon\.svg$|manifest\.webmanifest$|icon-maskable\.png$)/);
    const { status, headers } = await get(path);
    assert.equal(status, 200, path);
    assert.equal(headers.get('cache-control')?.includes('immutable'), path.startsWith('/assets/'), path);
  }
});
