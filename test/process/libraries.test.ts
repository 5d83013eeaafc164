/** Several libraries in one process: each has its pages, tokens and faults to itself. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CliHere } from '../cli/run-cli.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import { token as anna, RunningService, until } from './service.ts';

const ben = 'token-of-ben-4711';
const benReads = 'token-of-ben-who-reads';
const everybody = [
  { name: 'laptop', token: anna, library: 'anna' },
  { name: 'laptop', token: ben, library: 'ben' },
  { name: 'phone', token: benReads, library: 'ben', scopes: ['read'] },
];

/** A service with the libraries of Anna and Ben, which the tests share in this order. */
let shared: { service: RunningService; dir: string };
const scope = newestFirst({ after });
before(async () => {
  const dir = temporaryFolder(scope);
  const service = await RunningService.start(scope, {
    SERVICE_AUTH_TOKEN: '',
    SERVICE_AUTH_TOKENS: JSON.stringify(everybody),
    SERVICE_LIBRARIES__DIR: dir,
  });
  shared = { service, dir };
});

/** A library is opened beside what the service does already. */
async function opened(service: RunningService, token: string): Promise<void> {
  const isOpen = async () => (await service.call('GET', '/v1/jobs', undefined, { token })).status === 200;
  await until(isOpen, 'the library is open');
}

async function add(service: RunningService, token: string, url: string, text: string): Promise<string> {
  const body = { url, title: url, body_extracted: text };
  await opened(service, token);
  const added = await service.call<{ page_id: string }>('POST', '/v1/pages', body, { token });
  assert.equal(added.status, 202);
  const { page_id } = added.body;
  const status = async () =>
    (await service.call<{ status: string }>('GET', `/v1/pages/${page_id}/status`, undefined, { token })).body.status;
  await until(async () => (await status()) === 'indexed', 'the page is indexed');
  return page_id;
}

async function found(service: RunningService, token: string, query: string): Promise<string[]> {
  type Body = { results: { canonical_url: string }[] };
  const { status, body } = await service.call<Body>('POST', '/v1/search', { query }, { token });
  assert.equal(status, 200);
  return body.results.map(({ canonical_url }) => canonical_url);
}

test('what is in one library is in no other: pages, searches, jobs, forgetting, numbers, a restart', async () => {
  const { service, dir } = shared;
  await add(service, anna, 'https://anna.example/herons', 'Herons are wading birds that hunt fish in shallow water.');
  await add(
    service,
    ben,
    'https://ben.example/herons',
    'A heron stood in the garden pond, and the goldfish were gone.',
  );
  await add(service, ben, 'https://ben.example/bread', 'A sourdough bread needs flour, water, salt and patience.');
  assert.deepEqual(readdirSync(dir).sort(), ['anna', 'ben']);

  assert.deepEqual(await found(service, anna, 'herons fish'), ['https://anna.example/herons']);
  assert.deepEqual(await found(service, ben, 'herons fish'), ['https://ben.example/herons']);
  assert.deepEqual(await found(service, benReads, 'sourdough'), ['https://ben.example/bread']);
  assert.deepEqual(await found(service, anna, 'sourdough'), []);
  type Jobs = { jobs: { kind: string }[] };
  const jobsOf = async (token: string) =>
    (await service.call<Jobs>('GET', '/v1/jobs?kind=index_page', undefined, { token })).body.jobs.length;
  assert.deepEqual([await jobsOf(anna), await jobsOf(ben)], [1, 2]);

  type Config = { settings: { auth_tokens: { name: string }[] } };
  const config = await service.call<Config>('GET', '/v1/admin/config', undefined, { token: anna });
  assert.deepEqual(
    config.body.settings.auth_tokens.map(({ name }) => name),
    ['laptop'],
    'the tokens of others are nobody’s business',
  );
  const metrics = await service.call<string>('GET', '/metrics', undefined, { token: anna });
  assert.match(metrics.body, /^ingest_pages_total\{outcome="queued"\} 3$/m);

  const forgotten = await service.call('POST', '/v1/forget', { domain: 'anna.example' }, { token: anna });
  assert.equal(forgotten.status, 200);
  assert.deepEqual(await found(service, anna, 'herons'), []);
  assert.deepEqual(await found(service, ben, 'herons'), ['https://ben.example/herons']);

  await service.kill('SIGKILL');
  await service.start();
  await opened(service, anna);
  await add(service, ben, 'https://anna.example/allowed', 'What Anna has forgotten Ben may read.');
  assert.deepEqual(await found(service, ben, 'heron'), ['https://ben.example/herons']);
  const refused = await service.call('POST', '/v1/pages', { url: 'https://anna.example/2' }, { token: anna });
  assert.equal(refused.status, 403, 'and she still has');
});

