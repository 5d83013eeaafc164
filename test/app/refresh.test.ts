/** Texts that are fetched again: the new one replaces the stored one only when it is whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { until, withEntities } from '../process/service.ts';
import { FeedServer, type Reply } from './feed-server.ts';
import { WholeSystem } from './whole-system.ts';

const article = (title: string, text: string): Reply => ({
  headers: { 'content-type': 'text/html' },
  body: `<html lang="en"><head><title>${title}</title></head><body><article><h1>${title}</h1>${`<p>${text}</p>`.repeat(8)}</article></body></html>`,
});

test('a refreshed page has its new text, and keeps its old one while that cannot be fetched', async (t) => {
  const web = await FeedServer.start(t);
  const system = await WholeSystem.start(t, {
    ...withEntities,
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_FETCH__PER_HOST_GAP_MS: '0',
    SERVICE_JOBS__MAX_ATTEMPTS: '1',
  });
  const long = `The grey heron of Aberdeen hunts fish at the quixotic river. ${'It waits in the shallow water. '.repeat(400)}`;
  web.serve('/heron', article('Grey heron', long));
  const [heron, own] = await system.submit([
    { url: `${web.url}/heron` },
    { url: 'http://files.localhost/notes/a.md', title: 'A note', body_extracted: 'A note about zeppelins.' },
  ]);
  await system.settled([heron, own]);
  await system.filled();
  const before = await system.page(heron);
  const quote = 'hunts fish at the quixotic river';
  await system.ask('page.edit', { page_ids: [heron], add_highlights: [{ quote }], note: 'seen in spring' });
  const refresh = async (...page_ids: string[]) => (await system.ask('page.refresh', { page_ids })).results;
  const ended = async (job_id: string | null) => {
    const ofId = async () => (await system.ask('job.list', { limit: 100 })).jobs.find((job) => job.job_id === job_id);
    await until(async () => ['done', 'dead'].includes((await ofId())?.status ?? ''), `${job_id} ended`);
    return (await ofId())?.status;
  };
  const found = async (query: string) =>
    (await system.search(query, { spelling: false })).results.flatMap(({ page_id, chunks }) =>
      page_id === heron ? chunks.map(({ text }) => text) : [],
    );

  assert.deepEqual(await refresh(own, 'pg_999'), [
    { page_id: own, outcome: 'own_file', job_id: null },
    { page_id: 'pg_999', outcome: 'not_found', job_id: null },
  ]);

  web.serve('/heron', { status: 410, body: 'gone' });
  const [failing] = await refresh(heron);
  assert.equal(failing.outcome, 'queued');
  assert.equal(await ended(failing.job_id), 'dead');
  const kept = await system.page(heron);
  assert.deepEqual([kept.status, kept.body_text], ['indexed', before.body_text]);
  await until(async () => (await found('quixotic')).length > 0, 'it is found by its stored text');

  web.serve('/heron', article('Grey heron', `The white stork of Zanzibar ${quote}, and eats frogs.`));
  const [again] = await refresh(heron);
  assert.equal(await ended(again.job_id), 'done');
  await system.filled();
  const after = await system.page(heron);
  assert.match(after.body_text ?? '', /Zanzibar/);
  assert.doesNotMatch(after.body_text ?? '', /Aberdeen/);
  assert.deepEqual(after.metadata?.highlights, [{ quote }]);
  assert.equal(after.metadata?.note, 'seen in spring');
  assert.ok(Date.parse(after.indexed_at ?? '') > Date.parse(before.indexed_at ?? ''));
  assert.deepEqual([after.visit_count, after.status], [before.visit_count, 'indexed']);
  await until(async () => (await found('zanzibar')).length > 0, 'it is found by its new text');
  assert.ok((await found('zanzibar')).every((text) => text.includes('Zanzibar')));
  assert.deepEqual(await found('aberdeen'), []);
  const namesRead = async () =>
    (await system.ask('job.list', { kind: 'extract_entities', limit: 100 })).jobs.map(({ status }) => status).join();
  await until(async () => (await namesRead()) === 'done,done,done', 'names are read of two pages, and of the new text');

  const [unchanged] = await refresh(heron);
  assert.equal(await ended(unchanged.job_id), 'done');
  assert.equal((await system.page(heron)).body_text, after.body_text);
  assert.equal(await namesRead(), 'done,done,done');

  const note = (text: string, saved: string) => ({
    url: 'http://files.localhost/notes/a.md',
    title: 'A note',
    body_extracted: text,
    once: true,
    fetched_at: saved,
  });
  await system.ask('page.edit', { page_ids: [own], add_tags: ['flight'], add_highlights: [{ quote: 'about' }] });
  const saved = '2024-05-01T08:00:00.000Z';
  const [stored] = await system.submit([note('A note about balloons of Paris.', saved)]);
  assert.equal(stored, own);
  await system.settled([own]);
  await system.filled();
  const replaced = await system.page(own);
  assert.deepEqual([replaced.body_text, replaced.status], ['A note about balloons of Paris.', 'indexed']);
  assert.deepEqual(replaced.metadata, { tags: ['flight'], highlights: [{ quote: 'about' }] });
  assert.deepEqual([replaced.visit_count, replaced.first_seen_at], [2, saved]);
  const texts = async (query: string) =>
    (await system.search(query, { spelling: false })).results.flatMap(({ chunks }) => chunks.map(({ text }) => text));
  await until(async () => (await texts('balloons')).length > 0, 'the file is found by its new text');
  assert.deepEqual(await texts('zeppelins'), []);
  await until(async () => (await namesRead()) === 'done,done,done,done', 'names are read of its new text');
  await system.submit([note('A note about balloons of Paris.', '2024-05-02T08:00:00.000Z')]);
  assert.deepEqual(await system.page(own), replaced);
  await system.stop();
  const { store, index } = await checkFolder(system.dataDir);
  assert.deepEqual([store, index], [[], []]);
});
