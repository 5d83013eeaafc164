/**
 * Killed again and again while names are merged: no merge is lost, made twice or half there, and the comparison comes to its end. The moments are drawn from a seed, which is printed; READBACK_TEST_SEED sets it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { EntityMergeListResponse, UndoMergeResponse } from '../../src/domain/entity.ts';
import { idOf } from '../../src/domain/values.ts';
import { StoreView } from '../../src/store/store-view.ts';
import { seededChance } from '../seeded-chance.ts';
import { RunningService, until, withEntities, withoutModel } from './service.ts';

const pages = process.env.READBACK_TEST_ALL_POINTS === '1' ? 6 : 3;
const pairsOfPage = process.env.READBACK_TEST_ALL_POINTS === '1' ? 40 : 20;
const kills = 1;

test('merges survive kills while they are made, each once, and are undone last in, first out', async (t) => {
  const chance = seededChance(t, 907);
  const random = (below: number) => Math.floor(chance.random() * below);
  const syllable = () => 'bdfgklmnprstvz'[random(14)] + 'aeiou'[random(5)];
  /** A company, shortened and not. */
  const pairs = Array.from({ length: pages * pairsOfPage }, () => {
    const [one, other] = [4, 3].map((length) => Array.from({ length }, syllable).join(''));
    const [front, back] = [one, other].map((word) => `${word[0].toUpperCase()}${word.slice(1)}n`);
    return [`${front} ${back} Corp`, `${front} ${back} Corporation`];
  });
  const service = await RunningService.start(t, { ...withoutModel, ...withEntities });
  const submitted = Array.from({ length: pages }, (_, page) => ({
    url: `https://lakes.example/${page}`,
    title: `Lakes ${page}`,
    body_extracted: pairs
      .slice(page * pairsOfPage, (page + 1) * pairsOfPage)
      .map(([a, b]) => `We swam in ${a} and then in ${b}.`)
      .join(' '),
  }));
  await service.call('POST', '/v1/pages/batch', { pages: submitted });
  const merges = async () =>
    (await service.call<EntityMergeListResponse>('GET', '/v1/admin/entity-merges')).body.merges;
  const open = async (kind: string) => {
    const statuses = ['pending', 'running', 'failed'];
    const lists = await Promise.all(
      statuses.map((status) =>
        service.call<{ jobs: unknown[] }>('GET', `/v1/jobs?limit=1&kind=${kind}&status=${status}`),
      ),
    );
    return lists.some(({ body }) => body.jobs.length > 0);
  };

  for (let kill = 0; kill < kills; kill++) {
    const before = (await merges()).length;
    await until(async () => (await merges()).length > Math.min(before, pairs.length - 1), 'names are merged');
    await delay(random(10));
    t.diagnostic(`killed after ${(await merges()).length} of ${pairs.length} merges`);
    await service.kill();
    await service.start();
  }
  await until(async () => (await merges()).length >= pairs.length, 'all are merged');
  await until(async () => !(await open('canonicalize_entities')), 'no comparison is left');
  const all = await merges();
  assert.equal(new Set(all.map(({ merged_entity_id }) => merged_entity_id)).size, all.length, 'none is merged twice');
  const merged = new Set(all.map(({ kept_form, merged_form }) => [kept_form, merged_form].sort().join(' = ')));
  assert.deepEqual(
    pairs.map((pair) => pair.join(' = ')).filter((pair) => !merged.delete(pair)),
    [],
  );
  assert.deepEqual([...merged], [], 'nothing else is merged');

  const undone = all.slice(0, 2);
  for (const { merge_id, merged_entity_id } of undone) {
    const { status, body } = await service.call<UndoMergeResponse>('POST', `/v1/entities/merges/${merge_id}/undo`);
    assert.deepEqual([status, body], [200, { restored_entity_id: merged_entity_id }]);
  }
  await service.kill();
  const view = StoreView.open(service.dataDir);
  const { entities } = view.reader;
  for (const { merged_entity_id, merged_form } of undone) {
    const restored = entities.named(merged_form).find(({ no }) => idOf('entity', no) === merged_entity_id);
    assert.deepEqual([restored?.forms[0][0], restored?.page_count, restored?.parent], [merged_form, 1, 0]);
  }
  await view.close();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
});
