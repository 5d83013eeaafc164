import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { StoreView } from '../../src/store/store-view.ts';
import { smallPdf } from '../compute/extraction/small-pdf.ts';
import { writeHistory } from '../importers/history-file.ts';
import { RunningService, token, until, withoutModel } from '../process/service.ts';
import { Site } from '../providers/small-web.ts';
import { SmallDisk } from '../reliability/small-disk.ts';
import { type Scope, temporaryFolder } from '../scope.ts';
import { importThroughKills } from './import-through-kills.ts';
import { Cli, CliHere } from './run-cli.ts';

interface Imported {
  items: number;
  accepted: number;
  to_fetch: number;
  revisit: number;
  replaced: number;
  known: number;
  blacklisted: number;
  failed: number;
  skipped: Record<string, number>;
  finished: boolean;
  failures: { place: number; url: string; reason: string }[];
}

interface Preview {
  items: number;
  examples: { place: string; reason: string }[];
}

test('a history imported through two kills has every page once, with its visits and dates', async (t) => {
  const result = await importThroughKills(temporaryFolder(t), { urls: 3000, kills: 2, random: Math.random });
  assert.deepEqual(result.wrong, []);
  assert.deepEqual(result.found, { pages: 3000, visits: result.visits, jobs: 3000 });
  const { accepted, revisit, failed, items, finished } = result.answer;
  assert.deepEqual(
    { accepted, revisit, failed, items, finished },
    { accepted: 3000, revisit: result.visits - 3000, failed: 0, items: result.visits, finished: true },
  );
  assert.ok(result.killedAfter.every((items, kill) => items > (result.killedAfter[kill - 1] ?? 0)));
});

test('offline: what fails is told with its reason, and tried again alone when its cause is gone', async (t) => {
  const home = temporaryFolder(t);
  const list = join(home, 'list');
  writeFileSync(list, 'https://good.example/\nhttps://[broken/\nhttps://also-good.example/\nftp://files.example/\n');
  const cli = new CliHere(home);
  const first = await cli.json<Imported>(['import', list], 5);
  assert.deepEqual([first.items, first.accepted, first.failed, first.skipped], [4, 2, 1, { 'not a web address': 1 }]);
  assert.deepEqual(
    first.failures.map(({ place, url }) => [place, url]),
    [[1, 'https://[broken/']],
  );
  const again = await cli.json<Imported>(['import', list], 5);
  assert.deepEqual([first.to_fetch, first.known], [2, 0]);
  assert.deepEqual(again, { ...first, accepted: 0, to_fetch: 0, known: 2 }, 'nothing is done a second time');
  const retried = await cli.json<Imported>(['import', list, '--retry-failed'], 5);
  assert.deepEqual([retried.accepted, retried.failed], [2, 1]);
  const view = StoreView.open(join(home, 'data'));
  assert.equal(view.reader.pages.count(), 2);
  await view.close();
});

test('offline: a full disk that has no store yet is told in a line', async (t) => {
  const disk = SmallDisk.mount(16);
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  t.after(() => disk.unmount());
  const home = temporaryFolder(t);
  const list = join(home, 'list');
  writeFileSync(list, 'https://good.example/\n');
  const data = join(disk.path, 'data');
  mkdirSync(data, { mode: 0o700 });
  disk.fill();
  const { code, stdout, stderr } = await new CliHere(home, { SERVICE_DATA_DIR: data }).run(['import', list]);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^.*the disk of .*data is full: 1048576 bytes are needed to create a .*, \d+ are free\n$/);
});

