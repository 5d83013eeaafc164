/**
 * A cluster of three services, which the tests share in this order: any host answers any request, one at a time commits, and an owner that ends, is killed
 * or held up is followed by another.
 */
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CliHere } from '../cli/run-cli.ts';
import { type RunningService, token, until } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { asked, followed, found, page } from './asking.ts';
import { type ClusterOfServices, startCluster } from './cluster-of-services.ts';
import { withoutPostgres } from './postgres.ts';

const skip = withoutPostgres;
let cluster: ClusterOfServices;
const scope = newestFirst({ after });

before(async () => {
  if (skip !== false) return;
  const env = { SERVICE_AUTH_TOKEN: token, SERVICE_CLUSTER__LEASE_S: '60' };
  cluster = await startCluster(scope, { env });
});

test('a host rehearses the opening of a library, and keeps nothing of it', { skip }, async () => {
  for (const host of cluster.hosts) {
    await until(() => host.output.includes('the warm-up opening of a library is done'), 'it was rehearsed');
    assert.equal(existsSync(join(host.dataDir, 'tmp', 'rehearsal')), false);
  }
});

test('events of a library come through a host that does not serve it', { skip }, async () => {
  const { hosts, library } = cluster;
  const [one, two] = hosts;
  const eve = await library('eve');
  assert.equal((await asked(one, eve, ['GET', '/v1/jobs'])).status, 200);
  const events = await followed(two, eve);
  assert.equal((await asked(one, eve, ['POST', '/v1/pages', page('herons')])).status, 202);
  await events.until((all) => all.some(({ data }) => JSON.stringify(data).includes('"done"')));
  events.close();
});

test('any host takes pages and answers searches for any library, and libraries are apart', { skip }, async () => {
  const { hosts, library } = cluster;
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
  await until(async () => {
    const [first, ...others] = await Promise.all(hosts.map(served));
    return first >= 1 && others.reduce((sum, count) => sum + count, first) === 3;
  }, 'the three libraries are each served once');
  for (const host of hosts) {
    await until(async () => (await found(host, anna, 'herons')).length > 0, 'it is indexed');
    assert.deepEqual(await found(host, anna, 'herons'), ['herons']);
    assert.deepEqual(await found(host, anna, 'bread'), []);
    assert.equal((await host.call('GET', '/readyz', undefined, { token: null })).status, 200);
    assert.equal((await host.call('GET', '/v1/jobs', undefined, { token: 'nobody’s'.replace('’', '') })).status, 401);
  }
  // Orderly: the next one serves at once, nothing is lost.
  await one.stop();
  assert.deepEqual(await found(two, anna, 'herons'), ['herons']);
  assert.deepEqual(await found(three, anna, 'herons'), ['herons']);
});

