/** A service that is killed while it polls: every item becomes one page, whenever the kill comes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FeedServer, rss } from '../app/feed-server.ts';
import { RunningService, until, withoutModel } from './service.ts';

const items = 100;
const kills = 3;

test('a poll that is killed again and again loses no item and doubles none', async (t) => {
  const web = await FeedServer.start(t);
  const links = Array.from({ length: items }, (_, i) => ({ link: `/item/${i}?utm_source=feed`, title: `Item ${i}` }));
  web.serve('/feed', ({ headers }) =>
    headers['if-none-match'] === '"1"' ? { status: 304 } : { ...rss(links), headers: { etag: '"1"' } },
  );
  const service = await RunningService.start(t, {
    ...withoutModel,
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_WATCH__MAX_ITEMS_PER_POLL: String(items),
    SERVICE_JOBS__BACKOFF_BASE_S: '0.1',
    SERVICE_JOBS__MAX_ATTEMPTS: '20',
  });
  const { body: watch } = await service.call<{ id: string }>('POST', '/v1/watches', { url: `${web.url}/feed` });
  for (let i = 0; i < kills; i++) {
    const asked = web.asked.length;
    // From the moment when the feed, or one of its items, was asked for.
    await Promise.race([until(() => web.asked.length > asked, 'something is fetched'), delay(1500)]);
    await delay(i * 15);
    await service.kill('SIGKILL');
    await service.start();
  }
  await service.call('POST', `/v1/watches/${watch.id}/run`);
  const polled = async () => {
    const { body } = await service.call<{ last_status: string; last_item_count: number }>(
      'GET',
      `/v1/watches/${watch.id}`,
    );
    return body.last_status === 'ok' && body.last_item_count === items;
  };
  await until(polled, 'the feed is polled');
  const pageJobs = async () =>
    (await service.call<{ jobs: { status: string }[] }>('GET', '/v1/jobs?kind=fetch_and_index&limit=1000')).body.jobs;
  assert.equal((await pageJobs()).length, items, 'one job an item');
  // Submitting each again finds it known, visited once before.
  const pages = links.map(({ link }) => ({ url: `${web.url}${link}`, body_extracted: 'x' }));
  const { body } = await service.call<{ results: { outcome: string; page_id: string }[] }>('POST', '/v1/pages/batch', {
    pages,
  });
  assert.deepEqual(
    body.results.map(({ outcome }) => outcome),
    pages.map(() => 'revisit'),
  );
  const ids = new Set(body.results.map(({ page_id }) => page_id));
  assert.equal(ids.size, items);
  for (const id of [...ids].slice(0, 20)) {
    const { body } = await service.call<{ visit_count: number }>('GET', `/v1/pages/${id}`);
    assert.equal(body.visit_count, 2);
  }
});
