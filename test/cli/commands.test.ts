import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { patientSettings, RunningService, token, withoutModel } from '../process/service.ts';
import { Site } from '../providers/small-web.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import { Cli, CliHere } from './run-cli.ts';

test('a new user: serve, add, search, status, jobs; the stop is in order', async (t) => {
  const scope = newestFirst(t);
  const home = temporaryFolder(scope);
  const cli = new Cli(home, { ...patientSettings, SERVICE_BIND_PORT: '0', SERVICE_AUTH_TOKEN: token });
  const serve = cli.spawn(['serve']);
  scope.after(() => void serve.kill('SIGKILL'));
  let log = '';
  const url = await new Promise<string>((resolve, reject) => {
    serve.stdout?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      const ready = /"url":"([^"]+)"/.exec(log)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    serve.on('close', () => reject(new Error(log)));
  });
  const at = ['--url', url];
  const text =
    'The sea along most coasts rises and falls twice a day, because the earth turns under two bulges of water. ';
  const here = new CliHere(home, cli.env);
  const options = { input: `<article><h1>Tides</h1><p>${text.repeat(3)}</p></article>` };
  const added = await cli.run([...at, 'add', 'https://sea.example/tides', '--html', '-', '--wait'], options);
  assert.deepEqual([added.code, added.stderr], [0, '']);
  assert.match(added.stdout, /queued {3}pg_00000001 {2}https:\/\/sea\.example\/tides\n1 of 1 pages are indexed\n/);
  const found = await here.run([...at, 'search', 'why', 'does', 'the', 'sea', 'rise']);
  assert.match(found.stdout, /^ 1\. Tides\n {4}https:\/\/sea\.example\/tides · .* · pg_00000001\n {4}The sea along/);
  const port = { env: { SERVICE_BIND_PORT: new URL(url).port } };
  interface Status {
    service: { ready: boolean };
    store: { pages: number; jobs: Record<string, number> };
  }
  const status = await here.json<Status>(['status'], 0, port);
  assert.deepEqual([status.service.ready, status.store.pages], [true, 1]);
  const { jobs } = await here.json<{ jobs: { job_id: string; status: string }[] }>([
    ...at,
    'jobs',
    '--kind',
    'index_page',
  ]);
  assert.deepEqual(
    jobs.map(({ job_id, status }) => [job_id, status]),
    [['jb_00000001', 'done']],
  );
  const partly = await here.run([...at, 'add', 'nonsense', 'https://sea.example/tides']);
  assert.equal(partly.code, 5);
  assert.match(partly.stdout, /refused {2}nonsense: url must have a scheme and a host\nknown {4}pg_00000001/);
  const busy = await here.run(['fsck'], port);
  assert.equal(busy.code, 4);
  assert.match(busy.stderr, /another readback \(process \d+\) is using .*\nfsck needs the service stopped/);
  serve.removeAllListeners('close');
  serve.kill('SIGTERM');
  const [code] = await once(serve, 'close');
  assert.equal(code, 0, log);
  assert.equal((await here.json<{ sound: boolean }>(['fsck'])).sound, true);
  const doctor = await here.json<{ sound: boolean; checks: { name: string; state: string }[] }>(['doctor'], 0, {
    env: { SERVICE_BIND_PORT: '1' },
  });
  assert.equal(doctor.checks.find(({ name }) => name === 'index')?.state, 'ok');
  const lacking = await here.json<{ checks: { name: string; state: string }[] }>(['doctor'], 0, {
    env: { SERVICE_BIND_PORT: '1', SERVICE_PROGRAM_PATH: '/nowhere' },
  });
  assert.equal(lacking.checks.find(({ name }) => name === 'yt-dlp')?.state, 'warn', 'the program is optional');
});

