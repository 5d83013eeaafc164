/**
 * A library of an earlier version, killed again and again while its pages get their current addresses: pages of one address become one,
 * no visit is lost or counted twice, and every id goes on. The moments are drawn from a seed, which is printed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { PageListResponse, PageResponse } from '../../src/domain/page.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { seededChance } from '../seeded-chance.ts';
import { RunningService, until } from './service.ts';

const stories = 8;
const kills = Number(process.env.READBACK_TEST_KILLS ?? 2);
const addressOf = (no: number) => `https://example.com/story-${no}`;
/** Each is a page of its own in the earlier version, and visited as often as its place says. */
const formsOf = (no: number) => [addressOf(no), `${addressOf(no)}?mc_cid=1`, `${addressOf(no)}?mc_eid=2`];
const visits = 1 + 2 + 3;

test('pages of an earlier version get their addresses through kills, and nothing of them is lost', async (t) => {
  const { random } = seededChance(t, 20201);
  const service = await RunningService.start(t, {
    SERVICE_CANONICALIZE__KNOWN_ADDRESSES: 'false',
    SERVICE_FORGET__COMPACT_AFTER_S: '0.2',
    SERVICE_JOBS__MAX_ATTEMPTS: String(2 * kills + 5), // no kill makes it give a job up
  });
  const ids = new Map<string, number>();
  const submitted = Array.from({ length: stories }, (_, story) =>
    formsOf(story).flatMap((url, place) =>
      Array.from({ length: place + 1 }, () => ({
        url,
        title: `Story ${story}`,
        body_extracted: `brontok ${story} ${'heron river fish '.repeat(20)}`,
        metadata: { tags: [`form ${place}`] },
      })),
    ),
  );
  const { body: added } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
    pages: submitted.flat(),
  });
  for (const [i, { page_id }] of added.results.entries()) ids.set(page_id, Math.floor(i / visits));
  assert.equal(ids.size, 3 * stories);
  await service.settled([...ids.keys()]);
  await service.kill('SIGTERM');

  const current = { SERVICE_CANONICALIZE__KNOWN_ADDRESSES: 'true' };
  for (let kill = 0; kill < kills; kill++) {
    await service.start(current);
    await delay(random() * 400);
    await service.kill();
  }
  await service.start(current);
  // The last start says nothing if all was done before.
  const isOver = async () => {
    const { body } = await service.call<PageListResponse>('GET', '/v1/pages?limit=200');
    return body.pages.length === stories && body.pages.every(({ canonical_url }) => !canonical_url.includes('?'));
  };
  await until(isOver, 'the pass has ended');

  const pagesOf = new Map<number, Set<string>>();
  for (const [id, story] of ids) {
    const { status, body } = await service.call<PageResponse>('GET', `/v1/pages/${id}`);
    assert.equal(status, 200);
    assert.deepEqual([body.canonical_url, body.visit_count], [addressOf(story), visits]);
    assert.deepEqual(new Set(body.metadata?.tags as string[]), new Set(['form 0', 'form 1', 'form 2']));
    pagesOf.set(story, (pagesOf.get(story) ?? new Set()).add(body.page_id));
  }
  assert.ok([...pagesOf.values()].every((pages) => pages.size === 1));
  const again = await service.call<{ page_id: string }>('POST', '/v1/pages', { url: formsOf(7)[2] });
  assert.deepEqual([again.status, new Set([again.body.page_id])], [200, pagesOf.get(7)]);
  const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query: 'brontok 7', k: 100 });
  assert.equal(new Set(body.results.map(({ canonical_url }) => canonical_url)).size, body.results.length);
  await service.kill('SIGTERM');
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
  assert.equal(report.pages, stories);
});
