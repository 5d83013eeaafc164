/** A start with ten thousand queued jobs, a thousand dead ones and five hundred watches that are due: ready soon, and nobody is flooded. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FeedServer, rss } from '../../test/app/feed-server.ts';
import { note } from '../../test/process/rare-states.ts';
import { RunningService, token, until } from '../../test/process/service.ts';
import { startFakeProvider } from '../../test/providers/fake-provider-server.ts';

const queued = 10_000;
const dead = 1_000;
const watches = 500;
const maxDuePerTick = 20;
const readyWithinMs = 5_000;
/** Of an empty folder, on a quiet machine. */
const usualStartMs = 1_500;
const dim = 32;
/** Far above the places for index jobs and searches together. */
const mostCallsAtOnce = 32;

test('a start with much to do is ready soon and floods nobody', { timeout: 540_000 }, async (t) => {
  const provider = await startFakeProvider(t, { dim });
  const web = await FeedServer.start(t);
  for (let no = 0; no < watches; no++) web.serve(`/feed/${no}`, rss([]));
  const service = RunningService.prepare(t, {
    SERVICE_EMBEDDER__PROVIDER: 'openai',
    SERVICE_EMBEDDER__MODEL: 'words-32',
    SERVICE_EMBEDDER__DIM: `${dim}`,
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${provider.url}/v1`,
    SERVICE_PROVIDERS__OPENAI__API_KEY: 'key-of-the-storm',
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_RESILIENCE__BREAKER_FAILURE_THRESHOLD: '1000000',
    SERVICE_EVENTS__QUEUE_SIZE: '16',
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_FETCH__PER_HOST_GAP_MS: '0',
    SERVICE_WATCH__MAX_DUE_PER_TICK: String(maxDuePerTick),
  });
  const page = (kind: string, no: number) => ({
    url: `https://storm.example/${kind}/${no}`,
    body_extracted: `${kind} rain ${no}`,
  });
  const push = async (kind: string, count: number) => {
    for (let at = 0; at < count; at += 100) {
      const pages = Array.from({ length: 100 }, (_, i) => page(kind, at + i));
      const { status } = await service.call('POST', '/v1/pages/batch', { pages });
      assert.ok(status < 300, `${status}`);
    }
  };
  const counted = async (status: string) => {
    const { body } = await service.call<string>('GET', '/metrics');
    return Number(new RegExp(`^jobs\\{status="${status}"\\} (\\d+)$`, 'm').exec(body)?.[1] ?? 0);
  };

  await service.start({ SERVICE_JOBS__MAX_ATTEMPTS: '1', SERVICE_WATCH__POLL_TICK_ENABLED: 'false' });
  for (let no = 0; no < dead; no += 100) {
    const urls = Array.from({ length: 100 }, (_, i) => `${web.url}/gone/${no + i}`);
    await service.call('POST', '/v1/pages/batch', { pages: urls.map((url) => ({ url })) });
  }
  await until(async () => (await counted('dead')) >= dead, 'as many jobs are dead', 240_000);
  provider.faultOf = () => ({ kind: 'hang' });
  await push('waits', queued);
  for (let no = 0; no < watches; no++) {
    const { status } = await service.call('POST', '/v1/watches', { url: `${web.url}/feed/${no}`, kind: 'rss' });
    assert.ok(status < 300, `${status}`);
  }
  await service.kill();

  const before = { feeds: web.asked.length, calls: provider.calls.length };
  let atOnce = 0;
  provider.faultOf = () => {
    atOnce = Math.max(atOnce, provider.pending);
    return undefined;
  };
  const began = performance.now();
  await service.start();
  const readyMs = performance.now() - began;
  // Somebody asks for all changes and reads none: so many overflow what the kernel holds for a socket, and then the queue.
  const { hostname, port } = new URL(service.url);
  const stalled = connect(Number(port), hostname).pause();
  stalled.on('error', () => {});
  stalled.write(`GET /v1/events HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n\r\n`);
  t.after(() => void stalled.destroy());
  const pendingAtStart = await counted('pending');
  // Two ticks at most in the first minute and a little.
  await delay(65_000);
  const polled = web.asked.slice(before.feeds).filter(({ path }) => path.startsWith('/feed/')).length;
  const done = await counted('done');
  const calls = provider.calls.length - before.calls;
  note({
    counts: {
      ready_ms: Math.round(readyMs),
      polled_in_65_s: polled,
      calls,
      calls_at_once: atOnce,
      done,
      pending_at_start: pendingAtStart,
    },
  });
  assert.ok(pendingAtStart > queued / 2, `${pendingAtStart} pending at the start`);
  assert.ok(polled > 0 && polled <= 2 * maxDuePerTick, `${polled} feeds were asked for`);
  assert.ok(calls > 0 && atOnce <= mostCallsAtOnce, `${atOnce} calls at once`);
  assert.ok(done > 0, 'work goes on');
  // Where even the start of an empty folder takes long, the machine is busy.
  assert.ok(readyMs < readyWithinMs * Math.max(1, service.startTimes[0] / usualStartMs), `ready after ${readyMs} ms`);
});
