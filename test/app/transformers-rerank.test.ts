/** Rerankers that run here by way of @huggingface/transformers, on a tiny cross-encoder of our own making whose scores are computed by hand. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { queryLogQuery } from '../../src/domain/query-log.ts';
import { searchRequest } from '../../src/domain/search.ts';
import { systemClock } from '../../src/providers/clock.ts';
import { resilientCall } from '../../src/providers/resilient-call.ts';
import { transformersReranker } from '../../src/providers/transformers-reranker.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import { installedTransformers, withoutTransformers } from '../fixtures/installed-transformers.ts';
import {
  tinyLogit,
  tinyPairTokens,
  writeTinyCrossEncoder,
  writeTinyTransformer,
} from '../fixtures/tiny-transformer.ts';
import { until } from '../process/service.ts';
import { listOf } from '../rows.ts';
import { temporaryFolder } from '../scope.ts';
import { compiled } from './compiled.ts';
import { WholeSystem } from './whole-system.ts';

const { transformerThreads }: typeof import('../../src/actors/models/transformer-threads.ts') = await compiled(
  'actors/models/transformer-threads',
);

const module = installedTransformers() ?? '';

function tinyModel(t: TestContext): string {
  const dir = join(temporaryFolder(t), 'tiny');
  writeTinyCrossEncoder(dir);
  return dir;
}

function rerankerOf(
  t: TestContext,
  model: string,
  { dtype = 'q8', from = module, idleMs }: { dtype?: string; from?: string; idleMs?: number } = {},
) {
  const threads = transformerThreads({ module: from, cacheDir: join(tmpdir(), 'readback-no-cache') }, idleMs);
  t.after(() => threads.close());
  const { breakers } = runBreakers({ failureThreshold: 5, cooldownMs: 60_000 }, () => systemClock.monotonic());
  const call = resilientCall({
    ...{ provider: 'transformers', breaker: breakers.of('transformers-rerank'), timeoutMs: 600_000 },
    retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 },
    ...{ clock: systemClock, random: Math.random },
  });
  return transformersReranker({ model, dtype, call, score: threads.score, clock: systemClock });
}

/** The package, which notes each time that it is loaded, and ends its thread in a run while there is a file of that name. */
function wrapped(t: TestContext) {
  const home = temporaryFolder(t);
  const [loads, dies, file] = ['loads', 'dies', 'wrapped.mjs'].map((name) => join(home, name));
  writeFileSync(
    file,
    `import { appendFileSync, existsSync } from 'node:fs';
import { AutoModelForSequenceClassification as Real } from ${JSON.stringify(module)};
export * from ${JSON.stringify(module)};
appendFileSync(${JSON.stringify(loads)}, 'x');
export const AutoModelForSequenceClassification = {
  async from_pretrained(...given) {
    const model = await Real.from_pretrained(...given);
    return (inputs) => (existsSync(${JSON.stringify(dies)}) ? process.exit(1) : model(inputs));
  },
};
`,
  );
  return {
    from: pathToFileURL(file).href,
    loads: () => readFileSync(loads, 'utf8').length,
    die: () => writeFileSync(dies, ''),
    live: () => rmSync(dies),
  };
}

const words = (text: string) => text.toLowerCase().match(/[a-z]+|[^a-z\s]/g) ?? [];
const shareOf = (query: string, passage: string) => 1 / (1 + Math.exp(-tinyLogit(words(query), words(passage))));

function assertScores(scores: Float64Array, query: string, passages: readonly string[]): void {
  assert.equal(scores.length, passages.length);
  for (const [at, passage] of passages.entries())
    assert.ok(Math.abs(scores[at] - shareOf(query, passage)) < 1e-6, `${passage}: ${scores[at]}`);
}

