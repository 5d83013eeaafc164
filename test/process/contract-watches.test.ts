/** Contract section: Watches and forgetting. Creation, polls, changes, runs, deletion; forgetting of a domain with its blacklist. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BlacklistResponse, ForgetResponse } from '../../src/domain/blacklist.ts';
import type { JobListResponse } from '../../src/domain/job.ts';
import type { IngestBatchResult, PageResponse } from '../../src/domain/page.ts';
import type { WatchResponse } from '../../src/domain/watch.ts';
import { type Page, Site, say } from '../providers/small-web.ts';
import { newestFirst } from '../scope.ts';
import { RunningService, until } from './service.ts';

const readToken = 'process-test-reader-5d20e7';
const env = {
  SERVICE_JOBS__MAX_ATTEMPTS: '1',
  SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
  SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'phone', token: readToken, scopes: ['read'] }]),
};
const hourMs = 3_600_000;

let service: RunningService;
let site: Site;
const pages: Record<string, Page> = {};
const scope = newestFirst({ after });
before(async () => {
  service = await RunningService.start(scope, env);
  await service.pauseVectors();
  site = await Site.open(scope, pages);
});

const call = <Body>(method: string, path: string, body?: unknown) => service.call<Body>(method, path, body);
const feedOf = (...links: string[]) =>
  say(
    `<rss version="2.0"><channel><title>F</title>${links.map((link) => `<item><link>${link}</link></item>`).join('')}</channel></rss>`,
  );
const jobsOf = async (kind: string) =>
  (await call<JobListResponse>('GET', `/v1/jobs?kind=${kind}&limit=1000`)).body.jobs;
const watchOf = async (id: string) => (await call<WatchResponse>('GET', `/v1/watches/${id}`)).body;

async function create(body: object): Promise<WatchResponse> {
  const { status, body: watch } = await call<WatchResponse>('POST', '/v1/watches', body);
  assert.equal(status, 201, JSON.stringify(watch));
  return watch;
}

async function polled(id: string, after: string | null = null): Promise<WatchResponse> {
  await until(async () => (await watchOf(id)).last_run_at !== after, `${id} was polled`);
  return watchOf(id);
}

test('a watch has every field, is polled at once, and its items become pages', async () => {
  pages['/feed'] = feedOf('/story?utm_source=rss', '/other', '/story');
  pages['/story'] = say('<article><p>Herons fish at dawn.</p></article>');
  const began = Date.now();
  const watch = await create({ url: site.url('/feed') });
  const created = Date.parse(watch.created_at);
  assert.ok(created >= began && created <= Date.now());
  assert.match(watch.id, /^wt_/);
  assert.deepEqual(watch, {
    id: watch.id,
    kind: 'rss',
    url: site.url('/feed'),
    title: null,
    enabled: true,
    interval_hours: 24,
    config: null,
    next_run_at: watch.next_run_at,
    last_run_at: null,
    last_status: 'pending',
    last_error: null,
    last_item_count: null,
    created_at: watch.created_at,
  });
  const after = await polled(watch.id);
  assert.deepEqual([after.last_status, after.last_error, after.last_item_count], ['ok', null, 3]);
  assert.equal(Date.parse(after.next_run_at), created + 24 * hourMs);
  await until(
    async () => (await jobsOf('fetch_and_index')).every(({ status }) => /done|dead/.test(status)),
    'both ended',
  );
  assert.equal(
    (await jobsOf('fetch_and_index')).length,
    2,
    'two pages, for tracking parameters are none of an address',
  );
  const [job] = await jobsOf('poll_watch');
  assert.deepEqual([job?.status, job?.attempts], ['done', 1]);
  const { body: list } = await call<{ watches: WatchResponse[] }>('GET', '/v1/watches');
  assert.deepEqual(list, { watches: [await watchOf(watch.id)] });
  assert.deepEqual((await call('GET', '/v1/watches?offset=1')).body, { watches: [], total: 1 });
});

test('a watch is changed, run and deleted; its URL is its identity and its pages stay', async () => {
  pages['/news'] = feedOf('/kept');
  pages['/kept'] = say('<article><p>Kept for good.</p></article>');
  const url = site.url('/news');
  const config = { max_items: '5' };
  const [watch, ...others] = await Promise.all(
    Array.from({ length: 10 }, () =>
      create({ url, title: 'News', interval_hours: 6, config, enabled: true, kind: 'rss' }),
    ),
  );
  assert.deepEqual(new Set(others.map(({ id }) => id)), new Set([watch.id]));
  assert.deepEqual([watch.title, watch.interval_hours, watch.config], ['News', 6, config]);
  const first = await polled(watch.id);
  assert.deepEqual(
    await create({ url: `${url}?utm_medium=x`, title: 'Another' }),
    first,
    'the existing one, unchanged',
  );

  const patch = async (body: object) => {
    const { status, body: changed } = await call<WatchResponse>('PATCH', `/v1/watches/${watch.id}`, body);
    assert.equal(status, 200);
    return changed;
  };
  const ranAt = Date.parse(first.last_run_at ?? '');
  const slower = await patch({ interval_hours: 12 });
  assert.deepEqual(slower, { ...first, interval_hours: 12, next_run_at: new Date(ranAt + 12 * hourMs).toISOString() });
  assert.deepEqual(await patch({}), slower);
  assert.deepEqual(await patch({ enabled: null, interval_hours: null }), slower);
  assert.deepEqual(await patch({ title: null, config: null, enabled: false }), {
    ...slower,
    title: null,
    config: null,
    enabled: false,
  });

  const asked = Date.now();
  const { status, body } = await call<{ watch_id: string; job_id: string }>('POST', `/v1/watches/${watch.id}/run`);
  assert.deepEqual([status, Object.keys(body), body.watch_id], [202, ['watch_id', 'job_id'], watch.id]);
  assert.match(body.job_id, /^jb_/);
  const again = await polled(watch.id, first.last_run_at);
  const next = Date.parse(again.next_run_at) - 12 * hourMs;
  assert.ok(next >= asked && next <= Date.now(), 'one interval from now');

  const [fetched] = await jobsOf('fetch_and_index');
  await until(async () => (await jobsOf('fetch_and_index'))[0]?.status === 'done', 'the page is indexed');
  assert.ok(fetched !== undefined);
  const gone = await call('DELETE', `/v1/watches/${watch.id}`);
  assert.deepEqual([gone.status, gone.body], [204, '']);
  for (const [method, path, sent] of [
    ['GET', ''],
    ['PATCH', '', {}],
    ['DELETE', ''],
    ['POST', '/run'],
  ] as const) {
    assert.equal((await call(method, `/v1/watches/${watch.id}${path}`, sent)).status, 404, `${method} ${path}`);
  }
  const revisit = await call<{ revisit: boolean }>('POST', '/v1/pages', { url: site.url('/kept') });
  assert.deepEqual([revisit.status, revisit.body.revisit], [200, true]);
});

test('what cannot be watched, or changed, is 422', async () => {
  const url = site.url('/unwatched');
  for (const body of [
    {},
    { url: 'no address' },
    { url: 'ftp://feeds.example/a' },
    { url: 'mailto:a@b.example' },
    { url, kind: 'atom' },
    { url, interval_hours: 0 },
    { url, interval_hours: 8761 },
    { url, interval_hours: 1.5 },
    { url, enabled: null },
    { url, config: { max_items: 5 } },
    { url, config: { max_items: 'many' } },
    { url, title: '\ud800' },
    { url, unknown: 1 },
  ]) {
    assert.equal((await call('POST', '/v1/watches', body)).status, 422, JSON.stringify(body));
  }
  const { id } = await create({ url, enabled: false });
  const changed = async (body: object) => (await call('PATCH', `/v1/watches/${id}`, body)).status;
  for (const body of [
    { url },
    { kind: 'rss' },
    { interval_hours: 0 },
    { interval_hours: 8761 },
    { config: { max_items: '0' } },
  ])
    assert.equal(await changed(body), 422, JSON.stringify(body));
  for (const interval_hours of [1, 8760]) assert.equal(await changed({ interval_hours }), 200);
});

test('an item of two watches that is handed in at the same time, in a hundred forms, is one page with one job', async () => {
  const link = site.url('/crowd');
  pages['/crowd'] = say('<article><p>A crowd of one.</p></article>');
  const ids: string[] = [];
  for (const name of ['/a', '/b']) {
    const forms = Array.from({ length: 20 }, (_, at) => `${link}?utm_source=${name}&amp;fbclid=${at}`);
    pages[name] = feedOf(...forms);
    ids.push((await create({ url: site.url(name), enabled: false })).id);
  }
  const before = (await jobsOf('fetch_and_index')).length;
  const answers = await Promise.all([
    ...ids.map((id) => call('POST', `/v1/watches/${id}/run`)),
    ...Array.from({ length: 100 }, (_, at) =>
      call<{ page_id: string }>('POST', '/v1/pages', { url: `${link}?gclid=${at}&utm_term=x#part-${at}` }),
    ),
  ]);
  const posted = answers.slice(ids.length) as { status: number; body: { page_id: string } }[];
  for (const id of ids) assert.equal((await polled(id)).last_status, 'ok');
  const [page_id, ...others] = new Set(posted.map(({ body }) => body.page_id));
  assert.deepEqual(others, []);
  assert.ok(page_id !== undefined);
  const fresh = posted.filter(({ status }) => status === 202).length;
  assert.ok(fresh <= 1 && posted.every(({ status }) => status === 202 || status === 200));
  await service.settled([page_id]);
  const { body: page } = await call<PageResponse>('GET', `/v1/pages/${page_id}`);
  // What a watch finds is no visit; the page that it was the first to find has one of its own.
  assert.deepEqual([page.status, page.visit_count], ['indexed', 100 + (1 - fresh)]);
  assert.equal((await jobsOf('fetch_and_index')).length, before + 1);
});

test('a forgotten domain takes its subdomains along, everywhere, and refuses what comes again', async () => {
  const hosts = ['gone.example', 'a.gone.example', 'b.a.gone.example', 'notgone.example'];
  const given = hosts.map((host) => ({
    url: `https://${host}/page`,
    title: host,
    body_extracted: `Quenkle of ${host}.`,
  }));
  const { body } = await call<{ results: IngestBatchResult[] }>('POST', '/v1/pages/batch', { pages: given });
  const ids = body.results.map((result) => ('page_id' in result ? result.page_id : result.outcome));
  await service.settled(ids);
  const counted = async () => {
    const { body: text } = await service.metrics();
    return Number(/^ingest_pages_total\{outcome="blacklisted"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const forgotten = await call<ForgetResponse>('POST', '/v1/forget', {
    domain: 'GONE.example',
    reason: 'mine',
    url: null,
  });
  assert.equal(forgotten.status, 200);
  const { blacklist_id, ...rest } = forgotten.body;
  assert.deepEqual(rest, { pattern: 'gone.example', kind: 'domain', pages_purged: 3, vector_deletes_queued: 1 });
  for (const id of ids.slice(0, 3)) {
    for (const path of ['', '/chunks', '/status', '/entities', '/similar']) {
      assert.equal((await call('GET', `/v1/pages/${id}${path}`)).status, 404, `${id}${path}`);
    }
  }
  const found = await call<{ results: { page_id: string }[] }>('POST', '/v1/search', { query: 'quenkle' });
  assert.deepEqual(
    found.body.results.map(({ page_id }) => page_id),
    [ids[3]],
  );

  const before = await counted();
  const blacklisted = { error: 'blacklisted', pattern: 'gone.example' };
  const refused = await call('POST', '/v1/pages', { url: 'https://new.gone.example/', body_extracted: 'x' });
  assert.deepEqual([refused.status, refused.body], [403, blacklisted]);
  const batch = await call<{ results: IngestBatchResult[] }>('POST', '/v1/pages/batch', { pages: given });
  assert.deepEqual(
    batch.body.results.slice(0, 3),
    [0, 1, 2].map((index) => ({ outcome: 'blacklisted', index, ...blacklisted })),
  );
  assert.equal(batch.body.results[3]?.outcome, 'revisit');
  assert.equal(await counted(), before + 4);

  const again = await call<ForgetResponse>('POST', '/v1/forget', { domain: 'gone.example' });
  assert.deepEqual(again.body, { ...forgotten.body, pages_purged: 0, vector_deletes_queued: 0 });
  const { body: list } = await call<BlacklistResponse>('GET', '/v1/blacklist');
  assert.deepEqual(
    list.entries.map(({ created_at, ...entry }) => [entry, created_at === new Date(created_at).toISOString()]),
    [[{ id: blacklist_id, pattern: 'gone.example', kind: 'domain', reason: 'mine' }, true]],
  );
  for (const wrong of [
    { domain: '' },
    { domain: 'com' },
    { domain: 'https://x.example/' },
    { url: 'x' },
    { url: 5 },
    { domain: 'a.example', reason: '\ud800' },
  ]) {
    assert.equal((await call('POST', '/v1/forget', wrong)).status, 422, JSON.stringify(wrong));
  }
  for (const unknown of ['bl_99999999', 'pg_00000001', 'nonsense', '%00']) {
    assert.equal((await call('DELETE', `/v1/blacklist/${unknown}`)).status, 404, unknown);
  }
  assert.equal((await call('DELETE', `/v1/blacklist/${blacklist_id}`)).status, 204);
  assert.equal(
    (await call('POST', '/v1/pages', { url: 'https://gone.example/page', body_extracted: 'x' })).status,
    202,
  );
});
