import assert from 'node:assert/strict';
import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import { until, withEntities } from '../process/service.ts';
import { listOf } from '../rows.ts';
import { filesHolding } from './byte-scan.ts';
import { library, WholeSystem } from './whole-system.ts';

/** Words of the forgotten page that nobody searches for, so that only the page has them; no stemmer changes them. */
const canaries = ['zqxverbork', 'zqxtitulk', 'zqxmetadak', 'zqxsourcek'];
const secret = {
  url: 'https://example.com/secret-heron',
  title: 'Zqxtitulk of a page about herons zqxtitulk',
  body_extracted: `The brontok is a grey heron that hunts fish in shallow water. ${'Nobody is to know of zqxverbork. '.repeat(300)}`,
  source: 'zqxsourcek',
  metadata: { key: ['zqxmetadak'] },
};

const quick = { ...withEntities, SERVICE_FORGET__COMPACT_AFTER_S: '0.3' };

const ask = (system: WholeSystem, query: string) => system.search(query, { k: 20, suggest: 5 });

/** Hand the secret page in; gives its id when it is indexed. */
async function readSecret(system: WholeSystem): Promise<string> {
  const [page_id] = await system.submit([secret]);
  await system.settled([page_id]);
  return page_id;
}

const areas = (system: WholeSystem) =>
  [...new Set(Object.keys(filesHolding(system.dataDir, canaries)).map((path) => path.split('/')[0]))].sort();

const erased = (system: WholeSystem) => until(() => areas(system).length === 0, 'no file holds what was forgotten');

test('a forgotten page is gone from every answer at once, and from every file soon after', async (t) => {
  const system = await WholeSystem.start(t, quick);
  const ids = await system.read(library);
  const page_id = await readSecret(system);
  const before = await ask(system, 'brontok');
  assert.equal(before.results[0].page_id, page_id);
  await system.ask('feedback.give', { query_id: before.query_id, page_id, relevant: true });
  await system.stop(); // so that the index files have it, too
  await system.start();
  assert.deepEqual(areas(system), ['index', 'store']);

  const url = 'https://EXAMPLE.com/secret-heron?utm_source=x#top';
  const forgotten = await system.ask('page.forget', { url, reason: 'mine' });
  assert.deepEqual(forgotten, {
    blacklist_id: 'bl_00000001',
    pattern: secret.url,
    kind: 'url',
    pages_purged: 1,
    vector_deletes_queued: 1,
  });
  for (const query of ['brontok', 'a page about herons', url, 'grey heron fish']) {
    const { results, suggestions } = await ask(system, query);
    for (const found of [...results, ...suggestions]) assert.notEqual(found.page_id, page_id, query);
  }
  assert.ok((await ask(system, 'grey heron fish')).results.some((found) => found.page_id === ids.heron));
  const similar = await system.ask('search.similar', { page_id: ids.heron, mediation: 'vector', k: 20 });
  assert.ok(similar.results.length > 0 && similar.results.every((found) => found.page_id !== page_id));
  await assert.rejects(system.ask('page.get', { page_id }), { code: 'not_found' });
  assert.deepEqual(await system.ask('page.statusBatch', { page_ids: [page_id] }), {
    results: [{ page_id, found: false }],
  });
  const run = await system.ask('queryLog.get', { query_id: before.query_id });
  assert.ok(!JSON.stringify([run.candidate_set, run.final_pages, run.dense_hits, run.sparse_hits]).includes(page_id));
  assert.deepEqual(run.feedback, {});

  const again = { url, title: 'again', body_extracted: 'brontok' };
  const refusal = { outcome: 'blacklisted', error: 'blacklisted', pattern: forgotten.pattern } as const;
  assert.deepEqual(await system.ask('page.ingest', again), refusal);
  assert.deepEqual(await system.ask('page.ingestBatch', { pages: [again] }), [{ ...refusal, index: 0 }]);

  await erased(system);
  assert.ok((await ask(system, 'sourdough')).results.length > 0);
  await system.stop();
  assert.deepEqual(areas(system), []);
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([isClean(report), report.obsolete, report.missing], [true, 0, 0], JSON.stringify(report));

  await system.start();
  assert.deepEqual((await ask(system, 'brontok')).results, []);
  await system.ask('blacklist.remove', { blacklist_id: forgotten.blacklist_id });
  await assert.rejects(system.ask('blacklist.remove', { blacklist_id: forgotten.blacklist_id }), { code: 'not_found' });
  await assert.rejects(system.ask('page.get', { page_id }), { code: 'not_found' });
  assert.equal((await system.ask('page.ingest', again)).outcome, 'accepted');
});

