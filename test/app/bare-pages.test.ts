import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realEncoder, until } from '../process/service.ts';
import { Site, say } from '../providers/small-web.ts';
import { compiled } from './compiled.ts';
import { library, once, untilEnd, WholeSystem } from './whole-system.ts';

const { JobError }: typeof import('../../src/domain/errors.ts') = await compiled('domain/errors');

/** An address that nobody may fetch: a job for it is dead at once. */
const unreachable = 'http://10.1.2.3';

async function paths(system: WholeSystem, query: string, fields: Record<string, unknown> = {}) {
  const { results } = await system.search(query, fields);
  return results.map(({ canonical_url }) => new URL(canonical_url).pathname.slice(1));
}

const bookmarks = [
  { url: `${unreachable}/sim`, title: 'Hackers hijack phone numbers', metadata: { author: 'Joseph Cox' } },
  {
    url: `${unreachable}/noted`,
    title: 'Untitled',
    metadata: { tags: ['woodworking'], note: 'for the dovetail bench' },
  },
  { url: `${unreachable}/2019/growing-tomatoes-indoors.html` },
];

/** Looked at by several tests, of which the last one forgets. */
const bareLibrary = once(async () => {
  const system = await WholeSystem.start(untilEnd, realEncoder);
  const ids = await system.submit(bookmarks);
  await system.settled(ids, ({ status }) => status === 'dead');
  await system.read({ empty: { title: 'Nothing but mortices', text: '' }, dots: { title: 'Ellipsis', text: '… …' } });
  const page_ids = await system.submit(
    Object.entries(library).map(([path, { title, text }], i) => ({
      url: `https://${i < 3 ? 'www.birdwatch.org' : 'kitchen.example'}/${path}`,
      title,
      body_extracted: text,
      metadata: path === 'bread' ? { author: 'Maria Birdwatch' } : null,
    })),
  );
  await system.settled(page_ids);
  return { system, ids };
});

test('a page that cannot be fetched is found by its title, author, tags, note and address', async () => {
  const { system, ids } = await bareLibrary();
  const found = async (query: string) => (await paths(system, query)).length > 0;
  for (const word of ['hijack', 'dovetail', 'tomatoes']) await until(() => found(word), `${word} finds its page`);
  for (const rerank of [true, false]) {
    assert.deepEqual((await paths(system, 'phone numbers', { rerank }))[0], 'sim');
    assert.deepEqual((await paths(system, 'Joseph Cox', { rerank }))[0], 'sim');
    assert.deepEqual((await paths(system, 'woodworking', { rerank }))[0], 'noted');
    assert.deepEqual((await paths(system, 'dovetail', { rerank }))[0], 'noted');
    assert.deepEqual((await paths(system, 'growing tomatoes', { rerank }))[0], '2019/growing-tomatoes-indoors.html');
  }
  const { results } = await system.search('Hackers hijack phone numbers');
  assert.deepEqual([results[0].exact_match, results[0].chunks], [true, []], 'there is no passage to show');
  assert.deepEqual(await system.chunks(ids[0]), []);
  const page = await system.page(ids[0]);
  assert.deepEqual([page.status, page.body_text, page.indexed_at], ['dead', null, null]);
  const statuses = await Promise.all(ids.map((page_id) => system.ask('page.status', { page_id })));
  assert.ok(statuses.every(({ status }) => status === 'dead'));
});

test('a page whose text has no words is indexed, and found by its title', async () => {
  const { system } = await bareLibrary();
  assert.deepEqual(await paths(system, 'mortices'), ['empty']);
  assert.deepEqual(await paths(system, 'ellipsis'), ['dots']);
});

test('a page whose text cannot be indexed is found by its title, and by its text when a later attempt can', async (t) => {
  let works = false;
  const system = await WholeSystem.start(
    t,
    {},
    {
      aroundIndexPage: (handler) => async (job, context) => {
        if (!works) throw new JobError('this text cannot be indexed', { permanent: true });
        return handler(job, context);
      },
    },
  );
  const text = 'Herons are wading birds that hunt fish in shallow water.';
  const [id] = await system.submit([{ url: `${unreachable}/birds`, title: 'Fishing trips', body_extracted: text }]);
  await until(async () => (await paths(system, 'fishing trips')).length === 1, 'it is found by its title');
  assert.equal((await system.page(id)).status, 'dead');
  assert.deepEqual(await system.chunks(id), [], 'its text is in no passage');
  works = true;
  await system.ask('job.retryBatch', { status: 'dead', limit: 10 });
  await until(async () => (await paths(system, 'herons')).length === 1, 'it is found by its text');
  assert.equal((await system.chunks(id)).length, 1);
});

test('the text takes the place of title and facts alone when it comes', async (t) => {
  let answers = false;
  const page =
    '<title>Not this one</title><article><p>Herons are wading birds that hunt fish in shallow water.</p></article>';
  const gone = '<title>Gone fishing</title><p>This page does not exist, sorry about the heron.</p>';
  const site = await Site.open(t, {
    '*': (request, response) => say(answers ? page : gone, {}, answers ? 200 : 404)(request, response),
  });
  const address = site.url('');
  const system = await WholeSystem.start(t, { SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]' });
  const [id] = await system.submit([{ url: `${address}/birds`, title: 'Wading about' }]);
  await system.settled([id], ({ status }) => status === 'dead');
  await until(async () => (await paths(system, 'wading')).length === 1, 'it is found by its title');
  assert.deepEqual(await paths(system, 'sorry heron'), [], 'the page of an error is nobody’s');
  assert.equal((await system.ask('page.get', { page_id: id })).title, 'Wading about');

  answers = true;
  await system.ask('job.retryBatch', { status: 'dead', limit: 10 });
  await system.settled([id]);
  assert.deepEqual(await paths(system, 'herons'), ['birds']);
  const { results } = await system.search('wading');
  assert.deepEqual(
    results.map(({ title, chunks }) => [title, chunks.map(({ ordinal }) => ordinal)]),
    [['Wading about', [0]]],
  );
});

test('names, authors and sites of indexed pages are found, and those that speak of the word stand first', async () => {
  const { system } = await bareLibrary();
  assert.deepEqual((await paths(system, 'birdwatch')).slice(0, 4).sort(), ['bread', 'egret', 'heron', 'stork']);
  assert.deepEqual((await paths(system, 'Maria'))[0], 'bread');
  assert.deepEqual((await paths(system, 'birdwatch.org nests on roofs'))[0], 'stork');
});

test('it is found after a restart, after its index files were lost, and no more when it is forgotten', async () => {
  const { system, ids } = await bareLibrary();
  const isFound = async () => (await paths(system, 'hijack')).length > 0;
  await until(isFound, 'it is found');
  await until(async () => (await paths(system, 'woodworking')).length > 0, 'another is found');
  await system.stop();
  await system.start();
  assert.ok(await isFound(), 'after a restart');
  await system.ask('page.forget', { url: `${unreachable}/sim` });
  assert.deepEqual(await paths(system, 'Joseph Cox'), []);
  await assert.rejects(async () => system.ask('page.get', { page_id: ids[0] }));
  assert.deepEqual(await paths(system, 'woodworking'), ['noted'], 'the others stay');
});
