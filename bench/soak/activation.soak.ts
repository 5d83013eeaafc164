/**
 * Models are switched under two hundred searches a second, which come by the clock whether or not those before them are answered: none
 * fails, each is answered as one of the two models answers it, and the query log names that model.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelBackfillResponse } from '../../src/domain/model.ts';
import { library } from '../../test/app/whole-system.ts';
import { RunningService, until } from '../../test/process/service.ts';
import { startFakeProvider } from '../../test/providers/fake-provider-server.ts';

const models = ['local-multilingual-e5-small-384', 'second'];
const switches = 10;
const betweenSwitchesMs = 60;
const perSecond = 200;
/** How often it is looked whether searches are due, ms. */
const tickMs = 2;
/** Searches that wait at a time at most: a machine too busy for the rate gets fewer, instead of a queue without end. */
const maxWaiting = 64;

interface Found {
  query_id: string;
  results: { page_id: string; score: number }[];
  suggestions: { page_id: string }[];
}

/** Ask at a constant rate by the clock, until it is told to stop. What would be one too many waiting is not asked at all. */
function arrivals(ask: () => Promise<void>) {
  const began = performance.now();
  const asked: Promise<void>[] = [];
  let open = true;
  let due = 0;
  let waiting = 0;
  const loop = (async () => {
    while (open) {
      for (const now = Math.floor(((performance.now() - began) * perSecond) / 1000); due < now; due++) {
        if (waiting === maxWaiting) continue;
        waiting++;
        const answered = ask().finally(() => waiting--);
        answered.catch(() => {}); // told at the end
        asked.push(answered);
      }
      await delay(tickMs);
    }
    return performance.now() - began;
  })();
  return {
    /** Gives how many were asked a second, once all are answered. Errors: of any of them. */
    async end(): Promise<{ count: number; perSecond: number }> {
      open = false;
      const ms = await loop;
      await Promise.all(asked);
      return { count: asked.length, perSecond: (asked.length * 1000) / ms };
    },
  };
}

test('activation under two hundred searches a second fails none and mixes none', async (t) => {
  const server = await startFakeProvider(t, { dim: 32 });
  const service = await RunningService.start(t, {
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${server.url}/v1`,
  });
  const pages = Object.entries(library).map(([path, { title, text }]) => ({
    url: `https://example.com/${path}`,
    title,
    body_extracted: text,
  }));
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  await service.settled(body.results.map(({ page_id }) => page_id));
  const request = { provider: 'openai', model_name: 'words-32', dim: 32, max_input_tokens: 32_000, id: 'second' };
  assert.equal((await service.call('POST', '/v1/models', request)).status, 201);
  await service.call('POST', `/v1/models/${models[1]}/backfill`, { confirm: true });
  const filled = async () =>
    (await service.call<ModelBackfillResponse>('GET', `/v1/models/${models[1]}/backfill`)).body.status === 'complete';
  await until(filled, 'the model is filled');

  const search = async () => {
    const asked = { query: 'birds that catch fish in meadows', k: 2, suggest: 3 };
    const { status, body } = await service.call<Found>('POST', '/v1/search', asked);
    assert.equal(status, 200, JSON.stringify(body));
    const answer = JSON.stringify([body.results.map(({ page_id, score }) => [page_id, score]), body.suggestions]);
    return { query_id: body.query_id, answer };
  };
  const activate = async (id: string) =>
    assert.equal((await service.call('POST', `/v1/models/${id}/activate`)).status, 200);
  const modelOf = new Map<string, string>();
  for (const id of [...models].reverse()) {
    await activate(id);
    modelOf.set((await search()).answer, id);
  }
  assert.equal(modelOf.size, 2, 'the models answer differently');

  const answeredBy = new Map<string, string>();
  const searches = arrivals(async () => {
    const { query_id, answer } = await search();
    const model = modelOf.get(answer);
    assert.ok(model !== undefined, `an answer of neither model: ${answer}`);
    answeredBy.set(query_id, model);
  });
  const countsNow = () => models.map((id) => [...answeredBy.values()].filter((model) => model === id).length);
  const isEnough = () => countsNow().every((count) => count > 10);
  // A slow machine answers few searches between two switches: it switches until enough were answered by each model.
  for (let i = 0; i < switches || (!isEnough() && i < 100 * switches); i++) {
    await activate(models[(i + 1) % 2]);
    await delay(betweenSwitchesMs);
  }
  const offered = await searches.end();
  const counts = countsNow();
  assert.equal(answeredBy.size, offered.count);
  assert.ok(isEnough(), `${counts} searches by each model`);

  type Logged = { runs: { query_id: string; active_model: string }[] };
  const logged = async () => (await service.call<Logged>('GET', '/v1/admin/query-log?limit=1000')).body.runs;
  const dropped = async () => {
    const { body } = await service.call<{ query_log_dropped_rows: number }>('GET', '/v1/admin/metrics/summary');
    return body.query_log_dropped_rows;
  };
  const isLogged = async () => (await logged()).length + (await dropped()) >= Math.min(1000, offered.count);
  await until(isLogged, 'the searches are in the query log, or counted as dropped');
  const rows = (await logged()).filter(({ query_id }) => answeredBy.has(query_id));
  assert.ok(rows.length > 20, `${rows.length} rows`);
  for (const { query_id, active_model } of rows) assert.equal(active_model, answeredBy.get(query_id));
  t.diagnostic(
    `${offered.count} searches at ${offered.perSecond.toFixed(1)}/s, ${counts.join(' and ')} by each model, ${switches} switches`,
  );
});