test('the report says what is new, known, left out and still to be fetched, in 80 columns; the same file again has nothing new', async (t) => {
  const home = temporaryFolder(t);
  const history = join(home, 'History');
  const at = Date.UTC(2024, 1, 3);
  const long = `https://long.example/${'x'.repeat(200)}`;
  writeHistory(history, [
    { url: 'https://a.example/', visits: [{ at }, { at: at + 1 }] },
    { url: long, visits: [{ at }] },
    { url: 'chrome://settings/', visits: [{ at }] },
    { url: 'https://[broken/', visits: [{ at }] },
    { url: 'https://hidden.example/', hidden: 1, visits: [{ at }, { at }] },
    { url: 'https://step.example/', visits: [{ at, transition: 0x10000000 }] },
  ]);
  const cli = new CliHere(home);
  const report = async () => {
    const { code, stdout, stderr } = await cli.run(['import', history]);
    assert.equal(code, 5);
    for (const line of `${stdout}${stderr.replaceAll(home, '')}`.split('\n')) assert.ok(line.length <= 80, line);
    return { lines: stdout.split('\n').map((line) => line.trim().replace(/ {2,}/, ': ')), stderr };
  };
  const first = await report();
  assert.deepEqual(first.lines.slice(0, 14), [
    'items read: 5',
    'new pages: 2',
    'visits of known pages: 1',
    'blocked: 0',
    'skipped: not a web address: 1',
    'visits skipped: hidden addresses: 2',
    'visits skipped: steps of a redirect: 1',
    'failed: 1',
    '2 pages will be fetched when the service runs (`readback status`)',
    'newest visit: 2024-02-03T00:00:00.001Z',
    'for a later copy of this history, --since 2024-02-03T00:00:00.002Z',
    'imports only new items',
    'failed: https://[broken/',
    'url must have a valid host',
  ]);
  const again = await report();
  assert.match(again.stderr, /already imported: nothing was done/);
  assert.deepEqual(again.lines.slice(0, 4), [
    'items read: 5',
    'new pages: 0',
    'visits of known pages: 0',
    'already imported: 3',
  ]);
  assert.ok(!again.lines.join('\n').includes('will be fetched'));
});