test('what waits, failed or died is told with its page and why; all that is dead goes back to work', async (t) => {
  const service = await RunningService.start(t, {
    ...withoutModel,
    SERVICE_JOBS__MAX_ATTEMPTS: '1',
    SERVICE_FETCH__PER_HOST_GAP_MS: '0',
  });
  const count = 30;
  const pages = Array.from({ length: count }, (_, i) => ({
    url: `http://192.168.7.7/${i}`,
    title: `日本語のタイトル ${i}`,
  }));
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  await service.settled(body.results.map(({ page_id }) => page_id));
  const cli = new CliHere(temporaryFolder(t), {
    SERVICE_DATA_DIR: service.dataDir,
    SERVICE_AUTH_TOKEN: token,
    SERVICE_BIND_PORT: new URL(service.url).port,
    COLUMNS: '80',
  });
  const why = 'blocked address: fetch.allow_private_hosts does not list it';
  const status = await cli.run(['status']);
  assert.match(status.stdout, /pages {8}30: 30 dead\n/);
  assert.ok(status.stdout.includes(`  30: ${why}\n`), status.stdout);
  const listed = await cli.run(['jobs', '--status', 'dead', '--limit', '2']);
  assert.equal(
    listed.stdout,
    [
      `dead fetch_and_index (2): ${why.replace('not list', 'not\nlist')}`,
      '  jb_0000000y  日本語のタイトル 29 · http://192.168.7.7/29',
      '  jb_0000000x  日本語のタイトル 28 · http://192.168.7.7/28',
      '',
    ].join('\n'),
  );
  const retried = await cli.json<{ requested: number; retried: number; results: unknown[] }>(['jobs', 'retry']);
  assert.deepEqual([retried.requested, retried.retried, retried.results.length], [30, 30, 30]);
  const refused = await cli.run(['jobs', 'retry', '--status', 'failed']);
  assert.deepEqual([refused.code, refused.stdout], [2, '']);
  assert.match(refused.stderr, /only dead jobs can be retried/);
});

test('all that is dead goes back to work, five hundred jobs at a time', async (t) => {
  const asked: unknown[] = [];
  const site = await Site.open(t, {
    '*': async (request, response) => {
      const { before = null, limit } = (await json(request)) as { before?: string; limit: number };
      asked.push([before, limit]);
      const results = Array.from({ length: before === null ? 500 : 10 }, (_, at) => ({
        job_id: `jb_${before === null ? at : 500 + at}`,
        outcome: 'retried',
      }));
      const counts = { requested: results.length, retried: results.length };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...counts, results }));
    },
  });
  const cli = new CliHere(temporaryFolder(t), { SERVICE_AUTH_TOKEN: token });
  const { stdout } = await cli.run(['--url', site.url(''), 'jobs', 'retry']);
  assert.equal(stdout, 'retried 510 of 510 dead jobs\n');
  assert.deepEqual(asked, [
    [null, 500],
    ['jb_499', 500],
  ]);
});

test('a search of an index that is built again says so, and its passages fit the terminal', async (t) => {
  const text = 'The heron stands still in the shallow river and waits for a fish to come near. '.repeat(3).trim();
  const page = {
    page_id: 'pg_00000001',
    canonical_url: 'https://a.example/',
    title: 'Herons',
    first_seen_at: '2026-01-02',
  };
  const chunk = { text, highlights: [{ start: 4, end: 9 }], snippet: { start: 0, end: text.length, text } };
  const answer = {
    results: [{ ...page, chunks: [chunk], duplicates: [page, page] }],
    corrected: [{ word: 'herron', taken: ['heron'] }],
    corrected_query: 'heron',
    no_results: null as object | null,
    has_more: false,
    timing_ms: { rebuilding: 1 },
  };
  const site = await Site.open(t, {
    '*': (request, response) => {
      request.resume();
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    },
  });
  const url = site.url('');
  const cli = new CliHere(temporaryFolder(t), { SERVICE_AUTH_TOKEN: token, COLUMNS: '60' });
  const { stdout, stderr } = await cli.run(['--url', url, 'search', 'herron']);
  assert.equal(
    stderr,
    'the index is being rebuilt: results may be incomplete\nShowing results for “heron”. Search for “herron” instead:\n--no-spelling\n',
  );
  const lines = stdout.trimEnd().split('\n');
  assert.ok(lines.includes('    and 2 similar'));
  assert.ok(lines.length > 5 && lines.every((line) => line.length <= 60), stdout);
  assert.equal(
    lines
      .slice(2)
      .filter((line) => line !== '    and 2 similar')
      .map((line) => line.trim())
      .join(' '),
    text,
  );
  const value = { value: 'a.example', label: null, count: 12 };
  Object.assign(answer, { facets: { total: 12, site: [value], lang: [] } });
  const counts = await cli.run(['--url', url, 'search', 'heron', '--counts']);
  assert.match(counts.stdout, /\nmatching pages: 12\nsite: a\.example \(12\)\n$/);
  Object.assign(answer, { facets: undefined });
  answer.results = [];
  const none = { reason: 'no_match', operators: [] as string[], filters: [] as string[], pages_waiting: 0 };
  for (const [why, said] of [
    [none, 'Nothing in the reading history matches.'],
    [{ ...none, reason: 'indexing', pages_waiting: 1 }, 'Nothing matches so far: 1 page still waits to be indexed.'],
    [{ ...none, reason: 'excluded', operators: ['-all'] }, 'All matching pages are excluded by -all.'],
  ] as const) {
    answer.no_results = why;
    assert.equal((await cli.run(['--url', url, 'search', 'mount -all'])).stdout, `${said}\n`);
  }
});

