/** Forgetting while somebody works on the page: whatever arrives afterwards, the page does not come back, and no file keeps a word of it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { evalReplayRequest } from '../../src/domain/evaluation.ts';
import type { JobKind, JobResponse, JobStatus } from '../../src/domain/job.ts';
import { createWatchRequest } from '../../src/domain/watch.ts';
import { until, withEntities } from '../process/service.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { type Page, redirectTo, Site, say } from '../providers/small-web.ts';
import { filesHolding } from './byte-scan.ts';
import { library, WholeSystem } from './whole-system.ts';

/** Only forgotten pages have it, and nobody searches for it. */
const canary = 'zqxverbork';
const secretText = `The brontok is a grey heron that hunts fish in shallow water, says ${canary}. `.repeat(20);
const article = `<!doctype html><title>Brontok ${canary}</title><article><p>${secretText}</p></article>`;
const secret = { url: 'https://secret.example/heron', title: `Brontok ${canary}`, body_extracted: secretText };
const settings = {
  SERVICE_FORGET__COMPACT_AFTER_S: '0.2',
  SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.0/8"]',
  SERVICE_WATCH__POLL_TICK_ENABLED: 'false',
  SERVICE_JOBS__MAX_ATTEMPTS: '2',
  SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
};
const cancelled = 'cancelled: page forgotten';

const newest = async (system: WholeSystem, kind: JobKind): Promise<JobResponse> =>
  (await system.ask('job.list', { kind, limit: 1 })).jobs[0];

async function handIn(system: WholeSystem, page: { url: string }): Promise<string> {
  const handed = await system.ask('page.ingest', page);
  assert.equal(handed.outcome, 'accepted');
  return handed.outcome === 'accepted' ? handed.page_id : '';
}

/** What holds from the answer on, and in the end of every file. */
async function assertGone(system: WholeSystem, page_ids: readonly string[], urls: readonly string[]): Promise<void> {
  const { results } = await system.search('brontok grey heron', { k: 50 });
  assert.ok(!results.some((found) => page_ids.includes(found.page_id) || found.title?.includes(canary)));
  for (const page_id of page_ids) await assert.rejects(system.ask('page.get', { page_id }), { code: 'not_found' });
  for (const url of urls) assert.equal((await system.ask('page.ingest', { url })).outcome, 'blacklisted');
}

async function assertErased(system: WholeSystem): Promise<void> {
  const clean = () => Object.keys(filesHolding(system.dataDir, [canary])).length === 0;
  await until(clean, 'no file holds a word of it');
  await system.stop();
  const { store, index } = await checkFolder(system.dataDir);
  assert.deepEqual([store, index], [[], []]);
}

test('a page that is being fetched, one that a feed lists, and one that a redirect leads to', async (t) => {
  const system = await WholeSystem.start(t, settings);
  /** Answers when the target is forgotten. */
  const after = (target: object, answer: Page): Page => {
    return (request, response) => void system.ask('page.forget', target).then(() => answer(request, response));
  };
  const pages: Record<string, Page> = { '/fine': say('<p>A fine day.</p>') };
  const site = await Site.open(t, pages);
  const elsewhere = await Site.open(t, { '*': say(article) }, '127.0.0.2');
  const urls = ['/secret', '/listed'].map((path) => site.url(path));
  const said = `<title>${canary}</title><description>${secretText}</description>`;
  const items = [...urls, `${urls[1]}?utm_source=feed`]
    .map((url) => `<item><link>${url}</link>${said}</item>`)
    .join('');
  const feed = `<rss version="2.0"><channel>${items}<item><link>/fine</link></item></channel></rss>`;
  pages['/secret'] = after({ url: urls[0] }, say(article));
  pages['/feed'] = after({ url: urls[1] }, say(feed));
  pages['/hop'] = after({ domain: '127.0.0.2' }, redirectTo(elsewhere.url('/target', '127.0.0.2')));
  const other = elsewhere.url('/other', '127.0.0.2');
  const forward = say(`<meta http-equiv="refresh" content="0; url=${other}"><p>Moved.</p>`);
  pages['/forward'] = after({ url: other }, forward);
  pages['/forward-there'] = forward;
  const ended = async (kind: JobKind, ends: JobStatus) => {
    await until(async () => (await newest(system, kind))?.status === ends, `${kind} is ${ends}`);
    return (await newest(system, kind)).last_error;
  };

  const fetched = await handIn(system, { url: urls[0] });
  assert.equal(await ended('fetch_and_index', 'done'), cancelled);
  await until(() => site.open === 0, 'the fetch was given up');
  await assertGone(system, [fetched], [urls[0]]);

  const { id } = await system.ask('watch.create', createWatchRequest.parse({ url: site.url('/feed') }));
  await system.ask('watch.run', { watch_id: id });
  assert.equal(await ended('poll_watch', 'done'), null);
  assert.equal(await ended('fetch_and_index', 'done'), null);
  const { jobs } = await system.ask('job.list', { kind: 'fetch_and_index', limit: 10 });
  assert.equal(jobs.length, 2, 'of the four items one was taken in');
  await assertGone(system, [], urls);

  for (const path of ['/forward', '/hop', '/forward-there']) {
    const moved = await handIn(system, { url: site.url(path) });
    assert.equal(await ended('fetch_and_index', 'dead'), 'redirected to a blacklisted page');
    assert.equal((await system.page(moved)).body_text, null);
  }
  await assertGone(
    system,
    [],
    ['/target', '/other'].map((path) => elsewhere.url(path, '127.0.0.2')),
  );
  await assertErased(system);
});

