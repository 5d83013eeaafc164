/** At the storage quota: new pages are refused in so many words, and what makes room or reads goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchResponse } from '../../src/domain/search.ts';
import { RunningService, until } from '../process/service.ts';

const page = (no: number) => ({
  url: `https://attic.example/${no}`,
  body_extracted: `Box ${no}: lanterns, ropes and a chart of the estuary.`,
});

test('at the quota pages are refused with 507; searches, forgetting and deleting go on, and with more room pages do', async (t) => {
  const service = await RunningService.start(t);
  await service.pauseVectors();
  const ids: string[] = [];
  for (let no = 0; no < 4; no++) {
    ids.push((await service.call<{ page_id: string }>('POST', '/v1/pages', page(no))).body.page_id);
  }
  assert.deepEqual(new Set(await service.settled(ids)), new Set(['indexed']));
  const watched = await service.call<{ id: string }>('POST', '/v1/watches', {
    kind: 'rss',
    url: 'https://attic.example/feed.xml',
  });
  assert.ok(watched.status < 300, JSON.stringify(watched.body));
  await service.stop();

  await service.start({ SERVICE_STORAGE__MAX_BYTES: '1000' });
  const refused = await service.call<{ detail: string }>('POST', '/v1/pages', page(9));
  assert.deepEqual(
    [refused.status, refused.body],
    [507, { detail: 'the store has reached storage.max_bytes, 1000 bytes' }],
  );
  assert.equal((await service.call('POST', '/v1/pages/batch', { pages: [page(9)] })).status, 507);
  const found = async () => {
    const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query: 'lanterns ropes', k: 10 });
    return new Set(body.results.map(({ page_id }) => page_id));
  };
  assert.deepEqual(await found(), new Set(ids));
  assert.equal((await service.call('POST', '/v1/forget', { url: page(0).url })).status, 200);
  assert.equal((await service.call('GET', `/v1/pages/${ids[0]}`)).status, 404);
  assert.deepEqual(await found(), new Set(ids.slice(1)));
  const removed = await service.call('DELETE', `/v1/watches/${watched.body.id}`);
  assert.ok(removed.status < 300, JSON.stringify(removed.body));
  await until(async () => {
    const { body } = await service.call<{ jobs: { kind: string; status: string }[] }>('GET', '/v1/jobs?limit=100');
    return body.jobs.every(({ kind, status }) => kind !== 'purge_vectors' || status === 'done');
  }, 'the forgotten page is purged');
  await service.stop();

  await service.start();
  await service.add(page(9));
  await service.stop();
});