test('a file that is not what --format says fails, and nothing is made; a file without items says so', async (t) => {
  const home = temporaryFolder(t);
  const picture = join(home, 'picture');
  writeFileSync(picture, Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'));
  const cli = new CliHere(home);
  const { code, stderr } = await cli.run(['import', picture, '--format', 'urls']);
  assert.equal(code, 1);
  assert.match(stderr, /picture is neither text nor a database of a browser\n$/);
  const piped = await cli.run(['import', '-'], { input: 'Dear diary\n' });
  assert.equal(piped.code, 1);
  assert.match(piped.stderr, /the format of standard input is not recognised/);
  assert.deepEqual(readdirSync(home), ['picture']);
  const empty = join(home, 'empty');
  writeFileSync(empty, '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p></DL>\n');
  const read = await cli.run(['import', empty]);
  assert.equal(read.code, 0);
  assert.match(read.stdout, /this bookmarks file has no items/);
});

test('standard input that is interrupted leaves no copy', async (t) => {
  const [home, temporary] = [temporaryFolder(t), temporaryFolder(t)];
  const child = new Cli(home).spawn(['import', '-'], { env: { TMPDIR: temporary }, input: null });
  t.after(() => child.kill('SIGKILL'));
  child.stdin?.write('https://weir.example/\n');
  await until(() => readdirSync(temporary).some((name) => name.startsWith('readback-stdin-')), 'it is kept');
  child.kill('SIGINT');
  await once(child, 'close');
  assert.deepEqual(readdirSync(temporary), []);
});

test('of a file that is cut off what comes before its end is imported and told, and it fails', async (t) => {
  const home = temporaryFolder(t);
  const file = join(home, 'wallabag.json');
  const entry = (no: number) =>
    JSON.stringify({ is_archived: 0, is_starred: 0, title: `Page ${no}`, url: `https://site.example/${no}` });
  writeFileSync(file, `[${entry(1)},${entry(2)},${entry(3).slice(0, -9)}`);
  const { code, stdout, stderr } = await new CliHere(home).run(['import', file]);
  assert.equal(code, 1);
  assert.match(stdout, /^items read +2\nnew pages +2$/m);
  assert.match(stderr, /is cut off/);
});

test('a dry run writes nothing, not even the data folder', async (t) => {
  const home = temporaryFolder(t);
  const list = join(home, 'list');
  writeFileSync(list, 'https://good.example/\nhttps://good.example/\n');
  const answer = await new CliHere(home).json<{ items: number; addresses: number }>(['import', list, '--dry-run']);
  assert.deepEqual([answer.items, answer.addresses], [2, 1]);
  assert.deepEqual(readdirSync(home), ['list']);
});

test('saved pages are taken with their text, so that nothing is fetched', async (t) => {
  const home = temporaryFolder(t);
  const file = join(home, 'karakeep.json');
  // Looked for in a page once more, the article would begin behind its lead.
  const lead = '<div class="meta share"><p>A lead of one line.</p></div>';
  const htmlContent = `${lead}<h2>Kept</h2><p>${'A sentence that was saved with the page. '.repeat(10)}</p><p>Tags: a, b</p>`;
  const content = { type: 'link', url: 'https://kept.example/', htmlContent };
  writeFileSync(file, JSON.stringify({ bookmarks: [{ createdAt: 1735689600, title: 'Kept', tags: ['t'], content }] }));
  const cli = new CliHere(home);
  await cli.json<Imported>(['import', file]);
  const view = StoreView.open(join(home, 'data'));
  t.after(() => view.close());
  const page = view.reader.pages.get(1);
  assert.deepEqual(
    [page?.title, page?.source, page?.first_seen_at, page?.metadata?.tags, view.reader.jobs.get(1)?.kind],
    ['Kept', 'import:karakeep', 1735689600000, ['t'], 'index_page'],
  );
  assert.match(
    view.reader.pages.body(1) ?? '',
    /^A lead of one line\.\n\nKept\n\n.*saved with the page.*\n\nTags: a, b$/,
  );
  assert.deepEqual(view.reader.pages.sections(1), [{ char_start: 21, title: 'Kept' }]);
});

test("a folder of one's own files becomes pages with their texts, which follow the files, and nothing is doubled", async (t) => {
  const files = join(temporaryFolder(t), 'mine');
  mkdirSync(join(files, 'deep'), { recursive: true });
  const lines = [{ text: 'Salmon pass the weir at night.', x: 72, y: 700 }];
  const info = '/Title (On weirs) /Author (Ann Lee)';
  writeFileSync(join(files, 'paper.pdf'), smallPdf({ pages: [lines], info }));
  writeFileSync(join(files, 'broken.pdf'), '%PDF-1.7\nnothing');
  writeFileSync(join(files, 'deep', 'a note.md'), '# Mill\n\nFlour is made here.\n');
  writeFileSync(join(files, 'deep', 'empty.md'), '\n\n');
  writeFileSync(join(files, 'picture.png'), Buffer.from([0x89, 0x50, 0, 0]));
  const service = await RunningService.start(t, withoutModel);
  const offline = new CliHere(temporaryFolder(t));
  const online = new CliHere(temporaryFolder(t), {
    SERVICE_BIND_PORT: new URL(service.url).port,
    SERVICE_AUTH_TOKEN: token,
    SERVICE_DATA_DIR: service.dataDir,
  });
  for (const cli of [offline, online]) {
    const preview = await cli.json<Preview>(['import', files, '--dry-run']);
    const reasons = ['the file is empty', 'the file is neither text nor a database of a browser'];
    assert.deepEqual([preview.items, preview.examples.map(({ reason }) => reason)], [3, reasons]);
    const first = await cli.json<Imported>(['import', files], 5);
    assert.deepEqual([first.accepted, first.to_fetch, first.failed], [2, 0, 1]);
    assert.match(first.failures[0]?.reason ?? '', /PDF is broken/);
    const again = await cli.json<Imported>(['import', files], 5);
    assert.deepEqual([again.accepted, again.revisit, again.skipped.unchanged], [0, 0, 2]);
  }
  const view = StoreView.open(offline.env.SERVICE_DATA_DIR ?? '');
  const stored = [1, 2].map((no) => {
    const page = view.reader.pages.get(no);
    const { canonical_url, title, visit_count, metadata } = page ?? assert.fail();
    return [canonical_url, title, visit_count, metadata?.author, view.reader.pages.body(no)];
  });
  await view.close();
  assert.deepEqual(stored, [
    ['http://files.localhost/mine/deep/a%20note.md', 'Mill', 1, undefined, '# Mill\n\nFlour is made here.'],
    ['http://files.localhost/mine/paper.pdf', 'On weirs', 1, 'Ann Lee', 'Salmon pass the weir at night.'],
  ]);

  const note = join(files, 'deep', 'a note.md');
  for (const cli of [offline, online]) {
    writeFileSync(note, '# Mill\n\nBread is made here.\n');
    const changed = await cli.json<Imported>(['import', files], 5);
    assert.deepEqual([changed.replaced, changed.skipped.unchanged], [1, 1]);
    writeFileSync(note, '# Mill\n\nFlour is made here.\n');
  }
  const textOf = async (no: number) => {
    const { body } = await service.call<{ body_text: string }>('GET', `/v1/pages/pg_0000000${no}`);
    return body.body_text.split('\n').at(-1);
  };
  await until(async () => (await textOf(1)) === 'Bread is made here.', 'the stored text is replaced');

  const watching = new Cli(temporaryFolder(t), online.env).spawn(['import', files, '--watch', '--json']);
  const said = text(watching.stdout ?? assert.fail());
  let notes = '';
  watching.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    notes += piece;
  });
  await until(async () => /watching .* for changes/.test(notes), 'all files were read');
  writeFileSync(note, '# Mill\n\nCake is made here.\n');
  await until(async () => (await textOf(1)) === 'Cake is made here.', 'a change is noticed');
  rmSync(note);
  writeFileSync(join(files, 'later.txt'), 'Oats are milled here.');
  await until(async () => (await service.call('GET', '/v1/pages/pg_00000003')).status === 200, 'a new file is noticed');
  watching.kill('SIGINT');
  const [code] = await once(watching, 'close');
  assert.equal(code, 130);
  assert.match(await said, /"error":"interrupted"/);
  assert.equal(await textOf(1), 'Cake is made here.', 'the page of a deleted file stays');
  for (const args of [['--offline'], ['--dry-run'], ['--columns', 'url=1']])
    assert.equal((await online.run(['import', files, '--watch', ...args])).code, 2);
});

