/** A cluster of three services: any host answers any request, one at a time commits, and an owner that ends, is killed or held up is followed by another. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Cli } from '../cli/run-cli.ts';
import { EventStream } from '../process/event-stream.ts';
import { type Answer, type RunningService, token, until } from '../process/service.ts';
import { startCluster } from './cluster-of-services.ts';
import { withoutPostgres } from './postgres.ts';

const skip = withoutPostgres;
const page = (name: string) => ({
  url: `https://example.com/${name}`,
  title: name,
  body_extracted: `A text about ${name}.`,
});

/** Ask until the library is open somewhere, as a client does that reads Retry-After. */
async function asked<Body>(
  host: RunningService,
  token: string,
  [method, path, body]: [string, string, unknown?],
): Promise<Answer<Body>> {
  let answer: Answer<Body> | undefined;
  await until(async () => {
    answer = await host.call<Body>(method, path, body, { token });
    if (answer.status === 503) assert.notEqual(answer.headers.get('retry-after'), null);
    return answer.status !== 503;
  }, `${method} ${path} is answered`);
  assert.ok(answer !== undefined);
  return answer;
}

/** Titles that a search finds, once the index of a library that was just opened is whole. */
async function found(host: RunningService, token: string, query: string): Promise<string[]> {
  type Found = { results: { title: string }[]; timing_ms: { rebuilding?: number } };
  let body: Found | undefined;
  await until(async () => {
    body = (await asked<Found>(host, token, ['POST', '/v1/search', { query }])).body;
    return body.timing_ms.rebuilding === undefined;
  }, 'the index is whole');
  return (body?.results ?? []).map(({ title }) => title);
}

test('any host takes pages and answers searches for any library, and libraries are apart', { skip }, async (t) => {
  const { hosts, library } = await startCluster(t, { env: { SERVICE_AUTH_TOKEN: token } });
  const [one, two, three] = hosts;
  const [anna, ben] = [await library('anna'), await library('ben')];
  const added = await asked<{ page_id: string }>(one, anna, ['POST', '/v1/pages', page('herons')]);
  assert.equal(added.status, 202);
  assert.equal((await asked(two, ben, ['POST', '/v1/pages', page('bread')])).status, 202);
  // Each host tells of itself.
  const served = async (host: RunningService) => {
    const { status, body } = await host.call<string>('GET', '/metrics');
    assert.equal(status, 200);
    return Number(/^libraries\{state="serving"\} (\d+)$/m.exec(body)?.[1] ?? 0);
  };
  const counts = await Promise.all(hosts.map(served));
  assert.deepEqual([counts[0] >= 1, counts.reduce((sum, count) => sum + count)], [true, 2], String(counts));
  for (const host of hosts) {
    await until(async () => (await found(host, anna, 'herons')).length > 0, 'it is indexed');
    assert.deepEqual(await found(host, anna, 'herons'), ['herons']);
    assert.deepEqual(await found(host, anna, 'bread'), []);
    assert.equal((await host.call('GET', '/readyz', undefined, { token: null })).status, 200);
    assert.equal((await host.call('GET', '/v1/jobs', undefined, { token: 'nobody’s'.replace('’', '') })).status, 401);
  }
  const tools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const headers = { accept: 'application/json, text/event-stream' };
  const listed = await three.call<string>('POST', '/mcp', tools, { token: anna, headers });
  assert.equal(listed.status, 200);

  // Orderly: the next one serves at once, nothing is lost.
  await one.stop();
  assert.deepEqual(await found(two, anna, 'herons'), ['herons']);
  assert.deepEqual(await found(three, anna, 'herons'), ['herons']);
});

