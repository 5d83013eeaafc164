/** Commands about what was read: pages, what is forgotten, watches, topics, names. */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { textWidth } from '../../src/cli/output.ts';
import { RunningService, token, withoutModel } from '../process/service.ts';
import { Site } from '../providers/small-web.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import { CliHere } from './run-cli.ts';

const cliOf = (t: TestContext, url: string, dataDir?: string) =>
  new CliHere(temporaryFolder(t), {
    SERVICE_AUTH_TOKEN: token,
    SERVICE_BIND_PORT: new URL(url).port,
    COLUMNS: '80',
    ...(dataDir !== undefined && { SERVICE_DATA_DIR: dataDir }),
  });

/** A service that answers each `METHOD path` with its body, and anything else with 404. */
async function answering(t: TestContext, answers: Record<string, unknown>): Promise<string> {
  const site = await Site.open(t, {
    '*': (request, response) => {
      request.resume();
      const body = answers[`${request.method} ${decodeURIComponent(request.url ?? '')}`];
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? { detail: 'unknown' }));
    },
  });
  return site.url('');
}

function assertFits(text: string): void {
  for (const line of text.split('\n')) assert.ok(textWidth(line) <= 80, line);
}

let service: RunningService;
const scope = newestFirst({ after });
before(async () => {
  service = await RunningService.start(scope, {
    ...withoutModel,
    SERVICE_TRANSCRIBE__BASE_URL: 'http://127.0.0.1:9/v1',
  });
});

