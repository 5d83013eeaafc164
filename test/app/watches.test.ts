import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { PageResponse } from '../../src/domain/page.ts';
import { idOf } from '../../src/domain/values.ts';
import { createWatchRequest, type WatchResponse } from '../../src/domain/watch.ts';
import { until } from '../process/service.ts';
import { listOf } from '../rows.ts';
import { FeedServer, rss } from './feed-server.ts';
import { WholeSystem } from './whole-system.ts';

/** A system that may fetch from this machine's own address, polls nothing by itself, and gives a poll up at its first failure. */
async function startSystem(t: TestContext, env: NodeJS.ProcessEnv = {}) {
  const web = await FeedServer.start(t);
  const system = await WholeSystem.start(t, {
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_WATCH__POLL_TICK_ENABLED: 'false',
    SERVICE_JOBS__MAX_ATTEMPTS: '1',
    ...env,
  });
  const create = (url: string, more: object = {}): Promise<WatchResponse> =>
    system.ask('watch.create', createWatchRequest.parse({ url, ...more }));
  /** Poll and wait for the end of it, or for what it waits for. */
  const poll = async (watch_id: string): Promise<WatchResponse> => {
    const { job_id } = await system.ask('watch.run', { watch_id });
    const ended = async () =>
      (await system.ask('job.list', { kind: 'poll_watch', limit: 1000 })).jobs.some(
        (job) =>
          job.job_id === job_id &&
          (['done', 'dead'].includes(job.status) || job.last_error?.startsWith('no network') === true),
      );
    await until(ended, 'the poll has ended');
    return system.ask('watch.get', { watch_id });
  };
  const pages = async (): Promise<PageResponse[]> => {
    const { jobs } = await system.ask('job.list', { kind: 'fetch_and_index', limit: 1000 });
    return Promise.all(jobs.map((_, i) => system.page(idOf('page', i + 1))));
  };
  return { web, system, create, poll, pages };
}

test('a poll ingests what is new, the next one asks only for what has changed and counts no visit', async (t) => {
  const { web, create, poll, pages } = await startSystem(t);
  const items = [
    { link: '/one?utm_source=feed', title: 'One', extra: '<pubDate>Fri, 20 Nov 2026 10:00:00 +0100</pubDate>' },
    { link: '/two', title: 'Two &amp;amp; a half' },
  ];
  let version = 1;
  web.serve('/feed', ({ headers }) =>
    headers['if-none-match'] === `"${version}"`
      ? { status: 304 }
      : { ...rss(items), headers: { 'content-type': 'text/xml', etag: `"${version}"` } },
  );
  const { id, ...fresh } = await create(`${web.url}/feed`, { config: { source: 'my feeds' } });
  assert.deepEqual([fresh.last_status, fresh.last_run_at, fresh.next_run_at], ['pending', null, fresh.created_at]);

  const first = await poll(id);
  assert.deepEqual([first.last_status, first.last_error, first.last_item_count], ['ok', null, 2]);
  const [one, two] = await pages();
  assert.deepEqual(
    [one.canonical_url, one.original_url, one.title, one.source, one.visit_count],
    [`${web.url}/one`, `${web.url}/one?utm_source=feed`, 'One', 'my feeds', 1],
  );
  assert.deepEqual(one.metadata, {
    watch_id: id,
    feed_url: `${web.url}/feed`,
    feed_title: 'A feed',
    published_at: '2026-11-20T09:00:00.000Z',
  });
  assert.equal(two.title, 'Two & a half');

  const second = await poll(id);
  assert.deepEqual([second.last_status, second.last_item_count], ['ok', 2]);
  assert.equal(
    web.asked.filter(({ path, headers }) => path === '/feed' && headers['if-none-match'] === '"1"').length,
    1,
  );
  version = 2;
  items.push({ link: '/three', title: 'Three' });
  assert.equal((await poll(id)).last_item_count, 3);
  assert.deepEqual(
    (await pages()).map(({ canonical_url, visit_count }) => [canonical_url, visit_count]),
    ['one', 'two', 'three'].map((path) => [`${web.url}/${path}`, 1]),
  );
});

test('a 304 from another address than the one that gave the validators is no answer', async (t) => {
  const { web, create, poll, pages } = await startSystem(t);
  let target = '/old';
  web.serve('/feed', () => ({ status: 302, headers: { location: target } }));
  web.serve('/old', { ...rss([{ link: '/a' }]), headers: { etag: '"x"' } });
  web.serve('/new', ({ headers }) =>
    headers['if-none-match'] === undefined ? rss([{ link: '/a' }, { link: '/b' }]) : { status: 304 },
  );
  const { id } = await create(`${web.url}/feed`);
  await poll(id);
  target = '/new';
  assert.equal((await poll(id)).last_item_count, 2);
  assert.equal((await pages()).length, 2);
});

