/** `readback model try` beside a service that is played: nothing is sent to who takes money before it was agreed to; when a comparison is made anew. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { tryModelCommand } from '../../src/cli/commands/try-model.ts';
import type { Context } from '../../src/cli/context.ts';
import { readSettings } from '../../src/settings/read-settings.ts';

const own = { id: 'local-wink-1024', provider: 'local', model_name: 'wink', dim: 1024, status: 'ready' };
const other = { ...own, id: 'local-wink-300', dim: 300, is_active: false };
const address = { base_url: 'http://127.0.0.1:1/', api_key: '***' };

/** Try a model beside a service that gives these answers, by method and address; gives what was asked of it, of people, and said. */
async function tried(t: TestContext, name: string, answers: Record<string, object>) {
  const asked: string[] = [];
  const service = createServer((request, response) => {
    const what = `${request.method} ${request.url}`;
    asked.push(what);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[what] ?? { status: 'complete', started_at: null }));
  }).listen(0, '127.0.0.1');
  t.after(() => service.close());
  await once(service, 'listening');
  const questions: string[] = [];
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const terminal = {
    ...{ say, note: say, json: () => {}, progress: () => {}, columns: 80, asks: true },
    style: (_: string, text: string) => text,
    link: (text: string) => text,
    confirm: async (question: string) => questions.push(question) === 0,
  };
  const context = {
    ...{ terminal, json: false, url: undefined, signal: new AbortController().signal },
    ...{ monotonic: () => 0, now: () => Date.parse('2026-03-01T12:00:00Z') },
    settings: readSettings({
      SERVICE_BIND_PORT: `${(service.address() as AddressInfo).port}`,
      SERVICE_AUTH_TOKEN: 't',
    }),
  } as unknown as Context;
  assert.equal(await tryModelCommand(context, name, { yes: false, queries: 40, again: false }), 0);
  return { asked, questions, said };
}

const models = { models: [{ ...own, is_active: true }, other] };
const settingsWith = (reranker: object) => ({
  settings: { cache_dir: '/nowhere', embedder: { ...address, provider: 'local' }, reranker, providers: {} },
});

for (const [name, what] of [
  ['rerank-v3.5', 'a reranker'],
  ['local-wink-300', 'a model whose results a paid reranker orders'],
] as const) {
  test(`${what} is compared once it is agreed that queries and passages are paid for`, async (t) => {
    const { asked, questions, said } = await tried(t, name, {
      'GET /v1/models': models,
      'GET /v1/admin/config': settingsWith({ ...address, kind: 'api', provider: 'cohere', model: 'rerank-v3.5' }),
    });
    assert.deepEqual(questions, ['Send them?']);
    assert.match(
      said.join('\n'),
      /up to 40 queries of each kind, .*go to\s+cohere and cost\s+money there\nnothing was compared/,
    );
    assert.ok(!asked.some((each) => each.includes('/eval/')), asked.join());
  });
}

const there = createServer((_, response) => response.end('{}'))
  .listen(0, '127.0.0.1')
  .unref();
await once(there, 'listening');
const keyed = { base_url: `http://127.0.0.1:${(there.address() as AddressInfo).port}/v1`, api_key: '***' };
const localReranker = { ...address, kind: 'local', provider: null, model: null };
for (const [what, name, reranker, providers, payee] of [
  ['a reranker without a name', 'some', { ...keyed, kind: 'api', provider: null, model: 'some' }, {}, keyed.base_url],
  ['a reranker of a name unknown here', other.id, { ...keyed, kind: 'api', provider: 'far', model: 'x' }, {}, 'far'],
  ['a model of a provider with a key', 'far-embed', localReranker, { far: keyed }, 'far'],
] as const) {
  test(`${what} that has a key may cost money, and that is asked`, async (t) => {
    const config = settingsWith(reranker);
    const { asked, questions, said } = await tried(t, name, {
      'GET /v1/models': { models: [...models.models, { ...other, id: 'far-embed', provider: 'far' }] },
      'GET /v1/admin/config': { settings: { ...config.settings, providers } },
    });
    assert.deepEqual(questions, ['Send them?']);
    assert.ok(said.join(' ').replace(/\s+/g, ' ').includes(`go to ${payee} and may cost money there`), said.join('\n'));
    assert.equal(said.join(' ').includes('300 to learn'), name === 'far-embed');
    assert.ok(!asked.some((each) => each.includes('/eval/')), asked.join());
  });
}

test('a comparison of the last day is made anew where another reranker is set since, where it had too few queries, and where it died long ago', async (t) => {
  const zero = { ndcg: 0, recall: 0, reciprocal_rank: 0, recall_candidates: 0 };
  const replayBy = (reranker_model: string, job_id: string, queries = 40) => ({
    ...{ job_id, status: 'done', created_at: '2026-03-01T11:00:00Z', updated_at: '2026-03-01T11:05:00Z' },
    ...{ source: 'library', model_a: own.id, model_b: other.id, rerank_a: true, rerank_b: true },
    ...{ k: 10, candidates: 100, limit: 40, planned: 40, replayed: 40, last_error: null },
    report: {
      ...{ source: 'library', k: 10, candidates: 100, queries, skipped: 0, difference: zero },
      a: { model: own.id, rerank: true, reranker_model, ...zero },
      b: { model: other.id, rerank: true, reranker_model, ...zero },
      interval: { ndcg: { low: -0.1, high: 0.1 }, recall: { low: -0.1, high: 0.1 } },
    },
  });
  const set = { ...address, api_key: null, kind: 'api', provider: 'tei', model: 'BAAI/bge-reranker-base' };
  const same = 'tei/BAAI/bge-reranker-base';
  const dead = { ...replayBy(same, 'before'), status: 'dead', report: null };
  for (const [what, before, begun] of [
    ['the same', replayBy(same, 'before'), 0],
    ['another reranker', replayBy('local', 'before'), 1],
    ['too few', replayBy(same, 'before', 12), 1],
    ['dead long ago', { ...dead, updated_at: '2026-02-20T11:00:00Z' }, 1],
  ] as const) {
    const { asked } = await tried(t, other.id, {
      'GET /v1/models': models,
      'GET /v1/admin/config': settingsWith(set),
      'POST /v1/admin/eval/score': { queries: [] },
      'GET /v1/admin/eval/replay?limit=100': { replays: [before, replayBy('local', 'new')] },
      'POST /v1/admin/eval/replay': { job_id: 'new' },
    });
    assert.equal(asked.filter((each) => each === 'POST /v1/admin/eval/replay').length, begun, what);
  }
});
