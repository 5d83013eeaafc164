/** Whether anything holds up the event loop: a page of 10 MB, a rebuild of lost index files, an export, finding topics. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { SearchResponse } from '../../src/domain/search.ts';
import { Cli } from '../../test/cli/run-cli.ts';
import { note } from '../../test/process/rare-states.ts';
import { metric, percentile, round, watchHealth } from '../../test/process/samples.ts';
import { RunningService, until } from '../../test/process/service.ts';

const pages = 1_500;
const lagBoundMs = 100;
const healthBoundMs = 50;
/** What a busy machine takes without any of this counts so many times. */
const shareOfIdle = 5;

const vocabulary = Array.from(
  { length: 5_000 },
  (_, i) => `${'bdfgklmnprst'[i % 12]}${'aeiou'[i % 5]}${'lmnrst'[i % 6]}o${i.toString(36)}`,
);
const textOf = (no: number, words: number) =>
  Array.from({ length: words }, (_, i) => vocabulary[(no * 131 + i * i * (1 + (no % 7)) + i) % vocabulary.length]).join(
    ' ',
  );

test('nothing that is done holds up the event loop', { timeout: 560_000 }, async (t) => {
  const service = await RunningService.start(t, {
    SERVICE_CLUSTER__MIN_PAGES: '10',
    SERVICE_CLUSTER__IDLE_DEFAULT_MINUTES: '10000',
  });
  const ids: string[] = [];
  for (let at = 0; at < pages; at += 100) {
    const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
      pages: Array.from({ length: 100 }, (_, i) => ({
        url: `https://loop.example/${at + i}`,
        body_extracted: textOf(at + i, 300),
      })),
    });
    ids.push(...body.results.map(({ page_id }) => page_id));
  }
  await service.settled(ids, 180_000);

  const measured: Record<string, { health: number; lag: number }> = {};
  /** While this is done, health is asked for, and the loop's own measure of its lag begins anew. */
  const measure = async (name: string, work: () => Promise<unknown>) => {
    await metric(service, 'nodejs_eventloop_lag_p99_seconds'); // asking begins it anew
    const health = watchHealth(service);
    await work();
    const waits = await health();
    measured[name] = {
      health: round(percentile(waits, 0.95)),
      lag: round(1000 * (await metric(service, 'nodejs_eventloop_lag_p99_seconds'))),
    };
  };

  await measure('idle', () => delay(4_000));
  await measure('a page of 10 MB', async () => {
    const { status, body } = await service.call<{ page_id: string }>('POST', '/v1/pages', {
      url: 'https://loop.example/large',
      body_extracted: textOf(3, 1_100_000).slice(0, 9_500_000),
    });
    assert.equal(status, 202);
    assert.deepEqual(await service.settled([body.page_id], 240_000), ['indexed']);
  });
  await measure('an export', async () => {
    const { code, stderr } = await new Cli(service.home).run(['export', join(service.home, 'export.jsonl')]);
    assert.equal(code, 0, stderr);
  });
  await measure('topics', async () => {
    assert.equal((await service.call('POST', '/v1/clusters/recompute')).status, 202);
    const isOver = async () => {
      const { body } = await service.call<{ runs: { finished_at: string | null }[] }>('GET', '/v1/clusters/runs');
      return body.runs.length > 0 && body.runs[0].finished_at !== null;
    };
    await until(isOver, 'topics are found', 240_000);
  });
  await service.stop();
  rmSync(join(service.dataDir, 'index'), { recursive: true });
  await service.start();
  await measure('a rebuild', () =>
    until(
      async () => {
        const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query: textOf(7, 5), k: 5 });
        return body.results.length > 0 && !('rebuilding' in body.timing_ms);
      },
      'the index is back',
      240_000,
    ),
  );

  note({
    counts: Object.fromEntries(
      Object.entries(measured).map(([name, { health, lag }]) => [name, `${health} / ${lag} ms`]),
    ),
  });
  const { idle, ...busy } = measured;
  for (const [name, { health, lag }] of Object.entries(busy)) {
    assert.ok(
      health < healthBoundMs + shareOfIdle * idle.health,
      `${name}: health took ${health} ms, ${idle.health} ms when idle`,
    );
    assert.ok(lag < lagBoundMs + shareOfIdle * idle.lag, `${name}: a lag of ${lag} ms, ${idle.lag} ms when idle`);
  }
});