test('what breaks one library leaves the others alone; it is opened again when that is mended', async () => {
  const { service, dir } = shared;
  await add(service, anna, 'https://birds.example/herons', 'Herons are wading birds that hunt fish in shallow water.');
  renameSync(join(dir, 'ben'), join(dir, 'elsewhere'));
  const page = { url: 'https://ben.example/2', body_extracted: 'Rye bread.' };
  const statusOf = async (token: string) => (await service.call('POST', '/v1/pages', page, { token })).status;
  await until(async () => (await statusOf(ben)) === 503, 'nothing can be kept without a folder');
  assert.deepEqual(await found(service, anna, 'herons'), ['https://birds.example/herons']);
  assert.equal(await statusOf(anna), 202);
  assert.equal((await service.call('GET', '/readyz', undefined, { token: null })).status, 200);
  if (existsSync(join(dir, 'ben'))) rmSync(join(dir, 'ben'), { recursive: true });
  renameSync(join(dir, 'elsewhere'), join(dir, 'ben'));
  await until(async () => (await statusOf(ben)) === 202, 'the folder is back');
  assert.deepEqual(await found(service, ben, 'sourdough'), ['https://ben.example/bread']);
});

test('the command works on the library that is named, over HTTP and in its folder', async () => {
  const { service, dir } = shared;
  await add(service, ben, 'https://ben.example/cheese', 'A cheese of sheep’s milk needs salt, a cellar and patience.');
  await opened(service, anna);
  const cli = new CliHere(service.home, {
    SERVICE_AUTH_TOKENS: JSON.stringify(everybody),
    SERVICE_LIBRARIES__DIR: dir,
    SERVICE_BIND_PORT: new URL(service.url).port,
  });
  const search = async (...options: string[]) => {
    const { code, stdout, stderr } = await cli.run([...options, '--json', 'search', 'cheese sheep']);
    return { code, stderr, found: JSON.parse(stdout).results?.length };
  };
  assert.deepEqual(await search('--library', 'ben'), { code: 0, stderr: '', found: 1 });
  assert.deepEqual(await search('--library', 'anna'), { code: 0, stderr: '', found: 0 });
  const unnamed = await search();
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.stderr, /there are several libraries: pass --library with one of anna, ben/);
  assert.match((await search('--library', 'carl')).stderr, /--library carl: there is no such library, only anna, ben/);
  await service.stop();
  const kept = await cli.run(['--library', 'ben', '--json', 'backup', join(service.home, 'copy')]);
  assert.equal(kept.code, 0, kept.stderr);
  assert.ok(JSON.parse(kept.stdout).pages > 0);
  const proved = await cli.run(['--library', 'ben', 'fsck']);
  assert.equal(proved.code, 0, proved.stderr);
});

test('a library that cannot be opened says why, and the others are served', async () => {
  const { service, dir } = shared;
  truncateSync(join(dir, 'ben', 'store', 'data.mdb'), 5000);
  await service.start();
  await opened(service, anna);
  assert.deepEqual(await found(service, anna, 'herons'), ['https://birds.example/herons']);
  const refused = await service.call<{ detail: string }>('GET', '/v1/jobs', undefined, { token: ben });
  assert.equal(refused.status, 503);
  await until(() => /"library":"ben".*damaged/.test(service.output), 'the log has the damage');
});

test('a token of a library is refused where there is no folder for libraries', async (t) => {
  const service = RunningService.prepare(t, { SERVICE_AUTH_TOKENS: JSON.stringify(everybody) });
  const { code, stderr } = await service.attempt();
  assert.equal(code, 2);
  assert.match(stderr, /SERVICE_AUTH_TOKENS: the token laptop belongs to the library anna: set SERVICE_LIBRARIES__DIR/);
});
