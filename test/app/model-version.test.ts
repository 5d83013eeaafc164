/** A store of an earlier version, whose local models have no encoder any more. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Database, open } from 'lmdb';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { builtInModel, type EmbeddingModel, modelIdOf } from '../../src/domain/model.ts';
import { until } from '../process/service.ts';
import { encoderOfWords } from './encoder-of-words.ts';
import { library, WholeSystem } from './whole-system.ts';

const plain = { encoder: { useRecords: false } };

/** As an earlier version left it: the active model is `local/wink`, and each page has vectors of it. */
async function age(dataDir: string): Promise<void> {
  const root = open({ path: join(dataDir, 'store'), maxDbs: 64 });
  const models: Database<EmbeddingModel, string> = root.openDB({ name: 'models', ...plain } as { name: string });
  const active: Database<string, string> = root.openDB({ name: 'active_model', ...plain } as { name: string });
  const id = modelIdOf(builtInModel);
  const model = models.get(id) as EmbeddingModel;
  models.removeSync(id);
  models.putSync('local-wink-384', { ...model, id: 'local-wink-384', model_name: 'wink', floor: 0.145 });
  active.putSync('id', 'local-wink-384');
  await models.flushed;
  await root.close();
}

test('the built-in model takes the place of an earlier one, and is filled while words serve', async (t) => {
  let isOpen = true;
  const encode = async () => {
    while (!isOpen) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const system = await WholeSystem.start(t, {}, { aroundEmbedders: encoderOfWords(encode) });
  await system.read(library);
  const models = async () => (await system.ask('model.list', {})).models;
  await until(async () => (await models())[0].vectors_pending === 0, 'it is filled');
  await system.stop();
  await age(system.dataDir);

  isOpen = false;
  await system.start();
  const pending = (await models()).map(({ id, is_active, vectors_pending }) => ({ id, is_active, vectors_pending }));
  const id = modelIdOf(builtInModel);
  assert.deepEqual(pending, [{ id, is_active: true, vectors_pending: 6 }]);
  const search = () => system.search('birds that hunt fish');
  assert.ok((await search()).results.length > 0, 'words serve');
  isOpen = true;
  await until(async () => (await models())[0].status === 'ready', 'it is filled again');
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index, report.waiting], [[], [], 0]);
});
