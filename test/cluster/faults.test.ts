/**
 * Three services, two of them with clocks ten minutes ahead and behind, on a real PostgreSQL under load, and faults drawn from a seed (READBACK_TEST_SEED): whoever is killed, held up, cut off or stopped,
 * what was acknowledged is there, once, at every look meanwhile and at the end, what was deleted is not, and nothing else is. READBACK_TEST_FAULTS: how many, one of each daily kind by default; `npm run soak -- --only cluster-faults` has 200 of every kind.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { listLibraries, releaseLibrary } from '../../src/cluster/administration.ts';
import type { PageListResponse, PageSummary } from '../../src/domain/page.ts';
import { CliHere } from '../cli/run-cli.ts';
import { type RunningService, until } from '../process/service.ts';
import { ShiftedClock } from '../process/shifted-clock.ts';
import { SmallDisk } from '../reliability/small-disk.ts';
import { newestFirst } from '../scope.ts';
import { seededChance } from '../seeded-chance.ts';
import { type ClusterOfServices, startCluster } from './cluster-of-services.ts';
import { withoutPostgres } from './postgres.ts';

const names = ['anna', 'ben'];
/** Of each library, at the same time. */
const clients = 2;
/** Short, so that the faults of a run are many. */
const leaseS = 3;
/** Of PostgreSQL. */
const diskMb = 600;
/** Between two looks of a reader, and of a client between two pages, ms: what matters is the faults, not how many pages meet them. */
const [readEveryMs, writeEveryMs] = process.env.READBACK_TEST_FAULTS === undefined ? [200, 400] : [50, 150];
/** A host that is held up answers nobody, ms. What comes later is not known to the client. */
const giveUpMs = 5000;

/** What a client knows of a page: an answer that did not come says nothing. */
type Known = 'asked' | 'acknowledged' | 'delete asked' | 'deleted';

interface Library {
  name: string;
  token: string;
  pages: Map<string, { known: Known; id: string | null }>;
  acknowledged: number;
}

/** One request to one of the hosts; null where no answer came, or a 503. */
async function ask<Body>(url: string, token: string, [method, path, body]: [string, string, unknown?]) {
  try {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(giveUpMs),
    });
    const text = await response.text();
    assert.ok(response.status < 500 || response.status === 503, `${method} ${path}: ${response.status} ${text}`);
    if (response.status === 503) assert.notEqual(response.headers.get('retry-after'), null, text);
    return response.status === 503
      ? null
      : { status: response.status, body: (text === '' ? null : JSON.parse(text)) as Body };
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return null;
  }
}

async function everyPage(urls: () => string[], { token }: Library): Promise<PageSummary[]> {
  const pages: PageSummary[] = [];
  let cursor: string | null = null;
  do {
    const path: string = `/v1/pages?limit=500${cursor === null ? '' : `&cursor=${cursor}`}`;
    let answer: { status: number; body: PageListResponse } | null = null;
    await until(async () => {
      answer = await ask<PageListResponse>(urls()[0], token, ['GET', path]);
      return answer !== null;
    }, 'pages are listed');
    const { body }: { body: PageListResponse } = answer as never;
    pages.push(...body.pages);
    cursor = body.next_cursor;
  } while (cursor !== null);
  return pages;
}

