/**
 * Everything at once for READBACK_SOAK_MINUTES (ten by default): pages come and are forgotten, searches are ranked by an outside reranker that
 * fails now and then, watches are polled, subscribers of the event stream come, leave and stall, index files are rewritten. After the first
 * third open files, threads, timers and readers of the store stay as they are, and no growth of memory is shown.
 *
 * Memory is looked at in two parts, each by the least of every minute, which is what is left after a collection:
 * - what the main thread's heap has in use. What V8 keeps for that heap says nothing: a busy machine collects late, and the heap takes
 *   twice as much and gives it back.
 * - all the rest that is the process's own: without that heap, and without the pages of the store's file that it maps.
 * Before the first third is over both grow: code is compiled, threads start, allocators and heaps find their size. A line of least squares
 * goes through the minutes after that. Growth is shown where the slope is over the bound by more than twice its standard error, so a longer
 * run shows less: the error is in the report.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import { FeedServer, rss } from '../../test/app/feed-server.ts';
import { note } from '../../test/process/rare-states.ts';
import { mean, metric, round, sampleProcess, slope } from '../../test/process/samples.ts';
import { RunningService, token, until, withEntities } from '../../test/process/service.ts';
import { startFakeProvider } from '../../test/providers/fake-provider-server.ts';

const minutes = Number(process.env.READBACK_SOAK_MINUTES ?? '10');
const boundMbPerMinute = 1;
/** Of standard errors: by chance in one of forty runs. */
const surely = 2;
const warmUpShare = 1 / 3;
const sampleEveryMs = 3_000;
const live = 400;
const each = 40;
const hosts = 6;
const words = 'heron ferry ledger timber sluice lantern barge cargo quay tide pilot beacon winch keel rope'.split(' ');
const textOf = (no: number) =>
  Array.from({ length: 250 }, (_, i) => `${words[(no + i * (1 + (no % 5))) % words.length]} ${i % 30}`).join(' ');

