import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { queryLogQuery } from '../../src/domain/query-log.ts';
import { until } from '../process/service.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { listOf } from '../rows.ts';
import { library, WholeSystem } from './whole-system.ts';

const id = 'second';
const small = { provider: 'local', model_name: 'multilingual-e5-small', dim: 384, max_input_tokens: 32_000, id };

/** Register a model, fill it and wait for the end. */
async function fill(system: WholeSystem, request: Partial<typeof small> = small): Promise<string> {
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

test('each of the searches that come while a model is activated is answered by one of the two, which the query log names', async (t) => {
  const server = await startFakeProvider(t, { dim: 32 });
  const system = await WholeSystem.start(t, { SERVICE_PROVIDERS__OPENAI__BASE_URL: `${server.url}/v1` });
  await system.read(library);
  await fill(system, { provider: 'openai', model_name: 'words-32', dim: 32 });
  const search = async () => {
    const found = await system.search('birds that catch fish in meadows', { k: 2, suggest: 3 });
    const results = found.results.map(({ page_id, score }) => [page_id, score]);
    return { query_id: found.query_id, answer: JSON.stringify([results, found.suggestions]) };
  };
  const modelOf = new Map<string, string>();
  const [{ id: first }] = (await system.ask('model.list', {})).models;
  for (const model_id of [id, first]) {
    await system.ask('model.activate', { model_id });
    modelOf.set((await search()).answer, model_id);
  }
  assert.equal(modelOf.size, 2, 'the models answer differently');

  const searches = Array.from({ length: 10 }, search);
  const activated = system.ask('model.activate', { model_id: id });
  searches.push(...Array.from({ length: 10 }, search));
  const answered = await Promise.all(searches);
  await activated;
  const expected = answered.map(({ query_id, answer }) => [query_id, modelOf.get(answer)]);
  const logged = async () => {
    const { runs } = await system.ask('queryLog.list', queryLogQuery.parse({ limit: 100 }));
    return new Map((await listOf(runs)).map(({ query_id, active_model }) => [query_id, active_model]));
  };
  await until(async () => (await logged()).has(answered[19].query_id), 'the searches are in the query log');
  const models = await logged();
  assert.deepEqual(
    answered.map(({ query_id }) => [query_id, models.get(query_id)]),
    expected,
  );
});

test('vectors of one number and of 8,192 are searched as others are', async (t) => {
  const [narrow, wide] = await Promise.all([1, 8192].map((dim) => startFakeProvider(t, { dim })));
  const system = await WholeSystem.start(t, {
    SERVICE_PROVIDERS__NARROW__BASE_URL: `${narrow.url}/v1`,
    SERVICE_PROVIDERS__WIDE__BASE_URL: `${wide.url}/v1`,
  });
  const note = (n: number) => ({
    title: `Note ${n}`,
    text: `The note number ${n} says that herons hunt fish in rivers.`,
  });
  const { first } = await system.read({ first: note(1), second: note(2), third: note(3) });
  for (const [provider, dim] of [
    ['narrow', 1],
    ['wide', 8192],
  ] as const) {
    await fill(system, { provider, model_name: 'm', dim, max_input_tokens: 512, id: provider });
    const { embedded_chunks, last_error } = await system.ask('model.backfill', { model_id: provider });
    assert.deepEqual([embedded_chunks, last_error], [3, null]);
    await system.ask('model.activate', { model_id: provider });
    const { results, timing_ms } = await system.search('herons hunt fish', { min_relevance: 0 });
    assert.deepEqual([results.length, timing_ms.degraded_dense], [3, undefined]);
    const near = await system.ask('search.similar', { page_id: first, k: 10, mediation: 'vector' });
    assert.equal(near.results.length, 2);
  }
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index.flatMap(({ findings }) => findings)], [[], []]);
});