test('what a cluster has acknowledged through faults is there, once, and what it has deleted is not', {
  skip: withoutPostgres,
}, async (t) => {
  const scope = newestFirst(t);
  const { random } = seededChance(t, 20201);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)];
  const disk = SmallDisk.mount(diskMb);
  if (disk instanceof SmallDisk) {
    chmodSync(disk.path, 0o755);
    scope.after(() => disk.unmount());
  } else t.diagnostic(disk);
  const clocks = [600, -600].map(() => ShiftedClock.build());
  const clockOf = (host: number): Record<string, string> => {
    const clock = clocks[host];
    if (!(clock instanceof ShiftedClock)) return {};
    scope.after(() => clock.remove());
    clock.set(host === 0 ? 600 : -600);
    return clock.env;
  };
  const home = disk instanceof SmallDisk ? join(disk.path, 'postgres') : undefined;
  if (home !== undefined) mkdirSync(home);
  const cluster = await startCluster(scope, {
    env: { SERVICE_CLUSTER__LEASE_S: String(leaseS) },
    envOf: clockOf,
    home,
  });
  const { hosts, server, database } = cluster;
  const urls = hosts.map(({ url }) => url);
  const libraries: Library[] = [];
  for (const name of names) {
    const token = await cluster.library(name);
    libraries.push({ name, token, pages: new Map(), acknowledged: 0 });
    // Nothing is searched for by its meaning.
    const pause = () => ask(urls[0], token, ['POST', '/v1/models/fill', { paused: true }]);
    await until(async () => (await pause())?.status === 200, 'no vectors are made');
  }

  let isOver = false;
  let count = 0;
  const write = async (library: Library) => {
    while (!isOver) {
      const url = `https://example.com/${library.name}/${++count}`;
      const page: { known: Known; id: string | null } = { known: 'asked', id: null };
      library.pages.set(url, page);
      const body_extracted = `Page ${count} is about the word w${count}x.`;
      const added = await ask<{ page_id: string }>(pick(urls), library.token, [
        'POST',
        '/v1/pages',
        { url, title: `w${count}x`, body_extracted },
      ]);
      await delay(writeEveryMs);
      if (added === null) continue;
      assert.equal(added.status, 202, JSON.stringify(added.body));
      Object.assign(page, { known: 'acknowledged', id: added.body.page_id });
      library.acknowledged++;
      if (random() < 0.9) continue;
      page.known = 'delete asked';
      const deleted = await ask(pick(urls), library.token, ['POST', '/v1/forget', { url }]);
      // It may have been deleted by a request whose answer did not come.
      if (deleted !== null) page.known = 'deleted';
    }
  };
  const writing = libraries.flatMap((library) => Array.from({ length: clients }, () => write(library)));

  /** What readers saw that cannot be: an acknowledged page that is not there, one there whose deletion was acknowledged. */
  const seen: string[] = [];
  let looks = 0;
  const read = async (library: Library) => {
    while (!isOver) {
      await delay(readEveryMs);
      const settled = [...library.pages].filter(([, { known }]) => known === 'acknowledged' || known === 'deleted');
      if (settled.length === 0) continue;
      const [url, page] = pick(settled);
      const { known, id } = page;
      const answer = await ask(pick(urls), library.token, ['GET', `/v1/pages/${id}`]);
      if (answer === null) continue;
      looks++;
      if (known === 'deleted' && answer.status === 200) seen.push(`${url} was deleted and is there`);
      // It may have been deleted while it was asked for.
      if (page.known === 'acknowledged' && answer.status !== 200) seen.push(`${url} was there and is not`);
    }
  };
  const reading = libraries.map(read);

  /** Both libraries acknowledge pages again. */
  const going = async () => {
    const before = libraries.map(({ acknowledged }) => acknowledged);
    await Promise.race([
      until(() => libraries.every(({ acknowledged }, at) => acknowledged > before[at] + 2), 'pages are acknowledged'),
      Promise.all(writing), // which only ends by a failure now
    ]);
  };

  await going();
  const waits: Record<string, number[]> = {};
  const order = [...new Set([...dailyKinds, ...kinds])];
  t.diagnostic(`${faults} faults`);
  for (let at = 0; at < faults; at++) {
    const kind = order[at] ?? pick(kinds);
    const owned = pick(libraries);
    const owner = await ownerOf(cluster, owned.name);
    const began = performance.now();
    const goingSince = async () => {
      await going();
      return performance.now() - began;
    };
    const askAll = () =>
      Promise.all(
        Array.from({ length: 9 }, (_, no) => ask(urls[no % urls.length], owned.token, ['GET', '/v1/jobs?limit=1'])),
      );
    const fault = { ...cluster, owner, library: owned.name, going: goingSince, askAll, disk };
    const waited = await faultOf[kind](fault);
    waits[kind] = [...(waits[kind] ?? []), Math.round(waited)];
    await going();
  }
  isOver = true;
  await Promise.all([...writing, ...reading]);
  assert.deepEqual(seen, []);
  t.diagnostic(`${looks} pages looked at meanwhile`);
  t.diagnostic(`${count} pages asked for; ms until pages were acknowledged again: ${JSON.stringify(waits)}`);

  for (const library of libraries) {
    const there = await everyPage(() => urls, library);
    assert.equal(new Set(there.map(({ canonical_url }) => canonical_url)).size, there.length, 'nothing is there twice');
    const byUrl = new Map(there.map((page) => [page.canonical_url, page]));
    const wrong = [...library.pages].flatMap(([url, { known, id }]) => {
      const page = byUrl.get(url);
      if (known === 'acknowledged' && page?.page_id !== id) return [`${url} is lost`];
      if (known === 'deleted' && page !== undefined) return [`${url} was deleted and is there`];
      return page !== undefined && page.visit_count !== 1 ? [`${url} was taken in ${page.visit_count} times`] : [];
    });
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      there.filter(({ canonical_url }) => !library.pages.has(canonical_url)),
      [],
      'nothing else is there',
    );
    // All of it becomes searchable, and the rows are a sound store.
    await until(async () => {
      const pages = await everyPage(() => urls, library);
      return pages.every(({ status }) => status === 'indexed');
    }, 'every page is indexed');
    for (const { title, page_id } of there.slice(0, 20)) {
      type Found = { results: { page_id: string }[]; timing_ms: { rebuilding?: number } };
      let found: Found | undefined;
      await until(async () => {
        found = (await ask<Found>(pick(urls), library.token, ['POST', '/v1/search', { query: title }]))?.body;
        return found !== undefined && found.timing_ms.rebuilding === undefined;
      }, 'the index is whole');
      assert.equal(found?.results[0]?.page_id, page_id, `${title} is found`);
    }
    const cli = new CliHere(hosts[0].home, { SERVICE_CLUSTER__DATABASE_URL: server.url });
    const dir = join(hosts[0].home, `exported-${library.name}`);
    const exported = await cli.run(['library', 'export', library.name, dir]);
    assert.equal(exported.code, 0, exported.stderr);
    const checked = await cli.run(['fsck'], {
      env: { SERVICE_DATA_DIR: dir, SERVICE_CLUSTER__DATABASE_URL: '' },
    });
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  }
  assert.equal((await listLibraries(database)).length, names.length);
});