test('the commands make, list, suspend, carry and delete libraries', { skip }, async () => {
  const { hosts, server } = cluster;
  const [, host] = hosts;
  const cli = new CliHere(host.home, { SERVICE_CLUSTER__DATABASE_URL: server.url });
  const ran = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run(args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  await ran('cluster', 'init');
  const carl = await ran('library', 'new', 'carl');
  assert.equal((await asked(host, carl, ['POST', '/v1/pages', page('herons')])).status, 202);
  await until(async () => (await found(host, carl, 'herons')).length > 0, 'it is indexed');
  assert.match(await ran('cluster', 'status'), new RegExp(`^carl +active +\\d+ +\\d.* ${host.url}$`, 'm'));

  // Beyond its quota a library takes no pages, and is served.
  await ran('library', 'quota', 'carl', '1kB');
  assert.match(await ran('library', 'list'), /^carl .* 1.0 kB /m);
  const statusOf = async () => (await asked(host, carl, ['POST', '/v1/pages', page('herons')])).status;
  await until(async () => (await statusOf()) === 507, 'it takes no pages');
  assert.deepEqual(await found(host, carl, 'herons'), ['herons']);
  assert.equal((await cli.run(['library', 'quota', 'carl', 'much'])).code, 2);
  // The last page below the quota is taken and none after it, alone or with others; what is there can go.
  const disk = async () =>
    (await asked<{ store_used_bytes: number; store_max_bytes: number }>(host, carl, ['GET', '/v1/admin/disk'])).body;
  const quotaKb = Math.ceil((await disk()).store_used_bytes / 1000) + 60;
  await ran('library', 'quota', 'carl', `${quotaKb}kB`);
  await until(async () => (await disk()).store_max_bytes === quotaKb * 1000, 'the quota is known');
  const long = (no: number) => ({ ...page(`border-${no}`), body_extracted: 'A tarn in the hills. '.repeat(400) });
  const add = async (no: number) =>
    asked<{ page_id: string }>(host, carl, ['POST', '/v1/pages', long(no)]).then(({ status, body }) => {
      assert.ok(status === 202 || status === 507, `${status}`);
      return status === 507 ? null : body.page_id;
    });
  const taken: string[] = [];
  for (let id = await add(0); id !== null; id = await add(taken.length)) taken.push(id);
  const { store_used_bytes, store_max_bytes } = await disk();
  assert.ok(taken.length > 0 && store_used_bytes >= store_max_bytes, String(taken.length));
  assert.equal((await asked(host, carl, ['POST', '/v1/pages/batch', { pages: [long(100)] }])).status, 507);
  const listed = async () =>
    (await asked<{ pages: { page_id: string; title: string }[] }>(host, carl, ['GET', '/v1/pages'])).body.pages
      .filter(({ title }) => title.startsWith('border'))
      .map(({ page_id }) => page_id);
  assert.deepEqual((await listed()).sort(), [...taken].sort());
  for (const no of taken.keys()) {
    const { url } = page(`border-${no}`);
    assert.equal((await asked(host, carl, ['POST', '/v1/forget', { url }])).status, 200);
  }
  assert.deepEqual(await listed(), []);
  await ran('library', 'quota', 'carl', 'none');
  await until(async () => (await statusOf()) === 200, 'it takes pages');

  // Another token is known to the host that serves the library, and one that was revoked is known to none.
  const phone = await ran('library', 'token', 'carl', '--name', 'phone', '--scope', 'read');
  assert.deepEqual(await found(host, phone, 'herons'), ['herons']);
  assert.equal((await asked(host, phone, ['POST', '/v1/pages', page('no')])).status, 403);
  type Tokens = { tokens: { id: string; name: string }[] };
  const { tokens } = (await asked<Tokens>(host, carl, ['GET', '/v1/tokens'])).body;
  const revoked = tokens.find(({ name }) => name === 'phone');
  assert.equal((await asked(host, carl, ['DELETE', `/v1/tokens/${revoked?.id}`])).status, 204);
  assert.equal((await host.call('GET', '/v1/jobs', undefined, { token: phone })).status, 401);

  // Out, and in again under another name; the folder is one that a service alone can use.
  const dir = join(host.home, 'exported');
  await ran('library', 'export', 'carl', dir);
  const dora = await ran('library', 'import', 'dora', dir);
  assert.deepEqual(await found(host, dora, 'herons'), ['herons']);
  assert.equal(
    (await cli.run(['fsck'], { env: { SERVICE_DATA_DIR: dir, SERVICE_CLUSTER__DATABASE_URL: '' } })).code,
    0,
  );

  await ran('library', 'suspend', 'carl');
  await until(async () => (await host.call('GET', '/v1/jobs', undefined, { token: carl })).status === 503, 'suspended');
  await ran('library', 'resume', 'carl');
  assert.deepEqual(await found(host, carl, 'herons'), ['herons']);
  assert.equal((await cli.run(['library', 'delete', 'carl'])).code, 2);
  await ran('library', 'delete', 'carl', '--yes');
  await until(async () => (await host.call('GET', '/v1/jobs', undefined, { token: carl })).status === 401, 'gone');
  assert.deepEqual(await found(host, dora, 'herons'), ['herons']);
});

test('a browser signs in, an extension pairs, and tools are called at any host, and go on when the owner is killed', {
  skip,
}, async (t) => {
  const { hosts, database, library } = cluster;
  const [, two, three] = hosts;
  const emma = await library('emma');
  assert.equal((await asked(two, emma, ['POST', '/v1/pages', page('herons')])).status, 202);
  const code = async (purpose: string) =>
    (await asked<{ code: string }>(two, emma, ['POST', '/v1/codes', { purpose }])).body.code;
  const signedIn = await three.call('POST', '/v1/sessions', { code: await code('session') }, { token: null });
  assert.equal(signedIn.status, 201);
  const [cookie] = String(signedIn.headers.get('set-cookie')).split(';');
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  assert.equal((await three.call('GET', '/v1/jobs', undefined, { token: null, headers })).status, 200);
  const frank = await library('frank');
  const { body } = await asked<{ code: string }>(two, frank, ['POST', '/v1/codes', { purpose: 'session' }]);
  const kept = { code: body.code, keep_library: true };
  const refused = await three.call<object>('POST', '/v1/sessions', kept, { token: null, headers });
  const other = { library: 'frank', current_library: 'emma' };
  assert.deepEqual([refused.status, { ...refused.body, detail: '' }], [409, { ...other, detail: '' }]);
  const paired = { code: await code('pair'), name: 'extension' };
  const pair = await three.call<{ token: string }>('POST', '/v1/pair', paired, { token: null });
  assert.equal(pair.status, 201);
  assert.equal((await three.call('POST', '/v1/pair', paired, { token: null })).status, 401);
  const assistant = new Client({ name: 'test', version: '1' });
  t.after(() => assistant.close());
  const requestInit = { headers: { authorization: `Bearer ${emma}` } };
  await assistant.connect(new StreamableHTTPClientTransport(new URL(`${three.url}/mcp`), { requestInit }));
  assert.ok((await assistant.listTools()).tools.some(({ name }) => name === 'search'));

  // What was made at runtime goes with the library, and a client of tools goes on as it is: until then it is told to come again.
  const { url } = two;
  await two.kill();
  await database.query({
    text: 'update readback.library set lease_until = clock_timestamp() where address = $1',
    values: [url],
  });
  await until(async () => {
    const called = await assistant.callTool({ name: 'search', arguments: { query: 'herons' } }).catch((error) => {
      assert.ok(error instanceof StreamableHTTPError && error.code === 503, String(error));
      return null;
    });
    return called !== null && JSON.stringify(called.content).includes('A text about herons');
  }, 'the tool finds the page again');
  assert.equal((await asked(three, pair.body.token, ['GET', '/v1/jobs'])).status, 200);
  assert.equal((await three.call('GET', '/v1/jobs', undefined, { token: null, headers })).status, 200);
});

test('a host of another version starts on no tables that it does not know', { skip }, async () => {
  const { hosts, database } = cluster;
  const [stopped] = hosts;
  await database.query({ text: 'update readback.schema_version set version = version + 1' });
  const { code, stderr, stdout } = await stopped
    .attempt()
    .finally(() => database.query({ text: 'update readback.schema_version set version = version - 1' }));
  assert.equal(code, 1, stdout);
  assert.match(stderr + stdout, /this version of readback is too old for them/);
});

test('an idle library is closed, and opened when a job of it is due or its host has gone', { skip }, async () => {
  const { hosts, database, library } = cluster;
  const [one, two, three] = hosts;
  await three.kill();
  await database.query({ text: 'truncate readback.library, readback.entry cascade' });
  const env = { SERVICE_CLUSTER__IDLE_CLOSE_MINUTES: '0.01', SERVICE_CLUSTER__LEASE_S: '2' };
  await Promise.all([one.start(env), two.start(env)]);
  const anna = await library('anna');
  type Row = { owner: string | null; address: string | null; epoch: number; due: 'now' | 'later' | 'never' };
  const row = async () => {
    const text = `select owner, address, epoch,
      case when due_at is null then 'never' when due_at > clock_timestamp() then 'later' else 'now' end as due from readback.library`;
    return (await database.query<Row>({ text }))[0];
  };
  /** It was opened since, and is closed again as nothing is to be done: a lease that was lost leaves what is due, and another opens it. */
  const closedAfter = async (epoch: number) => {
    let last: Row | undefined;
    await until(async () => {
      last = await row();
      return last.owner === null && last.epoch > epoch && last.due !== 'now';
    }, `it is closed after epoch ${epoch}`);
    assert.ok(last !== undefined);
    return last;
  };
  assert.equal((await asked(one, anna, ['GET', '/v1/jobs'])).status, 200);
  const { due } = await closedAfter(0);
  assert.equal(due, 'never', 'there is nothing to do');

  // A page whose host is killed is indexed by another, though nobody asks. Whoever follows its events keeps a library open.
  const events = await followed(one, anna);
  // One whose answer was lost with a lease is sent again, and known then.
  assert.ok([200, 202].includes((await asked(one, anna, ['POST', '/v1/pages', page('herons')])).status));
  let owned: Row | undefined;
  await until(async () => {
    owned = await row();
    return owned.address !== null;
  }, 'a host has it');
  assert.ok(owned !== undefined);
  const { address, epoch: opened } = owned;
  const [killed, other] = one.url === address ? [one, two] : [two, one];
  await killed.kill();
  events.close();
  const { epoch: then } = await closedAfter(opened);
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

  // The copy of a host that was killed is not used, whatever is in it.
  const path = join(killed.dataDir, 'copies', 'anna', 'store', 'data.mdb');
  const file = openSync(path, 'r+');
  const inside = Buffer.alloc(statSync(path).size - 8192, 0xa5); // all but the two pages that are looked at
  writeSync(file, inside, 0, inside.length, 8192);
  closeSync(file);
  await other.stop();
  await killed.start(env);
  assert.equal((await asked<Listed>(killed, anna, ['GET', '/v1/pages'])).body.pages.length, 1);
});
