/**
 * Killed again and again while a domain is being forgotten, purged and written out of every file: it never comes back, and in
 * the end no file holds a byte of it. The moments are drawn from a seed, which is printed; READBACK_TEST_SEED sets it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { ForgetResponse } from '../../src/domain/blacklist.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { filesHolding } from '../app/byte-scan.ts';
import { seededChance } from '../seeded-chance.ts';
import { RunningService, until } from './service.ts';

const canary = 'zqxverbork';
const forgotten = process.env.READBACK_TEST_ALL_POINTS === '1' ? 100 : 30;
const kept = 20;
const kills = Number(process.env.READBACK_TEST_KILLS ?? '3');

test('a forgotten domain stays forgotten through kills at every step, and its bytes go in the end', async (t) => {
  const { random } = seededChance(t, 4242);
  const service = await RunningService.start(t, {
    SERVICE_FORGET__COMPACT_AFTER_S: '0.2',
    SERVICE_JOBS__MAX_ATTEMPTS: String(2 * kills + 5), // no kill makes it give a job up
  });
  const handIn = async (host: string, count: number, mark: string): Promise<string[]> => {
    const pages = Array.from({ length: count }, (_, i) => ({
      url: `https://${host}/${mark}/${i}`,
      title: `Page ${i} ${mark}`,
      body_extracted: `${mark} brontok ${'heron river fish '.repeat(30)} ${i}`,
    }));
    const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
    return body.results.map(({ page_id }) => page_id);
  };
  const stay = await handIn('stays.example', kept, 'plain');
  const gone = await handIn('a.goes.example', forgotten, canary);
  await service.settled([...stay, ...gone]);
  await service.kill('SIGTERM');
  await service.start();

  let answered = false;
  const forget = async () => {
    try {
      const { status } = await service.call<ForgetResponse>('POST', '/v1/forget', { domain: 'goes.example' });
      assert.equal(status, 200);
      answered = true;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error; // killed before it answered: asked again
    }
  };
  const search = async () =>
    (await service.call<SearchResponse>('POST', '/v1/search', { query: 'brontok heron', k: 100, candidates: 1000 }))
      .body;

  for (let kill = 0; kill < kills; kill++) {
    const asking = answered && kill % 3 !== 0 ? Promise.resolve() : forget();
    await delay(random() * (kill < 3 ? 150 : 900));
    await service.kill();
    await asking;
    await service.start();
    const { results } = await search();
    if (answered)
      assert.deepEqual(
        results.filter(({ domain }) => domain !== 'stays.example'),
        [],
        `after kill ${kill}`,
      );
  }
  while (!answered) await forget();
  const statuses = await service.call<{ results: { found: boolean }[] }>('POST', '/v1/pages/status/batch', {
    page_ids: gone,
  });
  assert.ok(statuses.body.results.every(({ found }) => !found));
  const again = await service.call('POST', '/v1/pages', { url: 'https://goes.example/new', body_extracted: 'x' });
  assert.deepEqual([again.status, again.body], [403, { error: 'blacklisted', pattern: 'goes.example' }]);
  await until(() => Object.keys(filesHolding(service.dataDir, [canary])).length === 0, 'every file is clean');
  const { results } = await search();
  assert.deepEqual(new Set(results.map(({ page_id }) => page_id)), new Set(stay));
  await service.kill('SIGTERM');
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
  assert.deepEqual([report.pages, report.obsolete, report.missing], [kept, 0, 0]);
});