test('the commands make, list, suspend, carry and delete libraries', { skip }, async (t) => {
  const { hosts, server } = await startCluster(t, { hosts: 1 });
  const [host] = hosts;
  const cli = new Cli(host.home, { SERVICE_CLUSTER__DATABASE_URL: server.url });
  const ran = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run(args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  await ran('cluster', 'init');
  const anna = await ran('library', 'new', 'anna');
  assert.equal((await asked(host, anna, ['POST', '/v1/pages', page('herons')])).status, 202);
  await until(async () => (await found(host, anna, 'herons')).length > 0, 'it is indexed');
  assert.match(await ran('cluster', 'status'), new RegExp(`^anna +active +\\d+ +\\d.* ${host.url}$`, 'm'));

  // Beyond its quota a library takes no pages, and is served.
  await ran('library', 'quota', 'anna', '1kB');
  assert.match(await ran('library', 'list'), /^anna .* 1.0 kB /m);
  const statusOf = async () => (await asked(host, anna, ['POST', '/v1/pages', page('herons')])).status;
  await until(async () => (await statusOf()) === 507, 'it takes no pages');
  assert.deepEqual(await found(host, anna, 'herons'), ['herons']);
  assert.equal((await cli.run(['library', 'quota', 'anna', 'much'])).code, 2);
  await ran('library', 'quota', 'anna', 'none');
  await until(async () => (await statusOf()) === 200, 'it takes pages');

  // Another token is known to the host that serves the library, and one that was revoked is known to none.
  const phone = await ran('library', 'token', 'anna', '--name', 'phone', '--scope', 'read');
  assert.deepEqual(await found(host, phone, 'herons'), ['herons']);
  assert.equal((await asked(host, phone, ['POST', '/v1/pages', page('no')])).status, 403);
  type Tokens = { tokens: { id: string; name: string }[] };
  const { tokens } = (await asked<Tokens>(host, anna, ['GET', '/v1/tokens'])).body;
  const revoked = tokens.find(({ name }) => name === 'phone');
  assert.equal((await asked(host, anna, ['DELETE', `/v1/tokens/${revoked?.id}`])).status, 204);
  assert.equal((await host.call('GET', '/v1/jobs', undefined, { token: phone })).status, 401);

  // Out, and in again under another name; the folder is one that a service alone can use.
  const dir = join(host.home, 'exported');
  await ran('library', 'export', 'anna', dir);
  const ben = await ran('library', 'import', 'ben', dir);
  assert.deepEqual(await found(host, ben, 'herons'), ['herons']);
  assert.equal(
    (await cli.run(['fsck'], { env: { SERVICE_DATA_DIR: dir, SERVICE_CLUSTER__DATABASE_URL: '' } })).code,
    0,
  );

  await ran('library', 'suspend', 'anna');
  await until(async () => (await host.call('GET', '/v1/jobs', undefined, { token: anna })).status === 503, 'suspended');
  await ran('library', 'resume', 'anna');
  assert.deepEqual(await found(host, anna, 'herons'), ['herons']);
  assert.equal((await cli.run(['library', 'delete', 'anna'])).code, 2);
  await ran('library', 'delete', 'anna', '--yes');
  await until(async () => (await host.call('GET', '/v1/jobs', undefined, { token: anna })).status === 401, 'gone');
  assert.deepEqual(await found(host, ben, 'herons'), ['herons']);
});

test('a browser signs in, and an extension pairs, at any host', { skip }, async (t) => {
  const { hosts, library } = await startCluster(t, { hosts: 2 });
  const [one, two] = hosts;
  const anna = await library('anna');
  assert.equal((await asked(one, anna, ['GET', '/v1/jobs'])).status, 200);
  const code = async (purpose: string) =>
    (await asked<{ code: string }>(one, anna, ['POST', '/v1/codes', { purpose }])).body.code;
  const signedIn = await two.call('POST', '/v1/sessions', { code: await code('session') }, { token: null });
  assert.equal(signedIn.status, 201);
  const [cookie] = String(signedIn.headers.get('set-cookie')).split(';');
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  assert.equal((await two.call('GET', '/v1/jobs', undefined, { token: null, headers })).status, 200);
  const paired = { code: await code('pair'), name: 'extension' };
  const pair = await two.call<{ token: string }>('POST', '/v1/pair', paired, { token: null });
  assert.equal(pair.status, 201);
  assert.equal((await two.call('POST', '/v1/pair', paired, { token: null })).status, 401);

  // What was made at runtime goes with the library.
  await one.kill();
  assert.equal((await asked(two, pair.body.token, ['GET', '/v1/jobs'])).status, 200);
  assert.equal((await two.call('GET', '/v1/jobs', undefined, { token: null, headers })).status, 200);
});

test('events of a library come through a host that does not serve it', { skip }, async (t) => {
  const { hosts, library } = await startCluster(t, { hosts: 2 });
  const [one, two] = hosts;
  const anna = await library('anna');
  assert.equal((await asked(one, anna, ['GET', '/v1/jobs'])).status, 200);
  const events = await EventStream.open(two.url, anna);
  assert.equal((await asked(one, anna, ['POST', '/v1/pages', page('herons')])).status, 202);
  await events.until((all) => all.some(({ data }) => JSON.stringify(data).includes('"done"')));
});

test('an idle library is closed, and opened when a job of it is due or its host has gone', { skip }, async (t) => {
  const { hosts, database, library } = await startCluster(t, {
    hosts: 2,
    env: { SERVICE_CLUSTER__IDLE_CLOSE_MINUTES: '0.01', SERVICE_CLUSTER__LEASE_S: '2' },
  });
  const [one, two] = hosts;
  const anna = await library('anna');
  type Row = { owner: string | null; address: string | null; epoch: number; due: 'now' | 'later' | 'never' };
  const row = async () => {
    const text = `select owner, address, epoch,
      case when due_at is null then 'never' when due_at > clock_timestamp() then 'later' else 'now' end as due from readback.library`;
    return (await database.query<Row>({ text }))[0];
  };
  /** It was opened since, and is closed again. */
  const closedAfter = async (epoch: number) => {
    let last: Row | undefined;
    await until(async () => {
      last = await row();
      return last.owner === null && last.epoch > epoch;
    }, `it is closed after epoch ${epoch}`);
    assert.ok(last !== undefined);
    return last;
  };
  assert.equal((await asked(one, anna, ['GET', '/v1/jobs'])).status, 200);
  const { epoch, due } = await closedAfter(0);
  assert.equal(due, 'never', 'there is nothing to do');

  // A page whose host is killed is indexed by another, though nobody asks.
  assert.equal((await asked(one, anna, ['POST', '/v1/pages', page('herons')])).status, 202);
  const { address } = await row();
  const [killed, other] = one.url === address ? [one, two] : [two, one];
  await killed.kill();
  const { epoch: then } = await closedAfter(epoch + 1);
  await killed.start();
  type Listed = { pages: { status: string }[] };
  const { pages } = (await asked<Listed>(other, anna, ['GET', '/v1/pages'])).body;
  assert.deepEqual(
    pages.map(({ status }) => status),
    ['indexed'],
  );

  // A watch of tomorrow does not keep it open, and is thought of.
  const watch = { url: 'http://127.0.0.1:1/feed.xml', kind: 'rss', interval_hours: 24 };
  assert.equal((await asked(other, anna, ['POST', '/v1/watches', watch])).status, 201);
  const waiting = await closedAfter(then);
  assert.equal(waiting.due, 'later');
  await database.query({ text: 'update readback.library set due_at = clock_timestamp()' });
  await closedAfter(waiting.epoch);
});
