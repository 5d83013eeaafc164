import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installModel } from '../../src/commands/install-model.ts';
import { renewOutdatedModels } from '../../src/commands/renew-models.ts';
import { TemporaryStore } from '../store/temporary-store.ts';

const policy = { at: 0, max_attempts: 1 };

test('a model whose vectors are made anew keeps nothing of what the old ones were worth', async () => {
  await using temporary = await TemporaryStore.open();
  const { models } = temporary.store.reader;
  const row = {
    id: 'local-wink-200',
    provider: 'local',
    model_name: 'wink',
    dim: 200,
    max_input_tokens: 10,
    floor: 0.5,
  };
  const old = await temporary.commit(installModel(row, policy));
  await temporary.commit(({ models: stored }) =>
    stored.put({ ...old, version: 1, fusion: { weights: { en: 0.3 }, pages: 60 } }),
  );
  assert.deepEqual(await temporary.commit(renewOutdatedModels(policy)), [row.id]);
  const renewed = models.get(row.id);
  assert.equal(renewed?.fusion, undefined);
  assert.notEqual(renewed?.space, old.space);
});