test('through a running service: original dates, the blacklist, failures, and a second run that does nothing', async (t) => {
  const service = await RunningService.start(t, withoutModel);
  await service.call('POST', '/v1/forget', { domain: 'forgotten.example' });
  const home = temporaryFolder(t);
  const csv = join(home, 'pocket.csv');
  writeFileSync(
    csv,
    'title,url,time_added,tags,status\nOne,https://one.example/,1600322788,a|b,unread\n' +
      'Gone,https://forgotten.example/x,1600322789,,unread\nBad,https://[bad/,1600322790,,unread\n',
  );
  const env = {
    SERVICE_BIND_PORT: new URL(service.url).port,
    SERVICE_AUTH_TOKEN: token,
    SERVICE_DATA_DIR: service.dataDir,
  };
  const cli = new CliHere(home, env);
  const first = await cli.json<Imported>(['import', csv], 5);
  assert.deepEqual([first.accepted, first.blacklisted, first.failed], [1, 1, 1]);
  assert.equal(first.failures[0].url, 'https://[bad/');
  const again = await cli.json<Imported>(['import', csv], 5);
  assert.deepEqual(again, { ...first, accepted: 0, to_fetch: 0, known: 1 });
  const page = await service.call<Record<string, unknown>>('GET', '/v1/pages/pg_00000001');
  assert.deepEqual(
    [page.body.first_seen_at, page.body.visit_count, page.body.metadata, page.body.source],
    ['2020-09-17T06:06:28.000Z', 1, { tags: ['a', 'b'], status: 'unread' }, 'import:pocket'],
  );
  const inUse = await cli.run(['import', csv, '--offline']);
  assert.equal(inUse.code, 4);
  assert.match(inUse.stderr, /needs the service stopped/);
});

