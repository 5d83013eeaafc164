import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchRequest } from '../../src/domain/search.ts';
import { checkFolder, isClean } from '../../src/fsck/check-folder.ts';
import { until } from '../process/service.ts';
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

const quick = { SERVICE_FORGET__COMPACT_AFTER_S: '0.3' };

const ask = (system: WholeSystem, query: string) =>
  system.ask('search.query', searchRequest.parse({ query, k: 20, suggest: 5 }));

/** Hand the secret page in; gives its id when it is indexed. */
async function readSecret(system: WholeSystem): Promise<string> {
  const handed = await system.ask('page.ingest', secret);
  const page_id = 'page_id' in handed ? handed.page_id : handed.outcome;
  const status = async () => (await system.ask('page.status', { page_id })).status;
  await until(async () => (await status()) === 'indexed', 'the secret page is indexed');
  return page_id;
}

const areas = (system: WholeSystem) =>
  [...new Set(Object.keys(filesHolding(system.dataDir, canaries)).map((path) => path.split('/')[0]))].sort();

const erased = (system: WholeSystem) =>
  until(() => areas(system).length === 0, 'no file holds what was forgotten', 60_000);

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
