import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { visitTimes } from '../../src/compute/structures/visit-times.ts';
import { StoreView } from '../../src/store/store-view.ts';
import { readItems } from '../importers/read-items.ts';
import { RunningService, token, until, withoutModel } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { CliHere } from './run-cli.ts';

const subjects = ['tides and moons', 'sourdough bread', 'job queues', 'tomato plants', 'steam governors', 'old maps'];

function page(no: number) {
  const subject = subjects[no % subjects.length];
  const body_extracted = `Notes number ${no} on ${subject}. `.repeat(12);
  return { url: `https://notes.example/${no}`, title: `${subject} ${no}`, body_extracted };
}

interface Manifest {
  pages: number;
  taken_at: string;
}

function cliOf(service: RunningService, home: string): CliHere {
  return new CliHere(home, {
    SERVICE_DATA_DIR: service.dataDir,
    SERVICE_AUTH_TOKEN: token,
    SERVICE_BIND_PORT: new URL(service.url).port,
  });
}

const modes = (dir: string): string[] =>
  ['.', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })].map(
    (name) => `${name} ${(statSync(join(dir, name)).mode & 0o777).toString(8)}`,
  );

test('a backup during ingest, restored elsewhere, is sound and has all that was acknowledged before it', async (t) => {
  const service = await RunningService.start(t, withoutModel);
  const home = temporaryFolder(t);
  const cli = cliOf(service, home);
  let acknowledged = 0;
  let ingesting = true;
  const ingest = (async () => {
    for (let no = 0; ingesting; no += 20) {
      const pages = Array.from({ length: 20 }, (_, at) => page(no + at));
      const { status } = await service.call('POST', '/v1/pages/batch', { pages });
      assert.equal(status, 200);
      acknowledged = no + 20;
    }
  })();
  await until(() => acknowledged >= 40, 'pages are acknowledged');
  const before = acknowledged;
  const dir = join(home, 'backup');
  const manifest = await cli.json<Manifest>(['backup', dir]);
  ingesting = false;
  await ingest;
  assert.ok(manifest.pages >= before, `${manifest.pages} of at least ${before} pages`);
  assert.deepEqual(modes(dir), ['. 700', 'backup.json 600', 'store 700', 'store/data.mdb 600']);
  const there = new CliHere(join(home, 'elsewhere'));
  await there.json(['restore', dir]);
  assert.equal((await there.json<{ sound: boolean }>(['fsck'])).sound, true);
  const view = StoreView.open(there.env.SERVICE_DATA_DIR);
  assert.equal(view.reader.pages.count(), manifest.pages);
  await view.close();
});

test('a restored folder answers searches as the first did, with the vectors that it had', async (t) => {
  const first = await RunningService.start(t);
  const { body } = await first.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
    pages: Array.from({ length: 20 }, (_, no) => page(no)),
  });
  await first.settled(body.results.map(({ page_id }) => page_id));
  const home = temporaryFolder(t);
  const dir = join(home, 'backup');
  await cliOf(first, home).json(['backup', dir]);
  const answers = async (service: RunningService) => {
    const found = [];
    for (const query of ['moon and tides', 'bread', 'queues of jobs', 'maps 11']) {
      const { body } = await service.call<{ results: { page_id: string; score: number; chunks: unknown[] }[] }>(
        'POST',
        '/v1/search',
        { query, k: 5 },
      );
      found.push(body.results.map(({ page_id, score, chunks }) => ({ page_id, score, chunks })));
    }
    return found;
  };
  const before = await answers(first);
  assert.ok(before.every((results) => results.length > 0));

  const second = RunningService.prepare(t);
  await new CliHere(home).json(['restore', dir], 0, { env: { SERVICE_DATA_DIR: second.dataDir } });
  const vectorsOf = async (dataDir: string) => {
    const view = StoreView.open(dataDir);
    const { pages, vectors, models, jobs } = view.reader;
    const space = models.all()[0].space;
    const all = pages.numbersAfter(0, 1000).map((no) => [no, vectors.get(space, no)]);
    // Entities may go on being read after the backup; whether a page is indexed is its index job's.
    const indexed = jobs
      .list({ kind: 'index_page', limit: 1000 })
      .map(({ no, status, attempts, updated_at }) => ({ no, status, attempts, updated_at }));
    await view.close();
    return { all, indexed };
  };
  await second.start();
  await until(async () => {
    const { body } = await second.call<{ timing_ms: Record<string, number> }>('POST', '/v1/search', { query: 'bread' });
    return !('rebuilding' in body.timing_ms);
  }, 'the index is built again');
  assert.deepEqual(await answers(second), before);
  assert.deepEqual(
    await vectorsOf(second.dataDir),
    await vectorsOf(first.dataDir),
    'no vector was made anew, no job ran again',
  );
});

