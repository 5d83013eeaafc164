/** Models are switched under two hundred searches a second: none fails, and each is answered as one of the two models answers it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelBackfillResponse } from '../../src/domain/model.ts';
import { library } from '../app/whole-system.ts';
import { RunningService, until } from './service.ts';

const models = ['local-wink-1024', 'local-wink-100'];
const switches = 20;
const perSecond = 200;

interface Found {
  results: { page_id: string; score: number }[];
  suggestions: { page_id: string }[];
}

test('activation under two hundred searches a second fails none and mixes none', async (t) => {
  const service = await RunningService.start(t);
  const pages = Object.entries(library).map(([path, { title, text }]) => ({
    url: `https://example.com/${path}`,
    title,
    body_extracted: text,
  }));
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  await service.settled(body.results.map(({ page_id }) => page_id));
  const request = { provider: 'local', model_name: 'wink', dim: 100, max_input_tokens: 32_000 };
  assert.equal((await service.call('POST', '/v1/models', request)).status, 201);
  await service.call('POST', `/v1/models/${models[1]}/backfill`, { confirm: true });
  const filled = async () =>
    (await service.call<ModelBackfillResponse>('GET', `/v1/models/${models[1]}/backfill`)).body.status === 'complete';
  await until(filled, 'the model is filled');

  const search = async () => {
    const asked = { query: 'birds that catch fish in meadows', k: 2, suggest: 3 };
    const { status, body } = await service.call<Found>('POST', '/v1/search', asked);
    assert.equal(status, 200);
    return JSON.stringify([body.results.map(({ page_id, score }) => [page_id, score]), body.suggestions]);
  };
  const activate = async (id: string) =>
    assert.equal((await service.call('POST', `/v1/models/${id}/activate`)).status, 200);
  const answers = new Map<string, number>();
  for (const id of [...models].reverse()) {
    await activate(id);
    answers.set(await search(), 0);
  }
  assert.equal(answers.size, 2, 'the models answer differently');

  let open = true;
  const asked: Promise<void>[] = [];
  const asking = (async () => {
    while (open) {
      asked.push(
        search().then((answer) => {
          const seen = answers.get(answer);
          assert.ok(seen !== undefined, `an answer of neither model: ${answer}`);
          answers.set(answer, seen + 1);
        }),
      );
      await delay(1000 / perSecond);
    }
  })();
  for (let i = 0; i < switches; i++) {
    await activate(models[(i + 1) % 2]);
    await delay(50);
  }
  open = false;
  await asking;
  await Promise.all(asked);
  assert.ok([...answers.values()].every((count) => count > 10));
  t.diagnostic(`${asked.length} searches, ${[...answers.values()].join(' and ')} by each model`);
});