test('over HTTP: a service that refuses for a while is waited for; one that is gone leaves a checkpoint to go on from', async (t) => {
  const home = temporaryFolder(t);
  const list = join(home, 'list');
  writeFileSync(list, Array.from({ length: 250 }, (_, no) => `https://site.example/${no}`).join('\n'));
  const taken: string[] = [];
  let batches = 0;
  let broken = true;
  const port = await listening(t, ({ method }, body) => {
    if (method === 'GET') return up;
    batches++;
    if (batches === 2)
      return { status: 503, body: { detail: 'too many writes are waiting' }, headers: { 'retry-after': '1' } };
    if (batches > 3 && broken) return { status: 500, body: { detail: 'internal error' } };
    const { pages } = JSON.parse(body) as { pages: { url: string }[] };
    taken.push(...pages.map(({ url }) => url));
    const accepted = { outcome: 'accepted', page_id: 'pg_00000001', status: 'queued' };
    return { status: 200, body: { results: pages.map((_, index) => ({ ...accepted, index })) } };
  });
  const cli = new CliHere(home, { SERVICE_BIND_PORT: port, SERVICE_AUTH_TOKEN: 'x' });
  const stopped = await cli.run(['import', list]);
  assert.equal(stopped.code, 1);
  assert.match(stopped.stderr, /answered 500.*\n.*run the same command to continue/);
  assert.equal(taken.length, 200);
  broken = false;
  const answer = await cli.json<Imported>(['import', list]);
  assert.deepEqual([answer.items, answer.accepted, answer.finished], [250, 250, true]);
  assert.deepEqual(taken, [...new Set(taken)], 'no address was sent twice');
  assert.equal(taken.length, 250);
  const state = join(home, 'state', 'readback', 'imports');
  assert.equal(statSync(state).mode & 0o777, 0o700);
  for (const name of readdirSync(state)) assert.equal(statSync(join(state, name)).mode & 0o777, 0o600);
  assert.ok(!readFileSync(join(state, readdirSync(state)[0]), 'utf8').includes('"x"'));
  assert.ok(!existsSync(join(home, 'data')), 'nothing was made where the service is elsewhere');
});

test('over HTTP: killed while a batch is answered, the import sends that batch again, and nothing is counted twice', async (t) => {
  const service = await RunningService.start(t, withoutModel);
  const home = temporaryFolder(t);
  const list = join(home, 'list');
  writeFileSync(list, Array.from({ length: 450 }, (_, no) => `https://site.example/${no}`).join('\n'));
  let batches = 0;
  let importer: ChildProcess | undefined;
  const between = await listening(t, async (request, body) => {
    const answer = await fetch(service.url + request.url, {
      method: request.method ?? 'GET',
      headers: { authorization: String(request.headers.authorization), 'content-type': 'application/json' },
      ...(body === '' ? {} : { body }),
    });
    if (request.method === 'POST' && ++batches === 3) importer?.kill('SIGKILL'); // taken in, and nobody is told
    return { status: answer.status, body: await answer.json() };
  });
  const cli = new Cli(home, { SERVICE_BIND_PORT: between, SERVICE_AUTH_TOKEN: token });
  importer = cli.spawn(['import', list]);
  await once(importer, 'close');
  assert.deepEqual([importer.signalCode, batches], ['SIGKILL', 3]);
  const resumed = await new CliHere(home, cli.env).run(['import', list]);
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.match(resumed.stderr, /continuing after 200 items/);
  const view = await service.stop().then(() => StoreView.open(service.dataDir));
  t.after(() => view.close());
  const visits = [...view.reader.pages.all()].map(({ visit_count }) => visit_count);
  assert.deepEqual(visits, Array(450).fill(1));
});

test('over HTTP: what one library has taken in is new to another at the same address', async (t) => {
  const home = temporaryFolder(t);
  const list = join(home, 'list');
  writeFileSync(list, 'https://site.example/1\nhttps://site.example/2\n');
  let known: Reply = up;
  const port = await listening(t, (request, body) => {
    if (request.url === '/healthz') return up;
    if (request.method === 'GET') return known;
    const { pages } = JSON.parse(body) as { pages: unknown[] };
    const results = pages.map((_, index) => ({ outcome: 'accepted', index, page_id: 'pg_1', status: 'queued' }));
    return { status: 200, body: { results } };
  });
  const cli = new CliHere(home, { SERVICE_BIND_PORT: port, SERVICE_AUTH_TOKEN: 'x' });
  const taken = async () => {
    const { accepted, known: before } = await cli.json<Imported>(['import', list]);
    return [accepted, before];
  };
  const libraries = [
    up,
    { status: 200, body: { library_id: 'two' } },
    { status: 403, body: { detail: 'only writes' } },
  ];
  for (const library of libraries) {
    known = library;
    assert.deepEqual(
      [await taken(), await taken()],
      [
        [2, 0],
        [0, 2],
      ],
      JSON.stringify(library),
    );
  }
});