test('what is no whole backup is refused, and a store that is there is only replaced when asked to, and kept', async (t) => {
  const home = temporaryFolder(t);
  const cli = new CliHere(home);
  const list = join(home, 'list');
  writeFileSync(list, 'https://one.example/\n');
  await cli.json(['import', list]);
  const dir = join(home, 'backup');
  const nothing = await cli.run(['backup', dir], { env: { SERVICE_DATA_DIR: join(home, 'no-data') } });
  assert.deepEqual([nothing.code, existsSync(dir)], [1, false], 'no folder is left where there is nothing to back up');
  await cli.json(['backup', dir]);
  assert.equal((await cli.run(['backup', dir])).code, 1, 'a backup is not written over');
  writeFileSync(list, 'https://two.example/\n');
  await cli.json(['import', list]);

  const refused = await cli.run(['restore', dir]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /--replace/);
  const { keptAt } = await cli.json<{ keptAt: string }>(['restore', dir, '--replace']);
  const pagesIn = async (dataDir: string) => {
    const view = StoreView.open(dataDir);
    const urls = [...view.reader.pages.all()].map(({ canonical_url }) => canonical_url);
    await view.close();
    return urls;
  };
  assert.deepEqual(await pagesIn(join(home, 'data')), ['https://one.example/']);
  assert.deepEqual(await pagesIn(keptAt), ['https://one.example/', 'https://two.example/']);

  const data = join(dir, 'store', 'data.mdb');
  const content = readFileSync(data);
  content[content.length >> 1] ^= 1;
  writeFileSync(data, content);
  const damaged = await cli.run(['restore', dir, '--replace']);
  assert.equal(damaged.code, 1);
  assert.match(damaged.stderr, /another checksum/);
  assert.match((await cli.run(['restore', home])).stderr, /no backup.json/);
  assert.deepEqual(await pagesIn(join(home, 'data')), ['https://one.example/']);
});

test('what was forgotten after a backup stays forgotten when the backup is restored over the store that knows of it', async (t) => {
  const service = await RunningService.start(t);
  const kept = { url: 'https://kept.example/1', body_extracted: 'Tides rise twice a day on this coast. '.repeat(5) };
  const gone = { url: 'https://gone.example/1', body_extracted: 'Tides of a secret coast rise, too. '.repeat(5) };
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
    pages: [kept, gone, { ...gone, url: 'https://other.example/x' }],
  });
  const [keptId, goneId, otherId] = body.results.map(({ page_id }) => page_id);
  await service.settled([keptId, goneId, otherId]);
  const home = temporaryFolder(t);
  await service.call('POST', '/v1/forget', { domain: 'early.example' });
  const dir = join(home, 'backup');
  await cliOf(service, home).json(['backup', dir]);
  await service.call('POST', '/v1/forget', { domain: 'gone.example', reason: 'private' });
  await service.call('POST', '/v1/forget', { url: 'https://other.example/x' });
  await service.stop();
  const restored = await new CliHere(home).json<{ carriedRules: number; allRulesRead: boolean }>(
    ['restore', dir, '--replace'],
    0,
    { env: { SERVICE_DATA_DIR: service.dataDir } },
  );
  assert.deepEqual([restored.carriedRules, restored.allRulesRead], [2, true]);
  const view = StoreView.open(service.dataDir);
  assert.deepEqual(view.reader.blacklist.withoutSettings(), [], 'rules for addresses bring their settings along');
  await view.close();

  await service.start();
  const { body: found } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/search', {
    query: 'tides of a coast',
  });
  assert.deepEqual(
    found.results.map(({ page_id }) => page_id),
    [keptId],
  );
  for (const id of [goneId, otherId])
    assert.equal((await service.call('GET', `/v1/pages/${id}`)).status, 404, 'it is erased before anything is served');
  const { body: rules } = await service.call<{ entries: { pattern: string; reason: string | null }[] }>(
    'GET',
    '/v1/blacklist',
  );
  assert.deepEqual(rules.entries.map(({ pattern, reason }) => [pattern, reason]).sort(), [
    ['early.example', null],
    ['gone.example', 'private'],
    ['https://other.example/x', null],
  ]);
});

