/** Check C26: a store whose vectors were made by another version of the embedded model. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Database, open } from 'lmdb';
import { jobListQuery } from '../../src/domain/job.ts';
import type { EmbeddingModel } from '../../src/domain/model.ts';
import { searchRequest } from '../../src/domain/search.ts';
import { checkFolder } from '../../src/fsck/check-folder.ts';
import { until } from '../process/service.ts';
import { library, WholeSystem } from './whole-system.ts';

interface Tables {
  models: Database<EmbeddingModel, string>;
  vectors: Database<Buffer, [number, number]>;
}

async function inStore<Result>(dataDir: string, use: (tables: Tables) => Result): Promise<Result> {
  const root = open({ path: join(dataDir, 'store'), maxDbs: 64 });
  const models: Tables['models'] = root.openDB({ name: 'models', encoder: { useRecords: false } } as { name: string });
  const result = use({ models, vectors: root.openDB({ name: 'vectors', encoding: 'binary' }) });
  await models.flushed;
  await root.close();
  return result;
}

/** The stored vectors of a model, as if another version had made them: each turned around. */
const age = ({ models, vectors }: Tables, id: string) => {
  const model = models.get(id) as EmbeddingModel;
  models.putSync(id, { ...model, version: 0 });
  for (const { key, value } of [...vectors.getRange({ start: [model.space, 0], end: [model.space, 1e9] })]) {
    const rows = new Float32Array(new Uint8Array(value).buffer).map((x) => -x);
    vectors.putSync(key, Buffer.from(rows.buffer));
  }
};

test('vectors of another version of the embedded model are made anew beside the service and never searched', async (t) => {
  const system = await WholeSystem.start(t);
  await system.read(library);
  const small = { provider: 'local', model_name: 'wink', dim: 100, max_input_tokens: 512 };
  const { id: other } = await system.ask('model.register', small);
  const { id: unfilled } = await system.ask('model.register', { ...small, dim: 200 });
  await system.ask('model.startBackfill', { model_id: other });
  const statuses = async () => (await system.ask('model.list', {})).models.map(({ status }) => status);
  await until(async () => !(await statuses()).includes('backfilling'), 'the other model is filled');
  const search = () =>
    system.ask('search.query', searchRequest.parse({ query: 'birds that hunt fish', rerank: false }));
  const found = async () => (await search()).results.map(({ page_id, score }) => [page_id, Math.round(score * 1e6)]);
  const before = await found();
  const [active] = (await system.ask('model.list', {})).models;
  await system.stop();

  await inStore(system.dataDir, (tables) => {
    for (const id of [active.id, other, unfilled]) age(tables, id);
  });
  await system.start();
  assert.ok((await search()).results.length > 0, 'it is searched at once, at least by words');
  await until(async () => (await statuses()).every((status) => status !== 'backfilling'), 'both are filled again');
  assert.deepEqual(await statuses(), ['ready', 'ready', 'registered']);
  assert.deepEqual(await found(), before);
  assert.equal((await search()).timing_ms.rebuilding, undefined);
  const { jobs } = await system.ask('job.list', jobListQuery.parse({ kind: 'backfill_model' }));
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index], [[], []]);
  const spaces = await inStore(
    system.dataDir,
    ({ vectors }) => new Set([...vectors.getKeys()].map(([space]) => space)),
  );
  assert.equal(spaces.size, 2, 'the old vectors are gone');

  await system.start();
  const after = await system.ask('job.list', jobListQuery.parse({ kind: 'backfill_model' }));
  assert.equal(after.jobs.length, jobs.length, 'a start with nothing outdated begins nothing');
});
