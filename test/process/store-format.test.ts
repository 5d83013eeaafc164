/** Check C26: a data folder of an unknown format is refused in one clear line and left as it is; one of an older version is brought to this one's. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from 'lmdb';
import type { EntityDetailResponse } from '../../src/domain/entity.ts';
import type { ModelListResponse } from '../../src/domain/model.ts';
import type { PageListResponse, PageResponse } from '../../src/domain/page.ts';
import type { WatchListResponse } from '../../src/domain/watch.ts';
import { storeFormat } from '../../src/store/environment.ts';
import { CliHere } from '../cli/run-cli.ts';
import { entity, farPhrase, forgottenPage, longPage, shortPage, visits, watch } from '../fixtures/stores/contents.ts';
import { unpackStore } from '../fixtures/stores/unpack-store.ts';
import { RunningService, until } from './service.ts';

const setFormat = async (dataDir: string, format: unknown) => {
  const root = open({ path: join(dataDir, 'store'), maxDbs: 64 });
  const stamp = root.openDB({ name: 'stamp' });
  const before = stamp.get('format');
  await stamp.put('format', format);
  await root.flushed;
  await root.close();
  return before;
};

test('a store of an unknown format is refused and not touched; its own version goes on with it', async (t) => {
  const service = await RunningService.start(t);
  await service.pauseVectors();
  const page = { url: 'https://example.com/', title: 'Herons', body_extracted: 'Herons hunt fish in shallow water.' };
  const page_id = await service.add(page);
  await service.stop();
  const own = await setFormat(service.dataDir, 1);
  for (const [format, shown] of [
    [Number(own) + 1, String(Number(own) + 1)],
    ['x', 'x'],
  ] as const) {
    await setFormat(service.dataDir, format);
    const file = join(service.dataDir, 'store', 'data.mdb');
    const before = readFileSync(file);
    const { code, signal, stdout, stderr } = await service.attempt();
    assert.deepEqual([code, signal], [1, null], stderr);
    assert.equal(stdout, '');
    const says = `the data folder has store format ${shown}, this version of readback reads format ${own}\n`;
    assert.equal(stderr, says);
    assert.deepEqual(readFileSync(file), before);
  }
  await setFormat(service.dataDir, own);
  await service.start();
  const { body: found } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/search', {
    query: 'herons',
  });
  assert.equal(found.results[0].page_id, page_id);
});

/** The newest of the older formats that are kept: test/store/migrations.test.ts has the oldest. */
const format = 3;

test('the service goes on with a store of an older format: everything is found, read and forbidden as before', async (t) => {
  const service = RunningService.prepare(t);
  unpackStore(format, service.dataDir);
  const cli = new CliHere(service.home);
  const assertSound = async () => {
    const { code, stdout, stderr } = await cli.run(['fsck']);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^3 pages, \d+ chunks$/m);
  };
  await assertSound();
  await service.start();
  for (const line of [
    `migrating the store from format ${format} to ${storeFormat}`,
    `the store has format ${storeFormat}`,
  ]) {
    assert.ok(service.output.includes(line), line);
  }
  type Found = { results: { page_id: string; chunks: { text: string }[] }[] };
  const search = () => service.call<Found>('POST', '/v1/search', { query: `"${farPhrase}"` });
  const found = async () =>
    (await search()).body.results.find(({ chunks }) => chunks.some(({ text }) => text.includes(farPhrase)));
  await until(async () => (await found()) !== undefined, 'the index is built again');
  const { page_id } = (await found()) ?? assert.fail('it is found no more');
  const get = async <Body>(path: string) => (await service.call<Body>('GET', path)).body;
  const page = await get<PageResponse>(`/v1/pages/${page_id}`);
  assert.deepEqual([page.canonical_url, page.body_text], [longPage.url, longPage.body_extracted]);
  const { watches } = await get<WatchListResponse>('/v1/watches');
  assert.deepEqual(
    watches.map(({ url, title, enabled }) => ({ url, title, enabled })),
    [{ url: watch.url, title: watch.title, enabled: false }],
  );
  const named = await get<EntityDetailResponse>(`/v1/entities/${encodeURIComponent(entity)}`);
  const [pageOfName] = await Promise.all(named.page_ids.map((id) => get<PageResponse>(`/v1/pages/${id}`)));
  assert.deepEqual([named.page_ids.length, pageOfName.canonical_url], [1, shortPage.url]);
  const [shown] = (await get<PageListResponse>(`/v1/pages?url=${shortPage.url}&visits=true`)).pages;
  assert.deepEqual(shown.visits?.slice(1), visits.toReversed());
  const { models } = await get<ModelListResponse>('/v1/models');
  assert.deepEqual(
    models.map(({ id, is_active }) => [id, is_active]),
    [['local-multilingual-e5-small-384', true]],
  );
  assert.equal((await service.call('POST', '/v1/pages', forgottenPage)).status, 403);
  const again = await service.call<{ page_id: string; revisit: boolean }>('POST', '/v1/pages', longPage);
  assert.deepEqual([again.body.page_id, again.body.revisit], [page_id, true]);
  await service.stop();
  await assertSound();
});