test('pages are listed, shown, forgotten and allowed again', async (t) => {
  const known = { author: 'Ada Lovelace', site_name: 'Notes', published_at: '2024-05-01', lang: 'en' };
  const metadata = { ...known, starred: true, status: 'unread' };
  const given = [
    { url: 'https://sea.example/tides', title: 'Tides', fetched_at: '2024-01-02T00:00:00Z', metadata },
    { url: `https://sea.example/${'long/'.repeat(30)}`, title: '日本語のとても長いタイトル '.repeat(9) },
    { url: 'https://other.example/a', title: 'Another\u001b[31m page' },
  ];
  const pages = given.map((page) => ({ fetched_at: '2024-02-03T00:00:00Z', body_extracted: 'Twice a day.', ...page }));
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  const ids = body.results.map(({ page_id }) => page_id);
  await service.settled(ids);
  const cli = cliOf(t, service.url, service.dataDir);

  const listed = await cli.run(['pages']);
  assertFits(listed.stdout);
  const [newest, long, oldest] = listed.stdout.split('\n');
  assert.equal(newest, `${ids[2]}  2024-02-03  Another [31m page · https://other.example/a`);
  assert.match(long, new RegExp(`^${ids[1]}  2024-02-03  日本語のとても長い.*… · https://sea…$`));
  assert.equal(oldest, `${ids[0]}  2024-01-02  Tides · https://sea.example/tides`);
  const one = await cli.run(['pages', '--limit', '1']);
  assert.deepEqual([one.stdout.split('\n').length, one.stderr], [2, 'the newest 1; --limit shows more\n']);
  const old = await cli.json<{ pages: { page_id: string }[] }>(['pages', '--before', '2024-01-31']);
  assert.deepEqual(
    old.pages.map(({ page_id }) => page_id),
    [ids[0]],
  );
  assert.equal((await cli.run(['pages', '--domain', 'nobody.example'])).stdout, 'no pages\n');

  const facts = [
    `page     ${ids[0]}`,
    'title    Tides',
    'address  https://sea.example/tides',
    'by       Ada Lovelace, Notes, 2024-05-01',
    'read     2024-01-02',
    'text     en, 1 minute',
    'status   indexed, starred, unread',
    '',
  ];
  assert.equal((await cli.run(['pages', 'show', ids[0]])).stdout, facts.join('\n'));
  const whole = await cli.run(['pages', 'show', '--text', 'https://sea.example/tides?utm_source=x']);
  assert.equal(whole.stdout, [...facts, 'Twice a day.', ''].join('\n'));
  const tagged = await cli.run(['tag', ids[0], 'https://other.example/a', '--add', 'Sea', '--add', 'to read']);
  assert.equal(tagged.stdout, `${ids[0]}  changed\n${ids[2]}  changed\n`);
  assert.equal((await cli.run(['note', ids[0], 'Twice\na day'])).stdout, 'Twice\na day\n');
  const partlyTagged = await cli.run(['tag', ids[0], 'pg_zzzzzzzz', '--remove', 'TO READ']);
  assert.deepEqual([partlyTagged.code, partlyTagged.stdout], [5, `${ids[0]}  changed\npg_zzzzzzzz  not found\n`]);
  const noted = await cli.run(['pages', 'show', ids[0]]);
  assert.equal(noted.stdout, [...facts.slice(0, -1), 'tags     Sea', 'note     Twice a day', ''].join('\n'));
  assert.deepEqual([(await cli.run(['tag', ids[0]])).code, (await cli.run(['note', 'pg_zzzzzzzz', 'x'])).code], [2, 1]);
  const unread = await cli.run(['pages', 'show', 'https://never.example/']);
  assert.deepEqual([unread.code, unread.stderr], [1, 'readback: no page https://never.example/\n']);
  assert.equal((await cli.run(['pages', 'show', 'pg_zzzzzzzz'])).code, 1);

  const dry = await cli.run(['refresh', '--domain', 'sea.example', '--dry-run']);
  assert.deepEqual([dry.code, dry.stdout], [0, '2 pages would be fetched again\n']);
  const older = await cli.run(['refresh', '--older-than', '2100-01-01', '--dry-run']);
  assert.equal(older.stdout, '3 pages would be fetched again\n');
  const younger = await cli.run(['refresh', '--older-than', '2024-01-31']);
  assert.deepEqual([younger.code, younger.stdout], [0, '0 pages will be fetched again\n']);
  const refreshed = await cli.run(['refresh', ids[0], 'pg_zzzzzzzz']);
  assert.deepEqual(
    [refreshed.code, refreshed.stdout],
    [5, '1 page will be fetched again\n1 page not in the library\n'],
  );
  assert.equal((await cli.run(['refresh'])).code, 2);

  const warned = await cli.run(['forget', '--domain', 'sea.example']);
  assert.deepEqual(
    [warned.code, warned.stderr],
    [2, 'sea.example: 2 pages would be deleted for good\nreadback: nothing was deleted; pass --yes to delete\n'],
  );
  const partly = await cli.run(['forget', ids[2], 'pg_zzzzzzzz']);
  assert.deepEqual([partly.code, partly.stdout], [5, 'deleted  1 page  https://other.example/a\n']);
  assert.match(partly.stderr, /^pg_zzzzzzzz: unknown page/);
  for (const [unknown, why] of [
    [['https://never.example/'], /^https:\/\/never\.example\/: not in the library: nothing was deleted \(--block/],
    [['--domain', '--yes', 'never.example'], /^never\.example: not in the library: nothing was deleted \(--block/],
    [['never.example'], /^never\.example: neither an id nor an address; --domain/],
  ] as const) {
    const refused = await cli.run(['forget', ...unknown]);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, why);
  }
  const site = await cli.run(['forget', '--domain', '--yes', '--reason', 'private', 'sea.example']);
  assert.deepEqual([site.code, site.stdout], [0, 'deleted  2 pages  sea.example\n']);
  assert.equal((await cli.run(['pages'])).stdout, 'no pages\n');

  const rules = await cli.run(['forget', 'rules']);
  assert.match(
    rules.stdout,
    /^(bl_\w+) {2}[\d-]{10} {2}domain {2}sea\.example \(private\)\nbl_\w+ .* url {5}https:\/\/other\.example\/a\n$/,
  );
  const rule = rules.stdout.slice(0, 11);
  assert.equal((await cli.run(['add', 'https://sea.example/new'])).code, 1);
  assert.equal((await cli.run(['forget', 'allow', rule])).code, 0);
  assert.equal((await cli.run(['forget', 'allow', rule])).code, 1, 'it is no rule any more');
  const blocked = await cli.run(['delete', '--block', 'https://never.example/']);
  assert.deepEqual([blocked.code, blocked.stdout], [0, 'blocked  0 pages  https://never.example/\n']);
  assert.equal((await cli.json<{ entries: unknown[] }>(['forget', 'rules'])).entries.length, 2);
});

test('sources are watched, paused, polled and let go', async (t) => {
  const cli = cliOf(t, service.url, service.dataDir);
  assert.match((await cli.run(['watch'])).stdout, /^no watches/);
  const address = `https://feed.example/${'long/'.repeat(30)}`;
  const added = await cli.run(['watch', 'add', address, '--kind', 'podcast', '--every', '12', '--title', 'Sea']);
  assert.equal(added.code, 0, added.stderr);
  assertFits(added.stdout);
  assert.match(
    added.stdout,
    /^wt_00000001 {2}podcast {2}Sea · https:.*…\n {13}every 12 hours, next [\d :-]{16}; not polled yet\n$/,
  );
  const paused = await cli.json<{ watches: { enabled: boolean }[] }>(['watch', 'pause', 'wt_00000001']);
  assert.equal(paused.watches[0].enabled, false);
  assert.match((await cli.run(['watch'])).stdout, /\n {13}paused; /);
  assert.match((await cli.run(['watch', 'resume', 'wt_00000001'])).stdout, /\n {13}every 12 hours/);
  assert.match((await cli.run(['watch', 'run', 'wt_00000001'])).stdout, /^polling wt_00000001/);
  assert.equal((await cli.run(['watch', 'remove', 'wt_00000001'])).stdout, 'deleted wt_00000001; its pages stay\n');
  assert.equal((await cli.run(['watch', 'remove', 'wt_00000001'])).code, 1);
  assert.equal((await cli.run(['watch', 'add', 'https://a.example/', '--every', '0'])).code, 2);
});

test('topics and names are told in lines that fit', async (t) => {
  const topic = { projection_x: null, projection_y: null, tombstoned: false };
  const tides = { ...topic, id: 'cl_00000001', label: 'Tides', keywords: ['tides', 'moon', 'sea'], size: 120 };
  const page = { page_id: 'pg_00000001', canonical_url: 'https://sea.example/tides', title: 'Tides of the sea' };
  const moon = { id: 'en_00000001', canonical_form: 'Moon', type: 'place', mention_count: 7, page_count: 1, idf: 1 };
  const at = '2026-01-31T12:00:00Z';
  const forms = { kept_form: 'Moon', merged_form: 'the Moon', type: 'place' };
  const ids = { merge_id: 'em_00000001', kept_entity_id: moon.id, merged_entity_id: 'en_00000002' };
  const merge = { ...ids, ...forms, merged_at: at, undone_at: null, made_by: 'user' };
  const url = await answering(t, {
    'GET /v1/clusters': {
      clusters: [tides, { ...tides, id: 'cl_00000002', label: null, keywords: Array(30).fill('keyword'), size: 9 }],
    },
    'GET /v1/clusters/cl_00000001?limit=1': { cluster: tides, pages: [{ ...page, probability: 1 }], total: 120 },
    'POST /v1/clusters/recompute': { accepted: false, detail: 'too few pages' },
    'GET /v1/entities?limit=20': { entities: [moon], next_cursor: null },
    'GET /v1/entities?limit=1&q=moon&type=place': { entities: [moon], next_cursor: 'en_00000001' },
    'GET /v1/entities/the moon': { entity: moon, aliases: ['Moon', 'the Moon'], page_ids: [page.page_id] },
    'GET /v1/pages/pg_00000001?length=1': page,
    'GET /v1/pages/pg_00000001/entities': { page_id: page.page_id, entities: [moon] },
    'GET /v1/admin/entity-merges': {
      merges: [{ ...merge, undone_at: at }, { ...merge, undone_at: at, made_by: null }, merge],
    },
    'GET /v1/admin/entity-merges?entity=the moon': { merges: [merge] },
    'POST /v1/entities/merges/em_00000001/split': { restored_entity_id: 'en_00000002' },
  });
  const cli = cliOf(t, url);
  const said = async (...args: string[]) => {
    const { stdout, code } = await cli.run(args);
    assert.equal(code, 0);
    assertFits(stdout);
    return stdout.trimEnd().split('\n');
  };
  const topics = await said('topics');
  assert.equal(topics[0], 'cl_00000001  120  Tides · moon, sea');
  assert.match(topics[1], /^cl_00000002 {4}9 {2}keyword, keyword, .*…$/);
  assert.deepEqual(await said('topics', 'show', 'cl_00000001', '--limit', '1'), [
    'Tides (120 pages)',
    'pg_00000001  Tides of the sea · https://sea.example/tides',
  ]);
  const refused = await cli.run(['topics', 'find']);
  assert.deepEqual([refused.code, refused.stderr], [1, 'not now: too few pages\n']);
  assert.deepEqual(await said('names', 'the', 'moon').catch(() => []), [], 'a name is one argument');
  assert.deepEqual(await said('names', 'the moon'), [
    'Moon (place, en_00000001): 7 mentions in 1 page',
    'also the Moon',
    'pg_00000001  Tides of the sea · https://sea.example/tides',
  ]);
  for (const list of [['names'], ['names', 'list'], ['names', 'list', 'moon', '--limit', '1', '--type', 'place']])
    assert.deepEqual(await said(...list), ['en_00000001  place  1 page  Moon']);
  assert.deepEqual(await said('names', 'of', 'pg_00000001'), ['en_00000001  place  1 page  Moon']);
  const line = 'em_00000001  2026-01-31  the Moon → Moon';
  assert.deepEqual(await said('names', 'merges'), [`${line}, split 2026-01-31`, `${line}, by you`]);
  assert.deepEqual(await said('names', 'merges', 'the moon'), [`${line}, by you`]);
  assert.deepEqual(await said('names', 'split', 'em_00000001'), ['en_00000002 is a separate name again']);
  assert.equal((await cli.run(['names', 'nobody'])).code, 1);
  assert.deepEqual(await cli.json(['names', 'of', 'pg_00000001']), { page_id: page.page_id, entities: [moon] });
});

test('a question is answered by sentences with their pages, a model’s sentences with quotations, and what would be sent is shown', async (t) => {
  const page = {
    ...{
      page_id: 'pg_00000001',
      title: 'Tides of the sea',
      canonical_url: 'https://sea.example/tides',
      domain: 'sea.example',
    },
    ...{
      first_seen_at: '2026-01-31T12:00:00Z',
      last_seen_at: '2026-01-31T12:00:00Z',
      link: 'https://sea.example/tides#:~:text=x',
    },
  };
  const quote = {
    ...page,
    number: 1,
    chunk_id: 'ck_00000001',
    char_start: 0,
    char_end: 12,
    text: 'Twice a day.',
    best: true,
  };
  const asked: Record<string, unknown>[] = [];
  let answer: object = {};
  const site = await Site.open(t, {
    '*': async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      asked.push(JSON.parse(body));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    },
  });
  const cli = cliOf(t, site.url(''));
  const whole = { kind: 'quotes', quotes: [quote], pages: [], no_results: null, sent: null, generated: null };
  const shown = '“Twice a day.”\n    Tides of the sea · 2026-01-31\n';
  answer = whole;
  const quoted = await cli.run(['ask', 'how', 'often?', '-n', '1', '--domain', 'sea.example']);
  assert.deepEqual([quoted.code, quoted.stdout, quoted.stderr], [0, shown, '']);
  const { tz: _, ...request } = asked[0];
  assert.deepEqual(request, {
    question: 'how often?',
    sentences: 1,
    filters: { domain: 'sea.example' },
    use_model: false,
    preview: false,
  });

  const sent = {
    host: 'llm.example',
    model: 'small',
    passages: [{ ...page, number: 1, text: 'Twice.' }],
    excluded_pages: 1,
    tokens: 2,
    max_tokens: 9,
  };
  answer = { ...whole, sent };
  const preview = await cli.run(['ask', 'how', '--model']);
  assert.equal(preview.stdout, shown);
  assert.equal(
    preview.stderr,
    '--yes sends 1 passage (about 2 tokens) to small at llm.example:\n1. Tides of the sea · https://sea.example/tides\n1 page excluded by llm.exclude\n',
  );
  assert.deepEqual([asked[1].use_model, asked[1].preview], [true, true]);

  const generated = {
    state: 'answered',
    detail: null,
    sentences: [{ text: 'Every\u001b[31m 12 hours.', quotations: [1] }],
    quotations: [quote],
    dropped: 1,
  };
  answer = { ...whole, sent, generated };
  const made = await cli.run(['ask', 'how', '--model', '--yes']);
  assert.deepEqual([made.code, made.stdout], [0, `Every [31m 12 hours. [1]\n[1] ${shown}`]);
  assert.equal(made.stderr, '1 sentence without a verified quotation left out\n');
  assert.deepEqual([asked[2].use_model, asked[2].preview], [true, false]);
  answer = {
    ...whole,
    sent,
    generated: {
      ...generated,
      state: 'late',
      detail: 'provider llm: no answer',
      sentences: [],
      quotations: [],
      dropped: 0,
    },
  };
  const late = await cli.run(['ask', 'how', '--model', '--yes']);
  assert.deepEqual(
    [late.code, late.stdout, late.stderr],
    [5, shown, 'the language model did not finish in time: provider llm: no answer\n'],
  );

  answer = {
    ...whole,
    kind: 'pages',
    quotes: [],
    pages: [{ ...page, visit_count: 2, visited_at: ['2026-01-31T12:00:00Z', '2026-01-02T12:00:00Z'] }],
  };
  const listed = await cli.run(['ask', 'when', 'did', 'I', 'read', 'about', 'tides']);
  assert.equal(listed.stdout, '    Tides of the sea · 2026-01-31, 2026-01-02\n');
  answer = { ...whole, kind: 'none', quotes: [] };
  assert.equal((await cli.run(['ask', 'who?'])).stdout, 'Not in your reading.\n');
  assert.equal((await cli.run(['ask', 'who?', '-n', '6'])).code, 2);
});