test('a restore over a damaged store says that rules of it could not be read, and is done all the same', async (t) => {
  const home = temporaryFolder(t);
  const cli = new CliHere(home);
  await cli.json(['import', '-'], 0, { input: 'https://one.example/\n' });
  const dir = join(home, 'backup');
  await cli.json(['backup', dir]);
  writeFileSync(join(home, 'data', 'store', 'data.mdb'), Buffer.alloc(1 << 16, 0xa5));
  const { code, stderr } = await cli.run(['restore', dir, '--replace']);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /some rules of the damaged store are unreadable/);
  assert.equal((await cli.json<{ sound: boolean }>(['fsck'])).sound, true);
});

test('files are private whatever the umask, and a link is no data folder', async (t) => {
  const home = temporaryFolder(t);
  const mask = process.umask(0);
  t.after(() => process.umask(mask));
  const cli = new CliHere(home);
  const list = join(home, 'list');
  writeFileSync(list, 'https://one.example/\n');
  await cli.json(['import', list]);
  await cli.json(['backup', join(home, 'backup')]);
  await cli.json(['export', join(home, 'all.jsonl')]);
  await cli.json(['token', 'new']);
  const open = [join(home, 'data'), join(home, 'backup')]
    .flatMap((dir) => modes(dir).map((line) => `${dir}/${line}`))
    .filter((line) => !/ [67]00$/.test(line));
  assert.deepEqual(open, []);
  assert.equal(statSync(join(home, 'all.jsonl')).mode & 0o777, 0o600);
  mkdirSync(join(home, 'real'));
  chmodSync(join(home, 'real'), 0o700);
  symlinkSync(join(home, 'real'), join(home, 'link'));
  const linked = await cli.run(['restore', join(home, 'backup')], { env: { SERVICE_DATA_DIR: join(home, 'link') } });
  assert.equal(linked.code, 1);
  assert.match(linked.stderr, /not a plain folder/);
});

test('an export does not touch other files, and writes over its own only when asked to', async (t) => {
  const home = temporaryFolder(t);
  const cli = new CliHere(home);
  const list = join(home, 'list');
  writeFileSync(list, 'https://one.example/\n');
  await cli.json(['import', list]);
  const folder = join(home, 'exports');
  mkdirSync(folder);
  const file = join(folder, 'all.jsonl');
  writeFileSync(`${file}.new`, 'of somebody');
  await cli.json(['export', file]);
  const first = readFileSync(file, 'utf8');
  const refused = await cli.run(['export', file]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /exists; --force overwrites it/);
  assert.equal(readFileSync(file, 'utf8'), first);
  const nowhere = await cli.run(['export', join(home, 'nowhere', 'all.jsonl')]);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /the folder .*nowhere does not exist\n$/);
  await cli.json(['export', file, '--force']);
  assert.notEqual(readFileSync(file, 'utf8'), first, 'it was exported later');
  assert.deepEqual(readdirSync(folder).sort(), ['all.jsonl', 'all.jsonl.new']);
  assert.equal(readFileSync(`${file}.new`, 'utf8'), 'of somebody');
});