test('a feed may come packed, be asked by date, move, and say when to come back', async (t) => {
  const { web, system, create, poll } = await startSystem(t, { SERVICE_JOBS__MAX_ATTEMPTS: '2' });
  const feed = rss([{ link: '/a' }]);
  const packed = gzipSync(String(feed.body));
  const date = 'Fri, 20 Nov 2026 10:00:00 GMT';
  web.serve('/packed', ({ headers }) =>
    headers['if-modified-since'] === date
      ? { status: 304 }
      : { body: packed, headers: { 'content-encoding': 'gzip', 'last-modified': date } },
  );
  const { id } = await create(`${web.url}/packed`);
  assert.deepEqual([(await poll(id)).last_status, web.asked.at(-1)?.headers['if-modified-since']], ['ok', undefined]);
  const unchanged = await poll(id);
  assert.deepEqual([unchanged.last_status, unchanged.last_item_count], ['ok', 1]);
  assert.equal(
    web.asked.filter(({ path, headers }) => path === '/packed' && headers['if-modified-since'] === date).length,
    1,
  );

  web.serve('/old', { status: 301, headers: { location: '/packed' } });
  const moved = await create(`${web.url}/old`);
  for (let time = 1; time <= 2; time++) {
    const { last_status, url } = await poll(moved.id);
    assert.deepEqual([last_status, url], ['ok', moved.url]);
    assert.equal(web.countOf('/old'), time, 'the given address is asked each time');
  }

  const times: number[] = [];
  web.serve('/busy', () => {
    times.push(performance.now());
    return times.length === 1 ? { status: 503, headers: { 'retry-after': '1' } } : feed;
  });
  const busy = await create(`${web.url}/busy`);
  assert.equal((await poll(busy.id)).last_status, 'ok');
  const { jobs } = await system.ask('job.list', { kind: 'poll_watch', limit: 1 });
  assert.equal(jobs[0].attempts, 2);
  assert.ok(times[1] - times[0] >= 990, `${times[1] - times[0]} ms`);
});

test('a page that announces a feed is watched by its feed, and asked again when that is gone', async (t) => {
  const { web, create, poll } = await startSystem(t);
  const announcing = (path: string) => ({
    headers: { 'content-type': 'text/html' },
    body: `<!doctype html><meta charset=utf-8><link rel=alternate type=application/rss+xml title="Comments" href=/comments>
      <LINK rel="alternate" type="application/atom+xml" href="${path}"><p>Welcome <b>here`,
  });
  web.serve('/', announcing('/atom'));
  web.serve('/atom', rss([{ link: '/a' }]));
  const { id, url } = await create(`${web.url}/`);
  assert.equal((await poll(id)).last_status, 'ok');
  await poll(id);
  assert.equal(web.countOf('/'), 1, 'the feed is remembered');
  assert.equal(web.countOf('/atom'), 2);
  web.serve('/', announcing('/moved'));
  web.serve('/atom', { status: 410 });
  web.serve('/moved', rss([{ link: '/a' }, { link: '/b' }]));
  const after = await poll(id);
  assert.deepEqual([after.last_status, after.last_item_count, after.url], ['ok', 2, url]);
  assert.equal(web.countOf('/comments'), 0);
});

