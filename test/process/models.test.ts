/** The registry and the backfill over HTTP: every status and every field (contract "Models"), with a provider that is an HTTP server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelBackfillResponse, ModelListResponse } from '../../src/domain/model.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { RunningService, until } from './service.ts';

const dim = 32;
const price = 0.02;
const datetime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

test('the routes of models answer as the contract says', async (t) => {
  const server = await startFakeProvider({ dim });
  t.after(() => server.close());
  const service = await RunningService.start(t, {
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: `${server.url}/v1`,
    SERVICE_EMBEDDER__PRICES: JSON.stringify({ 'words-32': price }),
  });
  const call = async (method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await service.call<unknown>(method, path, body);
    return [status, answer] as const;
  };
  const pages = Array.from({ length: 5 }, (_, n) => ({
    url: `https://example.com/${n}`,
    title: `Note ${n}`,
    body_extracted: `The note number ${n} says that herons hunt fish.`,
  }));
  const { body: taken } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  const pageIds = taken.results.map(({ page_id }) => page_id);
  await service.settled(pageIds);
  let tokens = 0;
  for (const id of pageIds) {
    const { body } = await service.call<{ chunks: { token_count: number }[] }>('GET', `/v1/pages/${id}/chunks`);
    for (const { token_count } of body.chunks) tokens += token_count;
  }

  /** By the contract's fields. */
  const listed = async () => {
    const { body } = await service.call<ModelListResponse>('GET', '/v1/models');
    return body.models.map(({ vectors_pending, pages_pending, rate_per_s, eta_s, paused, runtime, ...info }) => {
      const [pending, pages] = [vectors_pending ?? 0, pages_pending ?? 0];
      assert.ok(pending >= 0 && pages >= 0 && (eta_s ?? 0) >= 0 && (rate_per_s ?? 0) >= 0);
      assert.deepEqual([paused, typeof (runtime ?? '')], [false, 'string']);
      return info;
    });
  };
  const active = {
    ...{
      id: 'local-multilingual-e5-small-384',
      provider: 'local',
      model_name: 'multilingual-e5-small',
      dim: 384,
      max_input_tokens: 32_000,
    },
    ...{ is_active: true, status: 'ready' },
  };
  const request = { provider: 'ollama', model_name: 'words-32', dim, max_input_tokens: 512 };
  const registered = { id: 'ollama-words-32-32', ...request, is_active: false, status: 'registered' };
  const { id } = registered;
  assert.deepEqual(await listed(), [active]);
  assert.deepEqual(await call('POST', '/v1/models', request), [201, registered]);
  assert.deepEqual(await listed(), [active, registered]);
  assert.deepEqual(await call('POST', '/v1/models', request), [
    409,
    { detail: `the model ${id} is registered already` },
  ]);

  assert.equal((await call('POST', `/v1/models/${id}/backfill`, { confirm: 'yes please' }))[0], 422);
  assert.equal((await call('POST', `/v1/models/${id}/backfill`, { confirmed: true }))[0], 422);

  const none = { cursor_page_id: null, started_at: null, updated_at: null, finished_at: null, last_error: null };
  const zero = { total_chunks: 0, embedded_chunks: 0, total_tokens: 0 };
  assert.deepEqual(await call('GET', `/v1/models/${id}/backfill`), [
    200,
    { model_id: id, status: 'not_started', ...zero, ...none },
  ]);
  const [status, estimate] = await call('POST', `/v1/models/${id}/backfill`, {});
  assert.equal(status, 200);
  const { est_cost_usd, ...counts } = estimate as Record<string, unknown>;
  assert.ok(Math.abs(Number(est_cost_usd) - (tokens / 1e6) * price) < 1e-12);
  assert.deepEqual(counts, {
    ...{ model_id: id, n_chunks: 5, total_tokens: tokens },
    est_duration_s: null,
    confirm_required: true,
  });
  assert.equal(server.calls.length, 0, 'an estimate calls nobody');
  const notReady = { detail: 'the model is registered; only ready models can be activated' };
  assert.deepEqual(await call('POST', `/v1/models/${id}/activate`), [409, notReady]);

  const started = [202, { model_id: id, status: 'backfilling' }];
  assert.deepEqual(await call('POST', `/v1/models/${id}/backfill`, { confirm: true }), started);
  assert.deepEqual(await call('POST', `/v1/models/${id}/backfill`, { confirm: true }), started);
  const progress = async () => (await service.call<ModelBackfillResponse>('GET', `/v1/models/${id}/backfill`)).body;
  await until(async () => (await progress()).status === 'complete', 'the backfill is complete');
  const { started_at, updated_at, finished_at, ...done } = await progress();
  assert.deepEqual(done, {
    ...{ model_id: id, status: 'complete', total_chunks: 5, embedded_chunks: 5, total_tokens: tokens },
    ...{ cursor_page_id: pageIds.at(-1), last_error: null },
  });
  for (const time of [started_at, updated_at, finished_at]) assert.match(String(time), datetime);

  assert.deepEqual(await call('POST', `/v1/models/${id}/activate`), [
    200,
    { ...registered, is_active: true, status: 'ready' },
  ]);
  assert.deepEqual(await listed(), [
    { ...active, is_active: false },
    { ...registered, is_active: true, status: 'ready' },
  ]);
  assert.deepEqual(await call('DELETE', `/v1/models/${id}`), [409, { detail: 'the active model cannot be deleted' }]);
  assert.equal((await call('POST', `/v1/models/${active.id}/activate`))[0], 200);
  assert.deepEqual(await call('DELETE', `/v1/models/${id}`), [204, '']);
  assert.deepEqual(await listed(), [active]);
  assert.deepEqual(await call('GET', `/v1/models/${id}/backfill`), [404, { detail: `unknown model id: ${id}` }]);
});
