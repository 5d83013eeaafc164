/**
 * PostgreSQL set back to a point in time as an operator does it: a base backup, the archived log, a recovery target. The libraries are what was
 * acknowledged until then, also where hosts have files of theirs, and files of the index, that know more.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listLibraries } from '../../src/cluster/administration.ts';
import { type RunningService, until } from '../process/service.ts';
import { asked, found, page } from './asking.ts';
import { startCluster } from './cluster-of-services.ts';
import { withoutPostgres } from './postgres.ts';

interface Page {
  title: string;
  status: string;
}

/** What each library has by names of its pages: until the moment, after it, and when it was set back. */
const before = ['heron', 'otter', 'plover'];
const undone = ['kestrel', 'lapwing', 'merlin', 'nightjar'];
const later = ['pelican', 'quail', 'redstart', 'sandpiper', 'tern', 'wagtail'];

test('a database that was set back to a point in time is what hosts serve, whatever their files know', {
  skip: withoutPostgres,
}, async (t) => {
  // Leases that no stall outlasts: which host has which library is part of the test.
  const cluster = await startCluster(t, { archives: true, env: { SERVICE_CLUSTER__LEASE_S: '600' } });
  const { hosts, server, database } = cluster;
  const [one, two, three] = hosts;
  const owners = new Map<string, RunningService>([
    ['anna', one],
    ['ben', two],
    ['carl', one],
  ]);
  const names = [...owners.keys()];
  const tokens = new Map<string, string>();
  for (const name of names) tokens.set(name, await cluster.library(name));
  const ask = async <Body>(name: string, host: RunningService, ...request: [string, string, unknown?]) =>
    asked<Body>(host, tokens.get(name) ?? '', request);
  const pagesOf = async (name: string, host: RunningService) =>
    (await ask<{ pages: Page[] }>(name, host, 'GET', '/v1/pages?limit=100')).body.pages;
  const isIndexed = async (name: string, host: RunningService) =>
    until(
      async () => (await pagesOf(name, host)).every(({ status }) => status === 'indexed'),
      `pages of ${name} are indexed`,
    );
  const add = async (name: string, host: RunningService, titles: readonly string[]) => {
    for (const title of titles)
      assert.equal((await ask(name, host, 'POST', '/v1/pages', page(`${name}-${title}`))).status, 202);
    await isIndexed(name, host);
  };
  const tokenNames = async (name: string, host: RunningService) =>
    (await ask<{ tokens: { id: string; name: string }[] }>(name, host, 'GET', '/v1/tokens')).body.tokens;
  const newToken = async (name: string, host: RunningService, called: string) =>
    (await ask<{ token: string }>(name, host, 'POST', '/v1/tokens', { name: called, scopes: ['read'] })).body.token;
  const statusOf = async (host: RunningService, token: string) =>
    (await asked(host, token, ['GET', '/v1/jobs'])).status;

  // Until the moment: some of it in the base backup, the rest in the log behind it.
  for (const [name, owner] of owners) await add(name, owner, before.slice(0, 1));
  server.backUp();
  for (const [name, owner] of owners) await add(name, owner, before.slice(1));
  const phone = await newToken('anna', one, 'phone');
  // Commits go to PostgreSQL in order, and what readers see may be ahead: the answer to a request that commits says that all before is there.
  for (const [name, owner] of owners) {
    assert.equal((await ask(name, owner, 'POST', '/v1/forget', { domain: 'nobody.example' })).status, 200);
  }
  const then = new Map<string, Page[]>();
  for (const [name, owner] of owners) then.set(name, await pagesOf(name, owner));
  const owned = (await listLibraries(database)).map(({ name, address }) => [name, address]);
  assert.deepEqual(
    owned,
    Array.from(owners, ([name, { url }]) => [name, url]),
  );
  await database.query({ text: `select pg_create_restore_point('the moment')` });

  // After it, by the same hosts in the same epoch: pages, one that is forgotten, tokens, a library.
  for (const [name, owner] of owners) {
    await add(name, owner, undone);
    assert.deepEqual(await found(owner, tokens.get(name) ?? '', undone[0]), [`${name}-${undone[0]}`]);
    const { url } = page(`${name}-${before[0]}`);
    assert.equal((await ask(name, owner, 'POST', '/v1/forget', { url })).status, 200);
  }
  const revoked = (await tokenNames('anna', one)).find(({ name }) => name === 'phone');
  assert.equal((await ask('anna', one, 'DELETE', `/v1/tokens/${revoked?.id}`)).status, 204);
  assert.equal(await statusOf(one, phone), 401);
  const tablet = await newToken('anna', one, 'tablet');
  const dora = await cluster.library('dora');
  assert.equal((await asked(two, dora, ['POST', '/v1/pages', page('dora')])).status, 202);

  // One host ends in order; another is killed, when it has saved its index and taken its libraries again.
  await three.stop();
  await one.stop();
  await two.stop();
  await two.start();
  assert.equal((await pagesOf('ben', two)).length, before.length - 1 + undone.length);
  await two.kill();
  await server.restore('the moment');
  await until(async () => {
    const text = 'select pg_is_in_recovery() as recovering';
    return database.query<{ recovering: boolean }>({ text }).then(
      ([{ recovering }]) => !recovering,
      () => false,
    );
  }, 'the restored server takes writes');

  // The leases of that moment are over. A host without files of anna and ben goes on from there, further than the others had come.
  await database.query({ text: 'update readback.library set lease_until = clock_timestamp()' });
  await three.start();
  for (const name of ['anna', 'ben']) {
    assert.deepEqual(await pagesOf(name, three), then.get(name));
    await add(name, three, later);
  }
  assert.equal(await statusOf(three, phone), 200);
  assert.equal(await statusOf(three, tablet), 401);
  assert.equal(await statusOf(three, dora), 401);
  assert.deepEqual((await tokenNames('anna', three)).map(({ name }) => name).sort(), ['phone', 'test']);
  assert.deepEqual(
    (await listLibraries(database)).map(({ name }) => name),
    names,
  );
  await three.stop();
  const said = new Map([one, two].map((host) => [host, host.output.length]));
  const madeAgain = (name: string, host: RunningService) =>
    host.output
      .slice(said.get(host))
      .split('\n')
      .filter((line) => line.includes(`"library":"${name}"`) && line.includes('may be older than its index files'))
      .length;

  // Those that served them have files that know what was undone, and not what came in its place: each alone, or another might open its libraries.
  for (const host of [one, two]) {
    await host.start();
    for (const name of names.filter((each) => owners.get(each) === host)) {
      if (name === 'carl') {
        assert.deepEqual(await pagesOf(name, host), then.get(name));
        await add(name, host, later);
      }
      const there = await pagesOf(name, host);
      assert.deepEqual(
        there.map(({ title }) => title).sort(),
        [...before, ...later].map((title) => `${name}-${title}`).sort(),
      );
      assert.deepEqual(
        there.filter(({ title }) => !later.some((each) => title === `${name}-${each}`)),
        then.get(name),
      );
      for (const title of [...before, ...later])
        assert.deepEqual(await found(host, tokens.get(name) ?? '', title), [`${name}-${title}`], `${name}: ${title}`);
      for (const title of undone)
        assert.deepEqual(await found(host, tokens.get(name) ?? '', title), [], `${name}: ${title}`);
      assert.equal(madeAgain(name, host), 1, name);
    }
    await host.stop();
  }

  // What they have now is of the history, and used.
  said.set(one, one.output.length);
  await one.start();
  assert.deepEqual(await found(one, tokens.get('anna') ?? '', later[0]), [`anna-${later[0]}`]);
  assert.equal(madeAgain('anna', one), 0);
});