test('a misspelt setting is told beside the answer, and by doctor', async (t) => {
  const cli = new CliHere(temporaryFolder(t), { SERVICE_BIND_PRT: '8001' });
  const told = 'SERVICE_BIND_PRT is not a setting and is ignored; did you mean SERVICE_BIND_PORT?';
  assert.equal((await cli.run(['status'])).stderr, `${told}\n`);
  assert.match((await cli.run(['doctor'])).stdout, new RegExp(`warn {2}settings +${told.replace('?', '\\?')}`));
});

test('what is wrong is told in a line, with its exit code', async (t) => {
  const home = temporaryFolder(t);
  const notAnAddress = /must be an http or https address/;
  const cases: [string[], number, RegExp][] = [
    [['search'], 2, /missing required argument 'words'\n\(-h prints the help\)/],
    [['search', 'x', '-k', '1000'], 2, /whole number from 1 to 100/],
    [['--url', 'nowhere', 'search', 'x'], 2, notAnAddress],
    [['--url', 'localhost:8000', 'search', 'x'], 2, notAnAddress],
    [['--url', 'http://user:secret@127.0.0.1:1', 'search', 'x'], 2, notAnAddress],
    [['--url', 'http://127.0.0.1:1/?from=here', 'search', 'x'], 2, notAnAddress],
    [['--url', 'http://127.0.0.1:1/#top', 'search', 'x'], 2, notAnAddress],
    [['search', 'x'], 3, /no readback answers at http:\/\/127\.0\.0\.1:1 \(.*\)\n.*readback serve/],
    [['jobs', '--status', 'lost'], 2, /Allowed choices are pending/],
    [['status'], 3, /^$/],
    [['fsck'], 1, /there is no store in/],
    [['import', join(home, 'nothing')], 1, /there is no .*nothing/],
    [['import', 'x', '--since', '2024-02-31'], 2, /must be a date such as/],
    [['import', 'x', '--format', 'word'], 2, /Allowed choices are bookmarks/],
    [['backup', join(home, 'b')], 1, /there is no store in/],
    [['restore', home], 1, /no backup\.json/],
    [['export', join(home, 'e')], 1, /there is no store in/],
  ];
  const said = async (cli: Cli, [args, code, message]: (typeof cases)[number]) => {
    const run = await cli.run(args);
    assert.equal(run.code, code, `${args.join(' ')}: ${run.stdout}${run.stderr}`);
    assert.match(run.stderr, message, args.join(' '));
    assert.doesNotMatch(run.stderr, /\n\s+at /, `${args.join(' ')} shows no stack`);
  };
  for (const each of cases) await said(new CliHere(home), each);
  const cli = new Cli(home);
  await said(cli, [['serach', 'x'], 2, /unknown command 'serach'\n\(Did you mean search\?\)/]);
  const settings = await cli.run(['status'], { env: { SERVICE_BIND_PORT: 'x' } });
  assert.deepEqual([settings.code, /SERVICE_BIND_PORT="x"/.test(settings.stderr)], [2, true]);
  const json = await cli.run(['--json', 'search', 'x']);
  assert.equal(JSON.parse(json.stdout).exit_code, 3);
});
