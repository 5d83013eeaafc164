/** Embedding models that run here by way of @huggingface/transformers, on a tiny model of our own making. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { jobListQuery } from '../../src/domain/job.ts';
import { queryLogQuery } from '../../src/domain/query-log.ts';
import { searchRequest } from '../../src/domain/search.ts';
import { checkFolder } from '../../src/fsck/check-folder.ts';
import { systemClock } from '../../src/providers/clock.ts';
import { resilientCall } from '../../src/providers/resilient-call.ts';
import { transformersEmbedder } from '../../src/providers/transformers-embedder.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import { installedTransformers, withoutTransformers } from '../fixtures/installed-transformers.ts';
import { tinyVector, tokenVector, writeTinyTransformer } from '../fixtures/tiny-transformer.ts';
import { until } from '../process/service.ts';
import { listOf } from '../rows.ts';
import { temporaryFolder } from '../scope.ts';
import { compiled } from './compiled.ts';
import { library, WholeSystem } from './whole-system.ts';

const { transformerThreads }: typeof import('../../src/actors/models/transformer-threads.ts') = await compiled(
  'actors/models/transformer-threads',
);

const dim = 16;

const module = installedTransformers();
const needsPackage = withoutTransformers;

function tinyModel(t: TestContext, name = 'tiny'): string {
  const home = temporaryFolder(t);
  writeTinyTransformer(join(home, name), dim);
  return join(home, name);
}

function embedderOf(t: TestContext, model: string, options: { module: string; dim?: number }) {
  const threads = transformerThreads({ module: options.module, cacheDir: join(tmpdir(), 'readback-no-cache') });
  t.after(() => threads.close());
  const { breakers } = runBreakers({ failureThreshold: 5, cooldownMs: 60_000 }, () => systemClock.monotonic());
  const call = resilientCall({
    ...{ provider: 'transformers', breaker: breakers.of('transformers'), timeoutMs: 60_000 },
    retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 },
    ...{ clock: systemClock, random: Math.random },
  });
  return transformersEmbedder({ model, dim: options.dim ?? dim, call, run: threads.run });
}

const near = (row: Float32Array, expected: readonly number[]) =>
  row.length === expected.length && row.every((x, i) => Math.abs(x - expected[i]) < 1e-6);

test('without the package a model says which command installs it', async (t) => {
  const embedder = embedderOf(t, tinyModel(t), { module: 'file:///nowhere/transformers.js' });
  await assert.rejects(embedder.embed(['heron'], 'document'), {
    code: 'unconfigured',
    permanent: true,
    message: 'provider transformers: its package is not installed: npm install @huggingface/transformers',
  });
});

test('pages of a model without its package are dead with that message, and searched by no word', async (t) => {
  const system = await WholeSystem.start(
    t,
    { SERVICE_EMBEDDER__PROVIDER: 'transformers', SERVICE_EMBEDDER__MODEL: 'nobody/none', SERVICE_EMBEDDER__DIM: '8' },
    { transformersModule: 'file:///nowhere/transformers.js' },
  );
  await system.handIn(library);
  const dead = async () => (await system.ask('job.list', jobListQuery.parse({ status: 'dead' }))).jobs;
  await until(async () => (await dead()).length === Object.keys(library).length, 'every page is dead');
  for (const { last_error } of await dead()) assert.match(last_error ?? '', /npm install @huggingface\/transformers$/);
});

test('a model in a folder gives the mean of its tokens’ vectors, of unit length, or that of the first', {
  skip: needsPackage,
}, async (t) => {
  const embedder = embedderOf(t, tinyModel(t), { module: module ?? '' });
  const texts = ['Heron fish', 'bread', 'an unknown oven', 'water '.repeat(50), 'flour', 'fish', 'oven water'];
  const rows = await embedder.embed(texts, 'document');
  for (const [at, text] of texts.entries()) {
    const words = text.toLowerCase().trim().split(' ');
    assert.ok(near(rows.subarray(at * dim, (at + 1) * dim), tinyVector(words, dim)), text);
  }
  const bge = embedderOf(t, tinyModel(t, 'tiny-bge-small'), { module: module ?? '' });
  const first = tokenVector(2, dim);
  const byFirst = first.map((x) => x / Math.hypot(...first));
  assert.ok(
    near(await bge.embed(['heron fish water'], 'document'), byFirst),
    'of its first token, where it was trained so',
  );
  const e5 = embedderOf(t, tinyModel(t, 'tiny-e5-small'), { module: module ?? '' });
  assert.ok(near(await e5.embed(['heron'], 'query'), tinyVector(['query', ':', 'heron'], dim)));
  assert.ok(near(await e5.embed(['heron'], 'document'), tinyVector(['passage', ':', 'heron'], dim)));
});

test('a model that is none, or of other dimensions, is refused in words', { skip: needsPackage }, async (t) => {
  const tiny = tinyModel(t);
  const wrong = embedderOf(t, tiny, { module: module ?? '', dim: dim + 1 });
  const problem = `provider transformers: unusable vectors: row 0: length ${dim} instead of ${dim + 1}`;
  await assert.rejects(wrong.embed(['heron'], 'document'), { code: 'bad_answer', message: problem });
  const none = embedderOf(t, join(tiny, 'onnx'), { module: module ?? '' });
  await assert.rejects(none.embed(['heron'], 'document'), { code: 'unconfigured', message: /cannot be loaded: / });
});

test('the running service fills, activates and searches a transformer model', { skip: needsPackage }, async (t) => {
  const model_name = tinyModel(t);
  const system = await WholeSystem.start(t, { SERVICE_RERANKER__KIND: 'none' }, { transformersModule: module ?? '' });
  await system.read(library);
  const request = { provider: 'transformers', model_name, dim, max_input_tokens: 512, id: 'tiny' };
  await system.ask('model.register', request);
  assert.equal((await system.ask('model.estimateBackfill', { model_id: 'tiny' })).est_cost_usd, 0);
  await system.ask('model.startBackfill', { model_id: 'tiny' });
  const status = async () => {
    const { status, last_error } = await system.ask('model.backfill', { model_id: 'tiny' });
    assert.notEqual(status, 'failed', last_error ?? '');
    return status;
  };
  await until(async () => (await status()) === 'complete', 'it is filled');
  await system.ask('model.activate', { model_id: 'tiny' });
  const { loaf } = await system.read({ loaf: { title: 'Bread', text: 'Bread, flour, oven, bread, flour, oven.' } });
  const { query_id, timing_ms } = await system.ask('search.query', searchRequest.parse({ query: 'bread flour oven' }));
  assert.ok(timing_ms.embed > 0 && timing_ms.degraded_dense === undefined);
  const logged = async () =>
    (await listOf((await system.ask('queryLog.list', queryLogQuery.parse({}))).runs))[0]?.query_id === query_id;
  await until(logged, 'the run is logged');
  const run = await system.ask('queryLog.get', { query_id });
  assert.equal(run.active_model, 'tiny');
  assert.equal(run.final_pages[0].page_id, loaf);
  await system.stop();
  const { store, index } = await checkFolder(system.dataDir);
  assert.deepEqual([store, index], [[], []]);
});