test('what fails says why, keeps the schedule, and mends at the next poll', async (t) => {
  const { web, create, poll } = await startSystem(t);
  web.serve('/html', { headers: { 'content-type': 'text/html' }, body: '<html><body>nothing</body></html>' });
  web.serve('/broken', { status: 500 });
  web.serve('/empty', { body: ' ' });
  web.serve('/json', { body: '{"items": [' });
  web.serve('/deep', { body: `<rss><channel>${'<a>'.repeat(10_000)}` });
  web.serve('/loop', { status: 301, headers: { location: '/loop' } });
  const cases: [url: string, error: RegExp][] = [
    [`${web.url}/missing`, /^HTTP 404$/],
    [`${web.url}/broken`, /^HTTP 500$/],
    [`${web.url}/html`, /an HTML page that announces none/],
    [`${web.url}/empty`, /the answer is empty/],
    [`${web.url}/json`, /JSON that cannot be parsed/],
    [`${web.url}/deep`, /nested deeper/],
    [`${web.url}/loop`, /too many redirects/],
    ['http://169.254.169.254/feed', /^blocked address/],
    ['http://[::ffff:a9fe:a9fe]/feed', /^blocked address/],
    ['http://localhost.:1/feed', /^(?:no network: )?(?:blocked address|DNS failure)/],
  ];
  for (const [url, error] of cases) {
    const { id } = await create(url);
    const watch = await poll(id);
    assert.equal(watch.last_status, 'error', url);
    assert.match(watch.last_error ?? '', error, url);
    assert.ok(Date.parse(watch.next_run_at) > Date.now() + 23 * 3_600_000, 'the schedule goes on');
  }
  web.serve('/broken', rss([{ link: '/a' }]));
  const [mended] = await Promise.all([create(`${web.url}/broken`).then(({ id }) => poll(id))]);
  assert.deepEqual([mended.last_status, mended.last_error], ['ok', null]);
});

test('items over the cap come with the next polls, and the cap of the settings counts', async (t) => {
  const { web, create, poll, pages } = await startSystem(t, { SERVICE_WATCH__MAX_ITEMS_PER_POLL: '30' });
  const many = Array.from({ length: 70 }, (_, i) => ({ link: `/item/${i}` }));
  web.serve('/feed', ({ headers }) =>
    headers['if-none-match'] === '"1"' ? { status: 304 } : { ...rss(many), headers: { etag: '"1"' } },
  );
  const { id } = await create(`${web.url}/feed`, { config: { max_items: '1000' } });
  const counts: unknown[] = [];
  for (let i = 0; i < 4; i++) counts.push([(await poll(id)).last_item_count, (await pages()).length]);
  assert.deepEqual(counts, [
    [30, 30],
    [30, 60],
    [30, 70],
    [30, 70],
  ]);
});

test('watches are listed in parts, with how many there are', async (t) => {
  const { web, system, create } = await startSystem(t);
  const ids: string[] = [];
  for (let no = 0; no < 5; no++) ids.push((await create(`${web.url}/feed/${no}`)).id);
  await system.ask('watch.delete', { watch_id: ids[1] });
  const left = [ids[0], ...ids.slice(2)];
  const partOf = async (part: { offset?: number; limit?: number }) => {
    const { watches, total } = await system.ask('watch.list', part);
    return [(await listOf(watches)).map(({ id }) => id), total];
  };
  assert.deepEqual(await partOf({}), [left, undefined]);
  assert.deepEqual(await partOf({ limit: 3 }), [left.slice(0, 3), 4]);
  assert.deepEqual(await partOf({ offset: 1 }), [left.slice(1), 4]);
  assert.deepEqual(await partOf({ offset: 2, limit: 1 }), [left.slice(2, 3), 4]);
  assert.deepEqual(await partOf({ offset: 4, limit: 1 }), [[], 4]);
});

test('what a feed says of a page stands in for it only when it cannot be fetched', async (t) => {
  const { web, system, create, poll, pages } = await startSystem(t);
  const said = '&lt;p&gt;The feed itself says that herons wade in shallow rivers and wait for fish.&lt;/p&gt;';
  const html = { 'content-type': 'text/html' };
  web.serve('/there', {
    headers: html,
    body: '<title>T</title><article><p>The page says much more of it.</p></article>',
  });
  web.serve(
    '/feed',
    rss(['/there', '/gone', '/bare'].map((link) => ({ link, title: link, description: link === '/bare' ? '' : said }))),
  );
  web.serve('/other', rss([{ link: '/gone-too', description: said }]));
  const { id } = await create(`${web.url}/feed`);
  await poll(id);
  await poll((await create(`${web.url}/other`, { config: { feed_content: 'never' } })).id);
  const settled = async () => (await pages()).every(({ status }) => status === 'indexed' || status === 'dead');
  await until(settled, 'every page is indexed or dead');
  assert.deepEqual(
    (await pages()).map(({ canonical_url, status, body_text }) => [
      canonical_url.slice(web.url.length),
      status,
      body_text,
    ]),
    [
      ['/there', 'indexed', 'The page says much more of it.'],
      ['/gone', 'indexed', 'The feed itself says that herons wade in shallow rivers and wait for fish.'],
      ['/bare', 'dead', null],
      ['/gone-too', 'dead', null],
    ],
  );
  const found = await system.search('herons in rivers');
  assert.deepEqual(
    found.results.map(({ title }) => title),
    ['/gone'],
  );
});