test('a pair has the score that the model gives it, in each precision that is there', {
  skip: withoutTransformers,
}, async (t) => {
  const model = tinyModel(t);
  const query = 'heron water oven';
  const passages = ['Water, and a heron.', 'bread', 'oven', 'an oven of bread; water', 'heron heron heron', 'fish', ''];
  for (const dtype of ['q8', 'fp32']) {
    const reranker = rerankerOf(t, model, { dtype });
    await reranker.warm();
    assertScores(await reranker.rerank(query, passages), query, passages);
  }
  await assert.rejects(rerankerOf(t, model, { dtype: 'q4' }).warm(), {
    code: 'unconfigured',
    message: /the model .+tiny cannot be loaded: .*model_q4\.onnx/s,
  });
});

test('of a pair that is too long the passage’s end is left out, and of a query what is beyond half', {
  skip: withoutTransformers,
}, async (t) => {
  const reranker = rerankerOf(t, tinyModel(t));
  await reranker.warm();
  const query = 'oven heron';
  // As many words as there is room for, three special tokens taken off; the next is not read.
  const room = tinyPairTokens - 3 - words(query).length;
  const passages = [room - 1, room, room + 1, 5 * room].map((before) => `${'fish '.repeat(before)}oven`);
  assertScores(await reranker.rerank(query, passages), query, passages);
  assert.equal(shareOf(query, passages[0]), 1 / (1 + Math.exp(-2)));
  assert.equal(shareOf(query, passages[1]), 1 / (1 + Math.exp(4)));
  const half = tinyPairTokens / 2;
  const long = `${'fish '.repeat(half - 1)}heron ${'oven '.repeat(50)}`;
  const [byHeron, byOven] = await reranker.rerank(long, ['heron', 'oven']);
  assert.ok(byHeron > byOven, 'the beginning of the query counts');
});

test('what is missing, or no reranker, is said in words', { skip: withoutTransformers }, async (t) => {
  const home = temporaryFolder(t);
  await assert.rejects(rerankerOf(t, home).warm(), { code: 'unconfigured', message: /cannot be loaded: / });
  writeTinyTransformer(join(home, 'embedding'), 16);
  await assert.rejects(rerankerOf(t, join(home, 'embedding'), { dtype: 'fp32' }).warm(), {
    code: 'unconfigured',
    message: /cannot be loaded: it gives no single score to a pair, so it is no reranker$/,
  });
});

test('without the package it says which command installs it', async (t) => {
  await assert.rejects(rerankerOf(t, tinyModel(t), { from: 'file:///nowhere/transformers.js' }).warm(), {
    code: 'unconfigured',
    message: 'provider transformers: its package is not installed: npm install @huggingface/transformers',
  });
});

test('a thread that ended, in a run or for want of work, is started again', {
  skip: withoutTransformers,
}, async (t) => {
  const library = wrapped(t);
  const model = tinyModel(t);
  const reranker = rerankerOf(t, model, { from: library.from });
  await reranker.warm();
  const [query, passages] = ['heron oven', ['oven', 'heron', 'fish', 'bread', 'heron oven']];
  assertScores(await reranker.rerank(query, passages), query, passages);
  assert.equal(library.loads(), 1, 'it keeps what it has loaded');
  library.die();
  await assert.rejects(reranker.rerank(query, passages), { code: 'failing' });
  library.live();
  assertScores(await reranker.rerank(query, passages), query, passages);
  assert.equal(library.loads(), 2);

  const resting = rerankerOf(t, model, { from: library.from, idleMs: 1 });
  await resting.warm();
  const before = library.loads();
  await until(async () => {
    assertScores(await resting.rerank(query, passages), query, passages);
    return library.loads() > before + 1;
  }, 'its thread has ended twice');
});

const pages = {
  first: { title: 'First', text: 'Fish and water and fish and water and fish.' },
  second: { title: 'Second', text: 'Water for an oven.' },
  third: { title: 'Third', text: 'Fish and bread.' },
  fourth: { title: 'Fourth', text: 'Oven, fish, water.' },
};
const query = 'fish water oven';