/** A system with an outside model, whose calls with the canary wait until the test lets go. */
async function startWithModel(t: TestContext) {
  const server = await startFakeProvider(t, { dim: 32 });
  const system = await WholeSystem.start(t, {
    ...settings,
    SERVICE_RERANKER__KIND: 'none',
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${server.url}/v1`,
    SERVICE_SEARCH__EMBED_DEADLINE_S: '30',
  });
  const fill = async (model_id: string) => {
    const model = { provider: 'openai', model_name: model_id, dim: 32, max_input_tokens: 8192, id: model_id };
    await system.ask('model.register', model);
    await system.ask('model.startBackfill', { model_id });
  };
  const filled = (model_id: string) =>
    until(
      async () => (await system.ask('model.backfill', { model_id })).status === 'complete',
      `${model_id} is filled`,
    );
  let letGo = () => {};
  /** From now on, calls with that word in them are answered when the test lets go. Resolves when one has come. */
  const hold = (word: string) =>
    new Promise<void>((resolve) => {
      const after = new Promise<void>((go) => {
        letGo = go;
      });
      server.faultOf = ({ body }) => {
        if (!JSON.stringify(body).includes(word)) return undefined;
        resolve();
        return { kind: 'late', after };
      };
    });
  return { system, fill, filled, hold, letGo: () => letGo() };
}

test('a page that is being embedded by an index job, a backfill and for a replay', async (t) => {
  const { system, fill, filled, hold, letGo } = await startWithModel(t);
  await system.read(library);
  const page_id = await handIn(system, secret);
  await system.settled([page_id]);
  const { query_id } = await system.search('brontok grey heron');
  await system.ask('feedback.give', { query_id, page_id, relevant: true });

  const embedding = hold(canary);
  await fill('first');
  await embedding;
  await system.ask('page.forget', { url: secret.url });
  letGo();
  await filled('first');
  await assertGone(system, [page_id], [secret.url]);

  await system.ask('model.activate', { model_id: 'first' });
  const again = { ...secret, url: `${secret.url}/again` };
  const indexing = hold(canary);
  const other = await handIn(system, again);
  await indexing;
  await system.ask('page.forget', { url: again.url });
  const { status, last_error } = await newest(system, 'index_page');
  assert.deepEqual([status, last_error], ['done', cancelled]);
  letGo();
  await assertGone(system, [page_id, other], [secret.url, again.url]);

  const last = { ...secret, url: `${secret.url}/last` };
  const third = await handIn(system, last);
  await system.settled([third]);
  const found = await system.search('brontok hunts');
  assert.equal(found.results[0]?.page_id, third);
  await system.ask('feedback.give', { query_id: found.query_id, page_id: third, relevant: true });
  const asked = hold('brontok hunts');
  const { job_id } = await system.ask('eval.startReplay', evalReplayRequest.parse({}));
  await asked;
  await system.ask('page.forget', { url: last.url });
  letGo();
  await until(async () => (await newest(system, 'eval_replay')).status === 'done', 'the replay has ended');
  const replay = await system.ask('eval.replay', { job_id });
  const run = await system.ask('queryLog.get', { query_id: found.query_id });
  assert.ok(!JSON.stringify([replay, run]).includes(third), 'neither the report nor the log names it');
  await assertGone(system, [page_id, other, third], [last.url]);
  await assertErased(system);
});

test('a page that is being read for entities and put to a topic', async (t) => {
  const system = await WholeSystem.start(t, { ...settings, ...withEntities, SERVICE_CLUSTER__MIN_PAGES: '5' });
  await system.read(library);
  const names = Array.from({ length: 400 }, (_, at) => `Professor Zqxname Verbork${at} met ${canary} in Ottawa.`).join(
    ' ',
  );
  const named = {
    url: 'https://secret.example/names',
    title: `Brontok ${canary}`,
    body_extracted: `${secretText}${names}`,
  };
  const page_id = await handIn(system, named);
  await system.settled([page_id]);
  // Some of it may be over by the time of the forget; nothing of it stays either way.
  await system.ask('cluster.recompute', {});
  await system.ask('page.forget', { domain: 'secret.example' });
  for (const kind of ['extract_entities', 'cluster'] as const) {
    await until(async () => ['done', 'dead'].includes((await newest(system, kind))?.status), `${kind} has ended`);
  }
  await until(
    async () => (await system.ask('cluster.runs', { limit: 1 })).runs[0]?.finished_at !== null,
    'the run is over',
  );
  const { clusters } = await system.ask('cluster.list', { include_tombstoned: true });
  for (const { id, keywords, label } of clusters) {
    const { pages } = await system.topic(id);
    assert.ok(!pages.some((page) => page.page_id === page_id), 'no topic has it');
    assert.ok(!JSON.stringify([keywords, label]).includes(canary), 'no topic is called by its words');
  }
  await assert.rejects(system.ask('entity.get', { ref: 'Zqxname Verbork1' }), { code: 'not_found' });
  await assert.rejects(system.ask('page.entities', { page_id }), { code: 'not_found' });
  await assertGone(system, [page_id], [named.url]);
  await assertErased(system);
});