/** The host that serves a library. */
async function ownerOf(
  { hosts, database }: Pick<ClusterOfServices, 'hosts' | 'database'>,
  name: string,
): Promise<RunningService> {
  let found: RunningService | undefined;
  await until(async () => {
    const library = (await listLibraries(database)).find((each) => each.name === name);
    found = hosts.find(({ url }) => url === library?.address);
    return found !== undefined;
  }, `somebody serves ${name}`);
  assert.ok(found !== undefined);
  return found;
}

interface Fault extends Omit<ClusterOfServices, 'library'> {
  /** Who serves the library when it begins. */
  owner: RunningService;
  library: string;
  /** Both libraries acknowledge pages again; gives how long after the fault began, ms. */
  going(): Promise<number>;
  /** Ask every host for the library at once, several times. */
  askAll(): Promise<unknown>;
  /** Of PostgreSQL, or why it has none of its own. */
  disk: SmallDisk | string;
}

/** Another host has taken the library over. */
const takenOver = ({ owner, library, ...cluster }: Fault) =>
  until(async () => (await ownerOf(cluster, library)) !== owner, 'another host takes over');

/** Each gives when pages of both libraries were acknowledged again, ms after it began. */
const faultOf = {
  async 'the owner is killed'({ owner, going }: Fault) {
    await owner.kill();
    const waited = await going();
    await owner.start();
    return waited;
  },
  async 'the owner is held up past its lease'(fault: Fault) {
    fault.owner.signal('SIGSTOP');
    await takenOver(fault);
    const waited = await fault.going();
    fault.owner.signal('SIGCONT');
    return waited;
  },
  async 'PostgreSQL is killed'({ server, going }: Fault) {
    server.kill();
    await server.restart();
    return going();
  },
  async 'the owner’s connections are cut'({ owner, hosts, lines, going }: Fault) {
    lines[hosts.indexOf(owner)].cut();
    return going();
  },
  async 'the owner is cut off past its lease'(fault: Fault) {
    const line = fault.lines[fault.hosts.indexOf(fault.owner)];
    line.isDown = true;
    line.cut();
    await takenOver(fault);
    const waited = await fault.going();
    line.isDown = false;
    return waited;
  },
  async 'the owner is stopped in order'({ owner, going }: Fault) {
    await owner.stop();
    const waited = await going();
    await owner.start();
    return waited;
  },
  async 'PostgreSQL takes no writes until every lease is over'({ database, going }: Fault) {
    const setTo = async (value: string) => {
      await database.query({ text: `alter system set default_transaction_read_only = ${value}` });
      await database.query({ text: 'select pg_reload_conf()' });
    };
    await setTo('on');
    await until(async () => {
      const text = 'select count(*) as count from readback.library where lease_until > clock_timestamp()';
      const [{ count }] = await database.query<{ count: number }>({ text });
      return count === 0;
    }, 'every lease is over');
    await setTo('off');
    return going();
  },
  async 'PostgreSQL has no room until every lease is over'({ server, database, disk, going }: Fault) {
    if (!(disk instanceof SmallDisk)) return going();
    disk.fill();
    await delay(leaseS * 1000);
    disk.clear();
    // Without room for its log it ends, and may not come up again by itself.
    const answers = () =>
      database.query({ text: 'select 1' }).then(
        () => true,
        () => server.isStarted(),
      );
    await until(answers, 'PostgreSQL answers');
    return going();
  },
  async 'the owner’s line is slow'({ owner, hosts, lines, going }: Fault) {
    const line = lines[hosts.indexOf(owner)];
    line.delayMs = 200;
    const waited = await going();
    await going();
    line.delayMs = 0;
    return waited;
  },
  async 'the owner’s line loses everything past its lease'(fault: Fault) {
    const line = fault.lines[fault.hosts.indexOf(fault.owner)];
    line.isSilent = true;
    await takenOver(fault);
    const waited = await fault.going();
    line.isSilent = false;
    return waited;
  },
  async 'all hosts claim a library at once'({ database, library, going, askAll }: Fault) {
    for (let round = 0; round < 3; round++) {
      await releaseLibrary(database, library);
      await askAll();
    }
    return going();
  },
  async 'who claims a library is killed while it opens it'({ database, hosts, library, going }: Fault) {
    const text = 'select epoch, address from readback.library where name = $1';
    type Row = { epoch: number; address: string | null };
    const row = async () => (await database.query<Row>({ text, values: [library] }))[0];
    const { epoch } = await row();
    await releaseLibrary(database, library);
    let opener: RunningService | undefined;
    await until(async () => {
      const { epoch: now, address } = await row();
      opener = now > epoch ? hosts.find(({ url }) => url === address) : undefined;
      return opener !== undefined;
    }, 'somebody claims it');
    await opener?.kill();
    const waited = await going();
    await opener?.start();
    return waited;
  },
  async 'every host is started anew, one after another'({ hosts, going }: Fault) {
    for (const host of hosts) {
      await host.stop();
      await host.start();
    }
    return going();
  },
  async 'a library is moved'({ database, library, going }: Fault) {
    await releaseLibrary(database, library);
    return going();
  },
};
const kinds = Object.keys(faultOf) as (keyof typeof faultOf)[];
/** The other kinds are those of single hosts in test/cluster/commits.test.ts and services.test.ts. */
const dailyKinds: typeof kinds = [
  'the owner is killed',
  'the owner is held up past its lease',
  'PostgreSQL has no room until every lease is over',
  'who claims a library is killed while it opens it',
  'every host is started anew, one after another',
  'the owner is cut off past its lease',
  'PostgreSQL takes no writes until every lease is over',
];
const faults = Number(process.env.READBACK_TEST_FAULTS ?? dailyKinds.length);