test('columns that are unclear are listed with how to name them, and those that are not read', async (t) => {
  const home = temporaryFolder(t);
  const csv = join(home, 'list.csv');
  writeFileSync(csv, 'Name;Verweis;Bild\nWeir;https://a.example/1;https://a.example/1.png\n');
  const cli = new CliHere(home);
  const clear = join(home, 'clear.csv');
  writeFileSync(clear, 'url;Datum;starred\nhttps://a.example/1;2023-01-01;yes\n');
  const { stdout } = await cli.run(['import', clear, '--dry-run']);
  assert.match(stdout, /^columns not read +Datum \(--columns names them\)$/m);
  const { code, stderr } = await cli.run(['import', csv, '--dry-run']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /such as --columns url=2,title=1\n1 {2}Name {5}Weir\n2 {2}Verweis {2}https:\/\/a\.example\/1\n3 /,
  );
  const named = ['import', csv, '--columns', 'url=2,title=1'];
  assert.deepEqual((await cli.json<{ items: number }>([...named, '--dry-run'])).items, 1);
  assert.equal((await cli.json<Imported>(named)).accepted, 1);
});

test('what could not be read of a file is told with its line: on the terminal, in JSON, and by the exit code', async (t) => {
  const home = temporaryFolder(t);
  const csv = join(home, 'pocket.csv');
  const rows = ['One,https://one.example/,1,,', '"Two,https://two.example/,1,,', 'Three,https://three.example/,1,,'];
  writeFileSync(csv, ['title,url,time_added,tags,status', ...rows].join('\n'));
  const cli = new CliHere(home);
  const fault = 'line 3: a quotation mark is out of place or not closed';
  const dry = await cli.run(['import', csv, '--dry-run']);
  assert.equal(dry.code, 5);
  assert.match(dry.stdout, new RegExp(`^unreadable +${fault}$`, 'm'));
  assert.deepEqual((await cli.json<{ faults: string[] }>(['import', csv, '--dry-run'], 5)).faults, [fault]);
  const { code, stdout } = await cli.run(['import', csv]);
  assert.equal(code, 5);
  assert.match(
    stdout,
    new RegExp(`^items read +3$[\\s\\S]*^new pages +2$[\\s\\S]*^failed +1$[\\s\\S]*^failed +${fault}$`, 'm'),
  );
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  const again = await cli.json<Imported>(['import', csv], 5);
  assert.deepEqual(again.failures, [{ place: 1, url: '', reason: fault }]);
});

test('over HTTP: --retry-failed sends what failed, and nothing else', async (t) => {
  const home = temporaryFolder(t);
  const list = join(home, 'list');
  writeFileSync(list, Array.from({ length: 230 }, (_, no) => `https://site.example/${no}`).join('\n'));
  let refusing = true;
  const taken: string[] = [];
  const port = await listening(t, (request, body) => {
    if (request.method === 'GET') return up;
    const { pages } = JSON.parse(body) as { pages: { url: string }[] };
    const results = pages.map(({ url }, index) => {
      if (refusing && url.endsWith('7')) return { outcome: 'rejected', index, detail: 'not today' };
      taken.push(url);
      return { outcome: 'accepted', index, page_id: 'pg_00000001', status: 'queued' };
    });
    return { status: 200, body: { results } };
  });
  const cli = new CliHere(home, { SERVICE_BIND_PORT: port, SERVICE_AUTH_TOKEN: 'x' });
  const first = await cli.json<Imported>(['import', list], 5);
  assert.deepEqual([first.accepted, first.failed, first.failures[0]], [207, 23, failed(7)]);
  refusing = false;
  const retried = await cli.json<Imported>(['import', list, '--retry-failed']);
  assert.deepEqual([retried.items, retried.accepted, retried.failed, retried.failures], [230, 230, 0, []]);
  assert.equal(taken.length, 230);
  assert.deepEqual(taken, [...new Set(taken)], 'no address was taken twice');
});