test('mixed load leaves memory, files, threads and timers as they are', {
  timeout: (minutes + 5) * 60_000,
}, async (t) => {
  const provider = await startFakeProvider(t, { dim: 32 });
  const web = await FeedServer.start(t);
  const service = await RunningService.start(t, {
    ...withEntities,
    SERVICE_RERANKER__KIND: 'api',
    SERVICE_RERANKER__PROVIDER: 'openai',
    SERVICE_RERANKER__MODEL: 'cross-encoder',
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${provider.url}/v1`,
    SERVICE_PROVIDERS__OPENAI__API_KEY: 'key-of-the-soak',
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_RESILIENCE__BREAKER_COOLDOWN_S: '1',
    SERVICE_FORGET__COMPACT_AFTER_S: '5',
    SERVICE_EVENTS__QUEUE_SIZE: '16',
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_FETCH__PER_HOST_GAP_MS: '0',
    SERVICE_QUERY_LOG__KEEP_DAYS: '1',
  });
  let going = true;
  const done = { pages: 0, searches: 0, forgets: 0, polls: 0, subscriptions: 0 };
  const push = async (host: string, count: number) => {
    const pages = Array.from({ length: count }, (_, i) => ({ url: `https://${host}/${i}`, body_extracted: textOf(i) }));
    const { status, body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
      pages,
    });
    assert.ok(status < 300, `${status}`);
    await service.settled(
      body.results.map(({ page_id }) => page_id),
      120_000,
    );
    done.pages += count;
  };
  for (let at = 0; at < live; at += 100) await push(`stays${at}.example`, 100);

  const comeAndGo = async () => {
    for (let at = 0; going; at++) {
      const host = `goes${at % hosts}.example`;
      await push(host, each);
      const { status, body } = await service.call<{ blacklist_id: string }>('POST', '/v1/forget', { domain: host });
      assert.equal(status, 200);
      assert.ok((await service.call('DELETE', `/v1/blacklist/${body.blacklist_id}`)).status < 300);
      done.forgets++;
      await delay(400);
    }
  };
  const search = async () => {
    for (let at = 0; going; at++) {
      const query = `${words[at % words.length]} ${words[(at * 7) % words.length]}`;
      const { status } = await service.call('POST', '/v1/search', { query, k: 10 });
      assert.equal(status, 200);
      done.searches++;
      await delay(20);
    }
  };
  const poll = async () => {
    const links = Array.from({ length: 5 }, (_, i) => ({ link: `/item/${i}` }));
    for (const { link } of links) web.serve(link, { headers: { 'content-type': 'text/plain' }, body: textOf(9) });
    web.serve('/feed', rss(links));
    const { body } = await service.call<{ id: string }>('POST', '/v1/watches', { kind: 'rss', url: `${web.url}/feed` });
    while (going) {
      assert.ok((await service.call('POST', `/v1/watches/${body.id}/run`)).status < 500);
      done.polls++;
      await delay(3_000);
    }
  };
  /** One that stalls at a time, and one that reads for a while and leaves. */
  const subscribe = async () => {
    const { hostname, port } = new URL(service.url);
    const head = `GET /v1/events HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const open = () => {
      done.subscriptions++;
      const socket = connect(Number(port), hostname, () => socket.write(head));
      socket.on('error', () => {});
      return socket;
    };
    let stalled = open().pause();
    t.after(() => void stalled.destroy());
    while (going) {
      if (stalled.closed) stalled = open().pause();
      const reading = open().resume();
      await delay(5_000);
      reading.destroy();
    }
  };
  /** The reranker fails for some seconds of each twenty, long enough for its breaker to open and try again. */
  const fail = async () => {
    while (going) {
      provider.faultOf = () => ({ kind: 'status', status: 500 });
      await delay(4_000);
      provider.faultOf = () => undefined;
      await delay(16_000);
    }
  };
  const began = performance.now();
  const samples: (ReturnType<typeof sampleProcess> & {
    minute: number;
    timers: number;
    heapMb: number;
    /** Its own memory but for the main thread's heap. */
    restMb: number;
  })[] = [];
  const sample = async () => {
    while (performance.now() - began < minutes * 60_000) {
      const timers = await metric(service, 'nodejs_active_resources{type="Timeout"}');
      const heapMb = (await metric(service, 'nodejs_heap_size_used_bytes')) / 2 ** 20;
      const keptMb = (await metric(service, 'nodejs_heap_size_total_bytes')) / 2 ** 20;
      const taken = sampleProcess(service);
      const minute = (performance.now() - began) / 60_000;
      samples.push({ ...taken, minute, timers, heapMb, restMb: taken.ownMb - keptMb });
      await delay(sampleEveryMs);
    }
    going = false;
  };
  await Promise.all([comeAndGo(), search(), search(), poll(), subscribe(), fail(), sample()]);

  const later = samples.filter(({ minute }) => minute > minutes * warmUpShare);
  const half = Math.floor(later.length / 2);
  const grown = (of: 'openFiles' | 'threads' | 'timers' | 'storeReaders') =>
    round(mean(later.slice(half).map((each) => each[of])) - mean(later.slice(0, half).map((each) => each[of])));
  const growth = {
    files: grown('openFiles'),
    threads: grown('threads'),
    timers: grown('timers'),
    readers: grown('storeReaders'),
  };
  /** The least of each whole minute of these samples: what is left when garbage is collected. */
  const leastOfMinutes = (of: 'residentMb' | 'heapMb' | 'restMb', among: typeof samples) => {
    const leasts = new Map<number, number>();
    for (const each of among) {
      const minute = Math.floor(each.minute);
      leasts.set(minute, Math.min(leasts.get(minute) ?? Number.POSITIVE_INFINITY, each[of]));
    }
    return [...leasts].map(([x, y]) => ({ x, y }));
  };
  const told = (of: 'residentMb' | 'heapMb' | 'restMb') =>
    leastOfMinutes(of, samples)
      .map(({ y }) => Math.round(y))
      .join(' ');
  const heap = slope(leastOfMinutes('heapMb', later));
  const rest = slope(leastOfMinutes('restMb', later));
  note({
    counts: {
      minutes,
      ...done,
      resident_mb: Math.round(later.at(-1)?.residentMb ?? 0),
      heap_mb_per_minute: `${round(heap.slope)} ± ${round(heap.error)}`,
      rest_mb_per_minute: `${round(rest.slope)} ± ${round(rest.error)}`,
      resident_mb_each_minute: told('residentMb'),
      heap_mb_each_minute: told('heapMb'),
      rest_mb_each_minute: told('restMb'),
      store_readers: later.at(-1)?.storeReaders ?? 0,
      ...Object.fromEntries(Object.entries(growth).map(([name, value]) => [`more_${name}`, value])),
    },
  });
  for (const [name, { slope, error }] of Object.entries({ heap, rest })) {
    const least = slope - surely * error;
    assert.ok(least < boundMbPerMinute, `${name}: ${slope} MB a minute more, give or take ${error}`);
  }
  for (const [name, value] of Object.entries(growth)) assert.ok(value < 8, `${value} more ${name}`);
  await until(async () => (await service.call('GET', '/readyz')).status === 200, 'the service is ready');
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report) && report.missing === 0, JSON.stringify(report));
});
