/** An OpenAI- and Cohere-compatible server that others wrote (@copilotkit/aimock): what we send is not only what we ourselves understand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { compareRequest } from '../../src/domain/compare.ts';
import { until } from '../process/service.ts';
import { library, WholeSystem } from './whole-system.ts';

test('models of an independent server are filled, compared and activated, and it is chatted with', async (t) => {
  const server = new LLMock({ port: 0 });
  server.onMessage('herons', { content: 'Wading birds' });
  await server.start();
  t.after(() => server.stop());
  const system = await WholeSystem.start(t, {
    SERVICE_RERANKER__KIND: 'none',
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${server.url}/v1`,
    SERVICE_PROVIDERS__OPENAI__API_KEY: 'any',
    SERVICE_PROVIDERS__COHERE__BASE_URL: `${server.url}/v2`,
    SERVICE_PROVIDERS__COHERE__API_KEY: 'any',
    SERVICE_LLM__BASE_URL: `${server.url}/v1`,
    SERVICE_LLM__MODEL: 'a-model',
    SERVICE_LLM__API_KEY: 'any',
  });
  const ids = await system.read(library);
  for (const [provider, model_name, dim] of [
    ['openai', 'text-embedding-ada-002', 1536],
    ['cohere', 'embed-english-v3.0', 1024],
  ] as const) {
    await system.ask('model.register', { provider, model_name, dim, max_input_tokens: 8191, id: provider });
    await system.ask('model.startBackfill', { model_id: provider });
    const done = async () => {
      const { status, last_error } = await system.ask('model.backfill', { model_id: provider });
      assert.notEqual(status, 'failed', last_error ?? '');
      return status === 'complete';
    };
    await until(done, `the model of ${provider} is filled`);
  }
  // Its vectors mean nothing, but the same text has the same one.
  const text = `${library.heron.title}\n${library.heron.text}`;
  const { runs } = await system.ask(
    'search.compare',
    compareRequest.parse({ query: text, models: ['openai', 'cohere'] }),
  );
  for (const { results } of runs) assert.equal(results[0].page_id, ids.heron);
  assert.equal((await system.ask('model.activate', { model_id: 'openai' })).is_active, true);
  const said = await system.chat?.complete([{ role: 'user', content: 'A label for herons' }]);
  assert.match(JSON.stringify(said), /Wading birds/);
  await system.stop();
  const { store, index } = await checkFolder(system.dataDir);
  assert.deepEqual([store, index], [[], []]);
});