test('a forgotten address stays forgotten when settings make another canonical URL of it, and so after the way back', async (t) => {
  const system = await WholeSystem.start(t, quick);
  const forget = (url: string) => system.ask('page.forget', { url });
  const patternOf = async (url: string) => {
    const answer = await system.ask('page.ingest', { url, body_extracted: 'brontok' });
    return answer.outcome === 'blacklisted' ? answer.pattern : null;
  };
  const restart = async (settings: NodeJS.ProcessEnv) => {
    await system.stop();
    Object.assign(system.env, settings);
    await system.start();
  };
  const dropping = 'https://example.com/dropping';
  const keeping = 'https://example.com/keeping?ref=1';
  await system.read({ 'dropping?ref=8': { title: 'Secret', text: 'brontok' } });
  await forget(`${dropping}?ref=7`);

  await restart({ SERVICE_CANONICALIZE__TRACKING_PARAMS: '["other"]' });
  await forget(keeping);
  const refused: [url: string, pattern: string | null][] = [
    [`${dropping}?ref=7`, dropping],
    [`${dropping}?ref=8`, dropping],
    [`${dropping}?ref=8&id=2`, null],
    [dropping, dropping],
    [keeping, keeping],
  ];
  for (const [url, pattern] of refused) assert.equal(await patternOf(url), pattern, url);

  await restart({ SERVICE_CANONICALIZE__TRACKING_PARAMS: '["ref"]' });
  for (const [url, pattern] of [...refused.filter(([, pattern]) => pattern !== null), [`${keeping}1`, null]] as const) {
    assert.equal(await patternOf(url ?? ''), pattern, url ?? '');
  }
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
});

test('a domain is forgotten with all below it, whatever its pages are doing, and its jobs say nothing of them', async (t) => {
  /** From now on pages wait before they are indexed, until they are let go on. */
  let held: Promise<void> = Promise.resolve();
  let letGo = () => {};
  const system = await WholeSystem.start(t, quick, {
    aroundIndexPage: (handler) => async (job, context) => {
      await held;
      return handler(job, context);
    },
  });
  const host = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      url: `https://${name}/zqxverbork/${i}`,
      title: `Zqxtitulk ${i}`,
      body_extracted: `zqxverbork brontok ${i} ${'heron fish river '.repeat(60)}`,
    }));
  const ids = await system.read(library);
  const first = await system.submit(host('goes.example', 40));
  held = new Promise((resolve) => {
    letGo = resolve;
  });
  const gone = [...first, ...(await system.submit(host('a.b.goes.example', 40)))];
  const notFetched = await system.submit([{ url: 'https://goes.example/unfetched' }]);
  const stays = await system.submit([
    { url: 'https://notgoes.example/x', title: 'brontok stays', body_extracted: 'brontok stays' },
  ]);
  // Some are indexed or being indexed, most wait.
  const reply = await system.ask('page.forget', { domain: 'Goes.Example.' });
  letGo();
  assert.deepEqual(
    [reply.kind, reply.pattern, reply.pages_purged, reply.vector_deletes_queued],
    ['domain', 'goes.example', 81, 1],
  );
  const { results } = await system.ask('page.statusBatch', { page_ids: [...gone, ...notFetched] });
  assert.ok(results.every(({ found }) => !found));
  await system.settled(stays);
  assert.deepEqual(
    (await ask(system, 'brontok')).results.map(({ page_id }) => page_id),
    stays,
  );
  const { jobs } = await system.ask('job.list', { kind: 'index_page', limit: 200 });
  for (const { status, last_error } of jobs) {
    assert.equal(status, 'done');
    assert.ok(last_error === null || last_error === 'cancelled: page forgotten', String(last_error));
  }
  assert.ok(
    jobs.some(({ last_error }) => last_error !== null),
    'some had to be cancelled',
  );
  const known = await system.ask('page.forget', { domain: 'goes.example', reason: 'again' });
  assert.deepEqual(known, { ...reply, pages_purged: 0, vector_deletes_queued: 0 });
  assert.deepEqual(
    (await listOf((await system.ask('blacklist.list', {})).entries)).map(({ id, reason }) => [id, reason]),
    [[reply.blacklist_id, null]],
  );
  await erased(system);
  assert.ok((await ask(system, 'sourdough')).results.some(({ page_id }) => page_id === ids.bread));
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index, report.missing], [[], [], 0]);
});

test('index files of an older time that are put back do not bring a forgotten page back, and are rewritten', async (t) => {
  const system = await WholeSystem.start(t, quick);
  await system.read(library);
  await readSecret(system);
  await system.stop();
  const index = join(system.dataDir, 'index');
  cpSync(index, `${index}-old`, { recursive: true });
  await system.start();
  await system.ask('page.forget', { url: secret.url });
  await until(() => Object.keys(filesHolding(index, canaries)).length === 0, 'the index files are clean');
  await until(() => Object.keys(filesHolding(join(system.dataDir, 'store'), canaries)).length === 0, 'and the store');
  await system.stop();
  rmSync(index, { recursive: true });
  renameSync(`${index}-old`, index);
  assert.deepEqual(areas(system), ['index']);
  const report = await checkFolder(system.dataDir);
  assert.ok(!isClean(report), 'fsck finds them');

  await system.start();
  assert.deepEqual((await ask(system, 'brontok')).results, []);
  await erased(system);
});
