/** The running system with an embedder that is an HTTP server. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { queryLogQuery } from '../../src/domain/query-log.ts';
import { until } from '../process/service.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { listOf } from '../rows.ts';
import { library, WholeSystem } from './whole-system.ts';

const dim = 32;

async function start(t: TestContext, env: NodeJS.ProcessEnv = {}) {
  const server = await startFakeProvider(t, { dim });
  const system = await WholeSystem.start(t, {
    SERVICE_EMBEDDER__PROVIDER: 'openai',
    SERVICE_EMBEDDER__MODEL: 'words-32',
    SERVICE_EMBEDDER__DIM: `${dim}`,
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${server.url}/v1`,
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.01',
    ...env,
  });
  return { server, system };
}

for (const kind of ['local', 'none']) {
  test(`pages and queries are embedded outside, also after a restart (reranker ${kind})`, async (t) => {
    const { server, system } = await start(t, { SERVICE_RERANKER__KIND: kind });
    const ids = await system.read(library);
    const inputs = server.calls.flatMap(({ body }) => body.input as string[]);
    assert.equal(inputs.length, 6 + 60, 'the pages, and once the sample that the floor is measured with');
    assert.ok(inputs.includes(`${library.heron.title}\n${library.heron.text}`));
    for (const _ of ['at first', 'after a restart']) {
      const found = await system.search('birds that hunt fish and frogs');
      assert.ok([ids.egret, ids.stork, ids.heron].includes(found.results[0].page_id));
      assert.ok(found.timing_ms.embed > 0 && found.timing_ms.dense > 0);
      assert.equal(found.timing_ms.degraded_dense, undefined);
      assert.deepEqual(server.calls.at(-1)?.body.input, ['birds that hunt fish and frogs']);
      const nothing = await system.search('xyzzy');
      assert.deepEqual(nothing.results, [], 'no word of it is there, and its vector is near to none');
      await system.stop();
      await system.start();
    }
    const text = `${library.heron.title}\n${library.heron.text}`;
    const { query_id } = await system.search(text);
    const logged = async () =>
      (await listOf((await system.ask('queryLog.list', queryLogQuery.parse({}))).runs))[0]?.query_id === query_id;
    await until(logged, 'the run is logged');
    const run = await system.ask('queryLog.get', { query_id });
    assert.deepEqual([run.active_model, run.reranker_model], ['openai-words-32-32', kind === 'local' ? 'local' : null]);
    const [{ page_id, score }] = run.dense_hits;
    assert.equal(page_id, ids.heron);
    assert.ok(Math.abs(score - 1) < 0.02, `the passage itself, by its vector: ${score}`);
    assert.equal(await system.counted('embedding_errors_total', { provider: 'openai' }), 0);
  });
}

test('a search that waits for its vector while its model is replaced and deleted is answered by the new one', async (t) => {
  const { server, system } = await start(t);
  await system.read(library);
  const { id } = await system.ask('model.register', {
    ...{ provider: 'local', model_name: 'multilingual-e5-small', dim: 384, max_input_tokens: 512 },
  });
  await system.ask('model.startBackfill', { model_id: id });
  const filled = async () => (await system.ask('model.backfill', { model_id: id })).status === 'complete';
  await until(filled, 'the other model is filled');

  let answer = () => {};
  const after = new Promise<void>((resolve) => {
    answer = resolve;
  });
  server.faultOf = () => ({ kind: 'late', after });
  const received = server.received(server.calls.length + 1);
  const searching = system.search('birds that hunt fish');
  await received;
  await system.ask('model.activate', { model_id: id });
  await system.ask('model.retire', { model_id: 'openai-words-32-32' });
  answer();
  const { results, timing_ms } = await searching;
  assert.ok(results.length > 0);
  assert.equal(timing_ms.degraded_dense, undefined);
  const logged = async () =>
    (await listOf((await system.ask('queryLog.list', queryLogQuery.parse({}))).runs))[0]?.active_model === id;
  await until(logged, 'the run is logged as the new model’s');
});
