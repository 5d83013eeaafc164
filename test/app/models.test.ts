import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { until } from '../process/service.ts';
import { library, WholeSystem } from './whole-system.ts';

const id = 'second';
const small = { provider: 'local', model_name: 'multilingual-e5-small', dim: 384, max_input_tokens: 32_000, id };

/** Register a model, fill it and wait for the end. */
async function fill(system: WholeSystem, request: { id?: string } = small): Promise<string> {
  const { id } = await system.ask('model.register', { ...small, ...request });
  await system.ask('model.startBackfill', { model_id: id });
  await untilFilled(system, id);
  return id;
}

async function untilFilled(system: WholeSystem, model_id: string): Promise<void> {
  const filled = async () => {
    const { status, last_error } = await system.ask('model.backfill', { model_id });
    assert.notEqual(status, 'failed', last_error ?? '');
    return status === 'complete';
  };
  await until(filled, `${model_id} is filled`);
}

const titlesOf = async (system: WholeSystem, query: string) =>
  (await system.search(query, { rerank: false, k: 3 })).results.map(({ title }) => title);

test('pages that come or change while a model is filled, or after, have its vectors; a restart keeps all', async (t) => {
  const system = await WholeSystem.start(t);
  await system.read(library);
  await system.ask('model.register', small);
  await system.ask('model.startBackfill', { model_id: id });
  await system.read({ owl: { title: 'Owls', text: 'Owls are birds that hunt mice at night and sleep by day.' } });
  await untilFilled(system, id);
  await system.read({
    toad: { title: 'Toads', text: 'Toads are amphibians that hide by day and hunt beetles at night.' },
  });
  await system.stop();
  const { store, pages } = await checkFolder(system.dataDir);
  assert.deepEqual([store, pages], [[], 8], 'every page has vectors of both models');

  await system.start();
  await system.ask('model.activate', { model_id: id });
  assert.ok((await titlesOf(system, 'amphibians hunting beetles')).includes('Toads'));
  assert.ok(existsSync(join(system.dataDir, 'index', 'dense', '2', 'manifest.json')));
});

test('an id that is used again gets another space', async (t) => {
  const system = await WholeSystem.start(t);
  await system.read(library);
  assert.equal(await fill(system, { id: 'mine' }), 'mine');
  await system.ask('model.retire', { model_id: 'mine' });
  assert.equal(await fill(system, { id: 'mine' }), 'mine');
  const [, mine] = (await system.ask('model.list', {})).models;
  assert.deepEqual([mine.id, mine.dim, mine.status], ['mine', 384, 'ready']);
  await system.ask('model.activate', { model_id: 'mine' });
  assert.ok((await titlesOf(system, 'birds that hunt fish')).includes('The grey heron'));
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index], [[], []]);
});
