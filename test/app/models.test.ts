import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compareRequest } from '../../src/domain/compare.ts';
import { searchRequest } from '../../src/domain/search.ts';
import { checkFolder } from '../../src/fsck/check-folder.ts';
import { until } from '../process/service.ts';
import { isDomainError, library, WholeSystem } from './whole-system.ts';

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

const statusOf = async (system: WholeSystem, id: string) =>
  (await system.ask('model.list', {})).models.find((model) => model.id === id)?.status;

const refusal = (code: string, says: RegExp) => (error: unknown) =>
  isDomainError(error, code) && says.test(error.message);

const titlesOf = async (system: WholeSystem, query: string) =>
  (await system.ask('search.query', searchRequest.parse({ query, rerank: false, k: 3 }))).results.map(
    ({ title }) => title,
  );

test('a model is registered, filled beside the active one, compared, activated, and deleted with its files', async (t) => {
  const system = await WholeSystem.start(t);
  const ids = await system.read(library);
  const [active] = (await system.ask('model.list', {})).models;
  assert.deepEqual([active.id, active.is_active, active.status], ['local-multilingual-e5-small-384', true, 'ready']);

  const registered = { ...small, is_active: false, status: 'registered' };
  assert.deepEqual(await system.ask('model.register', small), registered);
  await assert.rejects(system.ask('model.register', small), refusal('conflict', /registered already/));
  await assert.rejects(
    system.ask('model.activate', { model_id: id }),
    refusal('conflict', /is registered; only ready/),
  );
  const none = { cursor_page_id: null, started_at: null, updated_at: null, finished_at: null, last_error: null };
  assert.deepEqual(await system.ask('model.backfill', { model_id: id }), {
    ...{ model_id: id, status: 'not_started', total_chunks: 0, embedded_chunks: 0, total_tokens: 0 },
    ...none,
  });

  const estimate = await system.ask('model.estimateBackfill', { model_id: id });
  let tokens = 0;
  let chunks = 0;
  for (const page_id of Object.values(ids)) {
    const found = await system.chunks(page_id);
    chunks += found.length;
    for (const { token_count } of found) tokens += token_count;
  }
  const { est_duration_s, ...exact } = estimate;
  assert.deepEqual(exact, {
    model_id: id,
    n_chunks: chunks,
    total_tokens: tokens,
    est_cost_usd: 0,
    confirm_required: true,
  });
  assert.ok(est_duration_s !== null && est_duration_s > 0 && est_duration_s < 10);
  assert.equal(await statusOf(system, id), 'registered', 'an estimate starts nothing');

  const started = { model_id: id, status: 'backfilling' };
  assert.deepEqual(await system.ask('model.startBackfill', { model_id: id }), started);
  assert.deepEqual(await system.ask('model.startBackfill', { model_id: id }), started);
  await untilFilled(system, id);
  const done = await system.ask('model.backfill', { model_id: id });
  assert.deepEqual(
    [done.status, done.total_chunks, done.embedded_chunks, done.total_tokens, done.last_error],
    ['complete', chunks, chunks, tokens, null],
  );
  assert.ok(done.finished_at !== null);

  const request = compareRequest.parse({
    query: 'birds that hunt fish',
    models: ['local-multilingual-e5-small-384', id],
    k: 3,
  });
  const { runs, agreement } = await system.ask('search.compare', request);
  assert.deepEqual(
    runs.map(({ model, results }) => [model, results.length > 0]),
    [
      ['local-multilingual-e5-small-384', true],
      [id, true],
    ],
  );
  assert.equal(agreement.length, 1);

  const info = await system.ask('model.activate', { model_id: id });
  assert.deepEqual([info.is_active, await statusOf(system, 'local-multilingual-e5-small-384')], [true, 'ready']);
  assert.ok((await titlesOf(system, 'birds that hunt fish')).includes('The grey heron'));
  await assert.rejects(system.ask('model.retire', { model_id: id }), refusal('conflict', /active/));
  await system.read({ owl: { title: 'Owls', text: 'Owls are birds that hunt mice at night and sleep by day.' } });

  await system.ask('model.retire', { model_id: 'local-multilingual-e5-small-384' });
  assert.deepEqual(
    (await system.ask('model.list', {})).models.map((model) => model.id),
    [id],
  );
  for (const side of ['dense', 'pages']) assert.deepEqual(readdirSync(join(system.dataDir, 'index', side)), ['2']);
  await assert.rejects(
    system.ask('model.retire', { model_id: 'local-multilingual-e5-small-384' }),
    refusal('not_found', /unknown/),
  );
  assert.ok((await titlesOf(system, 'which birds hunt mice at night')).includes('Owls'));
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index.flatMap(({ findings }) => findings)], [[], []]);
});

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

test('what cannot be a model is refused, and an id that is used again gets another space', async (t) => {
  const system = await WholeSystem.start(t);
  await system.read(library);
  const refused: [object, RegExp][] = [
    [{ max_input_tokens: 511 }, /max_input_tokens: 511 is less than a chunk may have, 512/],
    [{ provider: 'nobody' }, /provider: "nobody" is unknown/],
    [{ model_name: 'wink' }, /the one built-in model is multilingual-e5-small of 384/],
    [{ dim: 150 }, /not "multilingual-e5-small" of 150/],
  ];
  for (const [changes, says] of refused) {
    await assert.rejects(system.ask('model.register', { ...small, ...changes }), refusal('invalid', says));
  }
  for (const name of ['model.activate', 'model.backfill', 'model.startBackfill', 'model.estimateBackfill'] as const) {
    await assert.rejects(system.ask(name, { model_id: 'nobody' }), refusal('not_found', /unknown model id: nobody/));
  }

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