test('an export, as JSONL or as Markdown, taken in elsewhere has the same pages, rules and watches, and taking it in again changes nothing', async (t) => {
  const service = await RunningService.start(t, withoutModel);
  await service.call('POST', '/v1/pages/batch', { pages: Array.from({ length: 30 }, (_, no) => page(no)) });
  for (const fetched_at of ['2020-01-01T00:00:00Z', '2021-02-03T04:05:06Z', '2022-01-01T00:00:00Z'])
    await service.call('POST', '/v1/pages', { ...page(3), metadata: { tag: 'x' }, fetched_at });
  const odd = {
    url: 'https://odd.example/a?b=1',
    title: 'Weirs & "mills" <b>, 水',
    body_html: '<h1>Weir</h1><p>---</p><p>key: value</p><pre>---\r\n  a\tb\n---</pre><h2>Mill</h2><p>Text.</p>',
    body_is_article: true,
    metadata: {
      ...{
        tags: ['a b', 'c'],
        folder: 'Reading/Water',
        note: 'one\ntwo',
        status: 'unread',
        highlights: ['Salmon\nmine'],
      },
      ...{ title: 'of its own', 'a key: odd': { deep: [null, 1.5] }, kind: 'x', body_text: null, metadata: {} },
    },
  };
  for (const each of [odd, { ...odd, url: 'https://bare.example/', body_html: '<p>Bare.</p>', metadata: {} }])
    assert.equal((await service.call('POST', '/v1/pages', each)).status, 202);
  await service.call('POST', '/v1/forget', { domain: 'gone.example', reason: 'private' });
  await service.call('POST', '/v1/watches', { url: 'https://feed.example/rss', enabled: false });
  const home = temporaryFolder(t);
  const file = join(home, 'all.jsonl');
  const [folder, bookmarks] = ['folder', 'bookmarks.html'].map((name) => join(home, name));
  await cliOf(service, home).json(['export', file]);
  await cliOf(service, home).json(['export', folder, '--format', 'markdown']);
  await cliOf(service, home).json(['export', bookmarks, '--format', 'bookmarks']);
  assert.match((await cliOf(service, home).run(['export', folder, '--format', 'markdown'])).stderr, /exists/);
  await service.stop();
  const contents = async (dataDir: string) => {
    const view = StoreView.open(dataDir);
    const { pages, blacklist, watches } = view.reader;
    const all = pages.numbersAfter(0, 100).map((no) => {
      const row = pages.get(no);
      assert.ok(row !== undefined);
      const { canonical_url, title, source, metadata, visit_count, content_hash } = row;
      return {
        canonical_url,
        title,
        source,
        metadata,
        visits: visitTimes(row),
        visit_count,
        content_hash,
        body: pages.body(no),
        sections: pages.sections(no),
      };
    });
    const rules = blacklist
      .list()
      .map(({ pattern, kind, reason, created_at }) => ({ pattern, kind, reason, created_at }));
    const feeds = watches
      .list()
      .map(({ url, kind, enabled, interval_hours }) => ({ url, kind, enabled, interval_hours }));
    await view.close();
    return { all, rules, feeds };
  };
  const sent = await contents(service.dataDir);
  assert.equal(sent.all.length, 32);
  for (const source of [folder, file]) {
    const own = temporaryFolder(t);
    const elsewhere = new CliHere(own);
    await elsewhere.json(['import', source]);
    const second = await elsewhere.json<Record<string, number>>(['import', source]);
    assert.deepEqual([second.new_pages, second.known_pages, second.rules, second.watches], [0, 32, 0, 0]);
    assert.deepEqual(await contents(join(own, 'data')), sent, source);
  }
  const { items } = await readItems(bookmarks);
  assert.deepEqual(
    items.map((item) => [item.url, item.title, item.at, item.metadata]).sort(),
    sent.all
      .map(({ canonical_url, title, visits, metadata }) => {
        const { tags, folder, note, status } = metadata ?? {};
        const known = Object.entries({ tags, folder, note, status }).filter(([, value]) => value !== undefined);
        const at = Math.floor(Math.min(...visits) / 1000) * 1000;
        return [canonical_url, title, at, known.length === 0 ? null : Object.fromEntries(known)];
      })
      .sort(),
  );

  const elsewhere = new CliHere(home);
  rmSync(join(folder, 'pages', readdirSync(join(folder, 'pages'))[0]));
  assert.match((await elsewhere.run(['import', folder])).stderr, /the export has \d+ of \d+ lines/);
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, lines.slice(0, 10).join('\n'));
  const cut = await elsewhere.run(['import', file]);
  assert.equal(cut.code, 1);
  assert.match(cut.stderr, /truncated/);
});
