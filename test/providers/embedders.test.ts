import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Clock, systemClock } from '../../src/providers/clock.ts';
import { type Embedders, type ModelOfProvider, openEmbedders } from '../../src/providers/embedders.ts';
import { embeddingEndpoint } from '../../src/providers/provider-settings.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import { until } from '../process/service.ts';
import { startFakeProvider, vectorOf } from './fake-provider-server.ts';
import { HandClock } from './hand-clock.ts';

const dim = 16;
const apiKey = 'sk-of-the-test';

const server = await startFakeProvider({ after }, { dim, apiKey });

interface Opened {
  embedders: Embedders;
  failed: string[];
}

function open(env: Record<string, string>, clock: Clock = systemClock): Opened {
  const settings = readSettings({ SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1', ...env });
  const { breakers } = runBreakers({ failureThreshold: 2, cooldownMs: 60_000 }, () => clock.monotonic());
  const failed: string[] = [];
  const onError = (provider: string) => failed.push(provider);
  const { signal: stopping } = new AbortController();
  const encoder = {
    query: async () => null,
    encode: () => Promise.reject(new Error('nothing is encoded here')),
  };
  const parts = { settings, encoder, breakers, clock, random: Math.random, onError, stopping };
  return { embedders: openEmbedders(parts), failed };
}

const shared = (name: string, path = '/v1') => ({
  [`SERVICE_PROVIDERS__${name}__BASE_URL`]: server.url + path,
  [`SERVICE_PROVIDERS__${name}__API_KEY`]: apiKey,
});

const modelAt = (provider: string, model_name = 'a-model'): ModelOfProvider => ({
  provider,
  model_name,
  dim,
  max_input_tokens: 512,
});

function assertNear(actual: Float32Array | null, expected: ArrayLike<number>): void {
  assert.equal(actual?.length, expected.length);
  assert.ok(actual?.every((value, i) => Math.abs(value - expected[i]) < 1e-6));
}

test('a blank passage has a row of zeros and is not sent; a blank query has no vector; others get the prefixes of their model', async () => {
  const { embedders } = open(shared('OPENAI'));
  const earlier = server.calls.length;
  assert.equal(await embedders.queryVector(modelAt('openai'), ' \n\u200b'), null);
  assertNear(await embedders.documentVectors(modelAt('openai'), ['', ' \t']), new Float32Array(2 * dim));
  assert.equal(server.calls.length, earlier);
  const rows = await embedders.documentVectors(modelAt('openai'), ['', 'text', '\u0000']);
  assertNear(rows, [...new Float32Array(dim), ...vectorOf('text', dim), ...new Float32Array(dim)]);

  const ollama = open(shared('OLLAMA')).embedders;
  const model = modelAt('ollama', 'nomic-embed-text');
  const before = server.calls.length;
  await ollama.queryVector(model, 'a');
  await ollama.queryVectors(model, ['b']);
  await ollama.documentVectors(model, ['c']);
  const inputs = server.calls.slice(before).map(({ body }) => body.input);
  assert.deepEqual(inputs, [['search_query: a'], ['search_query: b'], ['search_document: c']]);
});

test('the breaker is the provider’s: open after failures of any of its models, and says for how long', async () => {
  const { embedders, failed } = open(shared('OPENAI'));
  server.faultOf = () => ({ kind: 'status', status: 500 });
  await assert.rejects(embedders.queryVector(modelAt('openai', 'one'), 'a'), { code: 'failing' });
  assert.equal(embedders.breakerOf({ provider: 'openai' }).waitMs(), 0);
  await assert.rejects(embedders.documentVectors(modelAt('openai', 'two'), ['b']), { code: 'failing' });
  server.faultOf = () => undefined;
  await assert.rejects(embedders.queryVector(modelAt('openai', 'three'), 'c'), { code: 'breaker_open' });
  const waitMs = embedders.breakerOf({ provider: 'openai' }).waitMs();
  assert.ok(waitMs > 50_000 && waitMs <= 60_000, `${waitMs}`);
  assert.deepEqual(failed, ['openai', 'openai'], 'a call that was not made is no error of the provider');
});

test('a query is waited for no longer than its deadline, and leaves with its caller', async () => {
  const { embedders, failed } = open(shared('OPENAI'));
  server.faultOf = () => ({ kind: 'hang' });
  await assert.rejects(embedders.queryVector(modelAt('openai'), 'late', { deadlineMs: 20 }), { code: 'timeout' });
  const caller = new AbortController();
  const earlier = server.calls.length;
  const left = embedders.queryVector(modelAt('openai'), 'left', { signal: caller.signal });
  await server.received(earlier + 1);
  caller.abort(new Error('gone'));
  await assert.rejects(left, /gone/);
  await server.idle();
  server.faultOf = () => undefined;
  assert.deepEqual(failed, ['openai']);
});

test('a call for which the server loads its model goes on when the search leaves; with a key none does', async (t) => {
  const clock = new HandClock();
  const own = await startFakeProvider(t, { dim });
  const { embedders } = open({ SERVICE_PROVIDERS__OLLAMA__BASE_URL: `${own.url}/v1` }, clock);
  let load = () => {};
  const loaded = new Promise<void>((resolve) => {
    load = resolve;
  });
  own.faultOf = () => ({ kind: 'late', after: loaded });
  const earlier = own.calls.length;
  const asked = () => own.calls.slice(earlier).map(({ body }) => body.input);
  const late = async (text: string) => {
    const calls = own.calls.length;
    const query = assert.rejects(embedders.queryVector(modelAt('ollama'), text, { deadlineMs: 2000 }), {
      code: 'timeout',
    });
    await own.received(calls + 1);
    await clock.advance(2000);
    await query;
  };
  await late('first');
  await late('second');
  assert.deepEqual(asked(), [['first'], ['second']]);
  load();
  await own.idle();
  own.faultOf = () => undefined;
  const now = (text: string) => embedders.queryVector(modelAt('ollama'), text, { deadlineMs: 2000 });
  assertNear(await now('third'), vectorOf('third', dim));

  // It was away, and its first answer behind that, the probe of the breaker, comes too late.
  own.faultOf = () => ({ kind: 'status', status: 500 });
  for (const text of ['fourth', 'fifth']) await assert.rejects(now(text), { code: 'failing' });
  await assert.rejects(now('sixth'), { code: 'breaker_open' });
  await clock.advance(60_000);
  const again = new Promise<void>((resolve) => {
    load = resolve;
  });
  own.faultOf = () => ({ kind: 'late', after: again });
  await late('seventh');
  load();
  await own.idle();
  own.faultOf = () => undefined;
  await until(() => embedders.breakerOf({ provider: 'ollama' }).waitMs() === 0, 'the probe has succeeded');
  assertNear(await now('eighth'), vectorOf('eighth', dim));
  assert.deepEqual(asked().slice(-4), [['fourth'], ['fifth'], ['seventh'], ['eighth']]);
  const keyed = open(shared('KEYED'), clock).embedders;
  let answer = () => {};
  const later = new Promise<void>((resolve) => {
    answer = resolve;
  });
  server.faultOf = () => ({ kind: 'late', after: later });
  const calls = server.calls.length;
  const query = assert.rejects(keyed.queryVector(modelAt('keyed'), 'text', { deadlineMs: 2000 }), { code: 'timeout' });
  await server.received(calls + 1);
  await clock.advance(2000);
  await query;
  answer();
  await server.idle();
  assert.equal(server.calls.length, calls + 1);
  server.faultOf = () => undefined;
});

test('a search that has left asks for nothing; one whose provider has no address is counted as failed', async () => {
  const { embedders, failed } = open({ SERVICE_PROVIDERS__OLLAMA__BASE_URL: `${server.url}/v1` });
  const calls = server.calls.length;
  const left = { deadlineMs: 2000, signal: AbortSignal.abort(new Error('gone')) };
  await assert.rejects(embedders.queryVector(modelAt('ollama'), 'text', left), /gone/);
  assert.equal(server.calls.length, calls);
  await assert.rejects(embedders.queryVector(modelAt('mine'), 'text', { deadlineMs: 2000 }), { code: 'unconfigured' });
  assert.deepEqual(failed, ['mine']);
});

test('Ollama says by a message whether a text or its runner was at fault', async () => {
  const { embedders } = open(shared('OLLAMA'));
  const ask = () => embedders.documentVectors(modelAt('ollama'), ['text']);
  const answer = (status: number, message: string) => () => ({ kind: 'status', status, message }) as const;
  server.faultOf = answer(400, 'the input length exceeds the context length');
  await assert.rejects(ask(), { code: 'refused', status: 400, message: 'provider ollama: answered 400' });
  server.faultOf = answer(404, 'model "a-model" not found, try pulling it first');
  await assert.rejects(ask(), {
    code: 'refused',
    message: 'provider ollama: answered 404: no such path, or no such model there',
  });
  server.faultOf = answer(400, 'do embedding request: Post "http://127.0.0.1:33967/embedding": EOF');
  await assert.rejects(ask(), { code: 'failing', status: 400 });
  server.faultOf = answer(500, 'failed to encode response: json: unsupported value: NaN');
  await assert.rejects(ask(), { code: 'bad_answer', status: 500 });
  server.faultOf = () => undefined;
});

test('embedder.* is for models of its provider only, and completed by the shared address and key', () => {
  const settings = readSettings({
    SERVICE_EMBEDDER__PROVIDER: 'openai',
    SERVICE_EMBEDDER__BASE_URL: 'http://127.0.0.1:1/v1',
    SERVICE_PROVIDERS__OPENAI__API_KEY: 'shared',
    SERVICE_PROVIDERS__OPENAI__BASE_URL: 'http://127.0.0.1:2/v1',
    SERVICE_PROVIDERS__MINE__BASE_URL: 'http://127.0.0.1:3/v1',
  });
  const credentials = { api_key: 'shared', userinfo: null, query: null };
  assert.deepEqual(embeddingEndpoint('openai', settings), {
    provider: 'openai',
    baseUrl: 'http://127.0.0.1:1/v1',
    credentials,
  });
  assert.deepEqual(embeddingEndpoint('mine', settings), {
    provider: 'mine',
    baseUrl: 'http://127.0.0.1:3/v1',
    credentials: { api_key: null, userinfo: null, query: null },
  });
  for (const name of ['voyage', 'constructor', '__proto__']) {
    assert.throws(() => embeddingEndpoint(name, settings), { code: 'unconfigured', message: /SERVICE_PROVIDERS__/ });
  }
});