test('over HTTP: --retry-failed that is cut off before its checkpoint counts and lists as if it had not been', async (t) => {
  const home = temporaryFolder(t);
  const list = join(home, 'list');
  writeFileSync(list, Array.from({ length: 30 }, (_, no) => `https://site.example/${no}`).join('\n'));
  const state = join(home, 'state', 'readback', 'imports');
  const checkpoint = () => join(state, readdirSync(state).find((name) => name.endsWith('.json')) ?? '');
  const refused = ['/7', '/17', '/27'];
  let obstacle: string | null = null;
  const port = await listening(t, (request, body) => {
    if (request.method === 'GET') return up;
    if (obstacle === '') {
      obstacle = `${checkpoint()}.new`;
      mkdirSync(obstacle);
    }
    const { pages } = JSON.parse(body) as { pages: { url: string }[] };
    const results = pages.map(({ url }, index) =>
      refused.some((end) => url.endsWith(end))
        ? { outcome: 'rejected', index, detail: 'not today' }
        : { outcome: 'accepted', index, page_id: 'pg_00000001', status: 'queued' },
    );
    return { status: 200, body: { results } };
  });
  const cli = new CliHere(home, { SERVICE_BIND_PORT: port, SERVICE_AUTH_TOKEN: 'x' });
  const first = await cli.json<Imported>(['import', list], 5);
  assert.deepEqual(first.failures, [failed(7), failed(17), failed(27)]);
  refused.splice(0, 2);
  obstacle = ''; // in the way of the next checkpoint
  const cutOff = await cli.run(['import', list, '--retry-failed']);
  assert.notEqual(cutOff.code, 0);
  rmSync(obstacle, { recursive: true });
  obstacle = null;
  const told = { ...first, accepted: 0, to_fetch: 0, known: first.accepted };
  assert.deepEqual(await cli.json<Imported>(['import', list], 5), told, 'nothing is told that no checkpoint covers');
  const retried = await cli.json<Imported>(['import', list, '--retry-failed'], 5);
  assert.deepEqual([retried.accepted, retried.failed, retried.failures], [29, 1, [failed(27)]]);
  refused.pop();
  const whole = await cli.json<Imported>(['import', list, '--retry-failed']);
  assert.deepEqual([whole.accepted, whole.failed, whole.failures], [30, 0, []]);
});

test('over HTTP: saved pages that are too large for one request are sent apart; one that is so alone has failed', async (t) => {
  const home = temporaryFolder(t);
  const file = join(home, 'karakeep.json');
  const bookmarks = Array.from({ length: 9 }, (_, no) => ({
    createdAt: 1735689600,
    content: { type: 'link', url: `https://site.example/${no}`, htmlContent: 'x'.repeat(no === 4 ? 5000 : 1000) },
  }));
  writeFileSync(file, JSON.stringify({ bookmarks }));
  const taken: string[] = [];
  const port = await listening(t, (request, body) => {
    if (request.method === 'GET') return up;
    if (body.length > 4000) return { status: 413, body: { detail: 'the body is larger than 4000 bytes' } };
    const { pages } = JSON.parse(body) as { pages: { url: string }[] };
    taken.push(...pages.map(({ url }) => url));
    const results = pages.map((_, index) => ({
      outcome: 'accepted',
      index,
      page_id: 'pg_00000001',
      status: 'queued',
    }));
    return { status: 200, body: { results } };
  });
  const cli = new CliHere(home, { SERVICE_BIND_PORT: port, SERVICE_AUTH_TOKEN: 'x' });
  const answer = await cli.json<Imported>(['import', file], 5);
  assert.deepEqual([answer.items, answer.accepted, answer.failed, answer.finished], [9, 8, 1, true]);
  assert.equal(answer.failures[0].place, 4);
  assert.match(answer.failures[0].reason, /larger than 4000 bytes/);
  assert.deepEqual(
    taken,
    [0, 1, 2, 3, 5, 6, 7, 8].map((no) => `https://site.example/${no}`),
  );
});

function failed(place: number) {
  return { place, url: `https://site.example/${place}`, reason: 'not today' };
}

type Reply = { status: number; body: unknown; headers?: Record<string, string> };

/** What a service says of itself, and of its library. */
const up: Reply = { status: 200, body: { status: 'ok', library_id: 'one' } };

/** A server on loopback that answers JSON; its port. */
async function listening(
  scope: Scope,
  answer: (request: IncomingMessage, body: string) => Reply | Promise<Reply>,
): Promise<string> {
  const site = await Site.open(scope, {
    '*': async (request, response) => {
      const { status, body, headers } = await answer(request, await text(request));
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    },
  });
  return String(site.port);
}