const settings = (model: string, more: NodeJS.ProcessEnv = {}) => ({
  SERVICE_RERANKER__KIND: 'api',
  SERVICE_RERANKER__PROVIDER: 'transformers',
  SERVICE_RERANKER__MODEL: model,
  SERVICE_SEARCH__RERANK_DEADLINE_S: '3600',
  ...more,
});
const search = async (system: WholeSystem, changes: object = {}) =>
  system.ask('search.query', searchRequest.parse({ query, ...changes }));
const isLoaded = (system: WholeSystem) => system.logged.some(({ msg }) => msg === 'the reranker is loaded');

test('searches of the running service are ordered by it, and told so', { skip: withoutTransformers }, async (t) => {
  const model = tinyModel(t);
  const system = await WholeSystem.start(t, settings(model), { transformersModule: module });
  await until(() => isLoaded(system), 'it is loaded at the start');
  const ids = await system.read(pages);
  const { results, timing_ms, query_id } = await search(system);
  const expected = Object.values(pages)
    .map(({ title, text }) => ({ title, score: 0.01 + 0.99 * shareOf(query, `${title}\n${text}`) }))
    .sort((a, b) => b.score - a.score);
  assert.deepEqual(
    results.map(({ title, score }) => [title, score.toFixed(5)]),
    expected.map(({ title, score }) => [title, score.toFixed(5)]),
  );
  assert.ok(results.every(({ why }) => why.reranked));
  assert.equal(timing_ms.degraded_rerank, undefined);
  assert.ok(timing_ms.rerank > 0);
  assert.equal(await system.counted('rerank_candidates_total', { outcome: 'scored' }), 4);
  assert.equal(await system.counted('rerank_candidates_total', { outcome: 'unscored' }), 0);
  const logged = async () =>
    (await listOf((await system.ask('queryLog.list', queryLogQuery.parse({}))).runs))[0]?.query_id === query_id;
  await until(logged, 'the run is logged');
  const run = await system.ask('queryLog.get', { query_id });
  assert.equal(run.reranker_model, `transformers/${model}`);
  assert.equal(run.final_pages[0].page_id, ids.first);

  const plain = await search(system, { rerank: false });
  assert.ok(plain.results.every(({ why }) => !why.reranked));
  await system.stop();

  Object.assign(system.env, { SERVICE_RERANKER__KIND: 'local' });
  await system.start();
  const local = await search(system);
  const places = (titles: readonly string[]) =>
    titles.map((title) => local.results.findIndex((r) => r.title === title));
  await system.stop();

  Object.assign(system.env, { SERVICE_RERANKER__KIND: 'api', SERVICE_RERANKER__MAX_CANDIDATES: '2' });
  await system.start();
  await until(() => isLoaded(system), 'it is loaded again');
  const partly = (await search(system)).results;
  assert.deepEqual(places(partly.slice(0, 2).map(({ title }) => title ?? '')).sort(), [0, 1]);
  assert.deepEqual(places(partly.slice(2).map(({ title }) => title ?? '')), [2, 3], 'those that it was not given');
  assert.deepEqual(
    partly.map(({ why }) => why.reranked),
    [true, true, false, false],
  );
});

test('while it is not there searches have the order of score fusion', async (t) => {
  const system = await WholeSystem.start(t, settings('/nowhere/model'), {
    transformersModule: 'file:///nowhere/transformers.js',
  });
  const told = () => system.logged.filter(({ msg }) => /the reranker is not there/.test(msg));
  await until(() => told().length === 1, 'it is said at the start');
  assert.match(String(told()[0].reason), /its package is not installed: npm install @huggingface\/transformers$/);
  await system.read(pages);
  const answers = [await search(system), await search(system)];
  await system.stop();
  Object.assign(system.env, { SERVICE_RERANKER__KIND: 'local' });
  await system.start();
  const local = await search(system);
  assert.ok(local.results.every(({ why }) => why.reranked));
  for (const { results, timing_ms } of answers) {
    assert.deepEqual(results, local.results);
    assert.equal(timing_ms.degraded_rerank, 1);
  }
});
