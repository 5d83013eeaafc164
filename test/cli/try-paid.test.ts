/** `readback model try` where somebody takes money: nothing is sent before it was agreed to. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { tryModelCommand } from '../../src/cli/commands/try-model.ts';
import type { Context } from '../../src/cli/context.ts';
import { readSettings } from '../../src/settings/read-settings.ts';

const own = { id: 'local-wink-1024', provider: 'local', model_name: 'wink', dim: 1024, status: 'ready' };
const other = { ...own, id: 'local-wink-300', dim: 300, is_active: false };
const address = { base_url: 'http://127.0.0.1:1/', api_key: '***' };

for (const [name, what] of [
  ['rerank-v3.5', 'a reranker'],
  ['local-wink-300', 'a model whose results a paid reranker orders'],
] as const) {
  test(`${what} is compared once it is agreed that queries and passages are paid for`, async (t) => {
    const asked: string[] = [];
    const service = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const reranker = { ...address, kind: 'api', provider: 'cohere', model: 'rerank-v3.5' };
      const settings = { cache_dir: '/nowhere', embedder: { ...address, provider: 'local' }, reranker, providers: {} };
      const answers: Record<string, object> = {
        '/v1/models': { models: [{ ...own, is_active: true }, other] },
        '/v1/admin/config': { settings },
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answers[request.url ?? ''] ?? { status: 'complete', started_at: null }));
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
      ...{
        terminal,
        json: false,
        url: undefined,
        signal: new AbortController().signal,
        monotonic: () => 0,
        now: () => 0,
      },
      settings: readSettings({
        SERVICE_BIND_PORT: `${(service.address() as AddressInfo).port}`,
        SERVICE_AUTH_TOKEN: 't',
      }),
    } as unknown as Context;
    assert.equal(await tryModelCommand(context, name, { yes: false, queries: 40, again: false }), 0);
    assert.deepEqual(questions, ['Send them?']);
    assert.match(
      said.join('\n'),
      /up to 40 queries of each kind, .*go to\s+cohere and cost\s+money there\nnothing was compared/,
    );
    assert.ok(!asked.some((each) => each.includes('/eval/')), asked.join());
  });
}
