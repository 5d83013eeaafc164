/** The event stream over real HTTP: the whole system, the `eventsource` client, raw sockets that do not read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { eventsService } from '../../src/actors/system/events.ts';
import { CommitFeed } from '../../src/actors/system/service.ts';
import type { JobEventData, JobListResponse } from '../../src/domain/job.ts';
import type { Ask } from '../../src/domain/messages.ts';
import type { HttpApp } from '../../src/http/http-app.ts';
import { stopListening } from '../../src/http/listen.ts';
import { noChanges } from '../../src/store/commit.ts';
import { Hosted } from '../actors/hosted.ts';
import { compiled } from '../app/compiled.ts';
import { WholeSystem } from '../app/whole-system.ts';
import { jobRow } from '../machines/rows.ts';
import { until } from '../process/service.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { listenAnywhere, reader, testServer, writer } from './test-server.ts';

/** The system knows an error by its class, which is that of the compiled module. */
const { JobError }: typeof import('../../src/domain/errors.ts') = await compiled('domain/errors');

async function listening(t: TestContext, app: HttpApp): Promise<string> {
  t.after(() => stopListening(app, 1000));
  return `http://127.0.0.1:${await listenAnywhere(app)}`;
}

/** Has a client connect again at once, and not after its three seconds. */
function hurrying(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({ start: (stream) => stream.enqueue(Buffer.from('retry: 1\n\n')) });
}

/** A subscriber as a monitor would be one. */
class Monitor {
  readonly events: JobEventData[] = [];
  snapshots: JobListResponse[] = [];
  /** Each job's status by the latest snapshot and what came after it. */
  readonly present = new Map<string, string>();
  readonly #source: EventSource;
  #connection = new AbortController();

  constructor(url: string) {
    this.#source = new EventSource(`${url}/v1/events`, {
      fetch: async (input, { signal, ...init }) => {
        this.#connection = new AbortController();
        const headers = { ...init.headers, authorization: `Bearer ${reader}` };
        const either = AbortSignal.any([this.#connection.signal, signal as AbortSignal]);
        const { body, status, headers: answered } = await fetch(input, { ...init, headers, signal: either });
        return new Response(body?.pipeThrough(hurrying()), { status, headers: answered });
      },
    });
    this.#source.addEventListener('snapshot', ({ data }) => {
      const snapshot: JobListResponse = JSON.parse(data);
      this.snapshots.push(snapshot);
      this.present.clear();
      for (const { job_id, status } of snapshot.jobs) this.present.set(job_id, status);
    });
    this.#source.addEventListener('job', ({ data }) => {
      const event: JobEventData = JSON.parse(data);
      this.present.set(event.job_id, event.status);
      if (event.kind === 'index_page') this.events.push(event); // and not the jobs that follow them
    });
  }

  /** Lose the connection; the client makes another one by itself. */
  cut(): void {
    this.#connection.abort(new TypeError('cut off by the test'));
  }

  close(): void {
    this.#source.close();
  }

  /** Each job's last state, as this monitor knows it. */
  jobs(): Map<string, string> {
    const known = new Map(this.snapshots[0].jobs.map(({ job_id, status }) => [job_id, status] as const));
    for (const { job_id, status } of this.events) known.set(job_id, status);
    return known;
  }
}

const legalBefore: Record<string, readonly string[]> = {
  pending: ['running', 'failed', 'dead'],
  running: ['pending'],
  done: ['running', 'pending'],
  failed: ['running'],
  dead: ['running', 'pending'],
};

test('monitors that connect while jobs run and a bulk retry of 300 is made, more than a queue has room for, see every change once, in a legal order; one that is cut off begins again with a snapshot', async (t) => {
  let broken = true;
  const system = await WholeSystem.start(
    t,
    {},
    {
      aroundIndexPage: (handler) => async (job, context) => {
        if (broken) throw new JobError('broken by the test', { permanent: true });
        return handler(job, context);
      },
    },
  );
  const { app } = testServer(null, {}, { askOf: () => system.ask });
  const url = await listening(t, app);
  const monitors = [new Monitor(url)];
  const unlucky = new Monitor(url);
  t.after(() => {
    for (const monitor of [...monitors, unlucky]) monitor.close();
  });
  await until(() => [...monitors, unlucky].every(({ snapshots }) => snapshots.length === 1), 'the first snapshots');
  for (let batch = 0; batch < 5; batch++) {
    const pages = Array.from({ length: 60 }, (_, i) => [
      `${batch}-${i}`,
      { title: 'T', text: `Page ${i} of ${batch}.` },
    ]);
    await system.handIn(Object.fromEntries(pages));
    monitors.push(new Monitor(url));
    unlucky.cut();
    await until(() => unlucky.snapshots.length > batch + 1, 'it is connected again, and begins with a snapshot');
  }
  const count = async (status: 'done' | 'dead') =>
    (await system.ask('job.list', { status, kind: 'index_page', limit: 1000 })).jobs.length;
  await until(async () => (await count('dead')) === 300, 'every job is dead');
  broken = false;
  const { retried } = await system.ask('job.retryBatch', { status: 'dead', limit: 500 });
  assert.equal(retried, 300);
  await until(async () => (await count('done')) >= 300, 'every page is indexed');
  const listed = new Map(
    (await system.ask('job.list', { kind: 'index_page', limit: 1000 })).jobs.map((job) => [job.job_id, job.status]),
  );
  await until(() => monitors[0].events.filter(({ status }) => status === 'done').length >= 300, 'all was told');
  assert.deepEqual(monitors[0].jobs(), listed);
  for (const monitor of monitors) {
    assert.equal(monitor.snapshots.length, 1, 'nobody was cut off');
    const last = new Map(monitor.snapshots[0].jobs.map((job) => [job.job_id, job.status as string]));
    for (const { job_id, status, page_id } of monitor.events) {
      const before = last.get(job_id);
      if (before !== undefined) assert.ok(legalBefore[status].includes(before), `${job_id}: ${before} → ${status}`);
      last.set(job_id, status);
      if (page_id !== undefined) assert.match(page_id, /^pg_/);
    }
  }
  assert.equal(monitors[0].events.length, 300 * 6, 'pending, running, dead, pending, running, done');
  const isUpToDate = async () => {
    const { jobs } = await system.ask('job.list', { limit: 100 });
    return jobs.every(({ job_id, status }) => unlucky.present.get(job_id) === status);
  };
  assert.equal(unlucky.snapshots.length, 6);
  await until(isUpToDate, 'the last snapshot and what came after it are what GET /v1/jobs says');
});

/** An event service and a server over it, with a feed that the test publishes to. */
async function stand(t: TestContext, heartbeat_s = 15) {
  const temporary = await TemporaryStore.open();
  const feed = new CommitFeed();
  const ends: string[] = [];
  const logic = eventsService({
    reader: temporary.store.reader,
    feed,
    maxSubscribers: 16,
    queueSize: 256,
    monotonic: () => performance.now(),
    onSubscribers: () => {},
    onEnd: (reason) => ends.push(reason),
  });
  const hosted = new Hosted(logic);
  const { app } = testServer(
    null,
    {},
    { askOf: () => ((name, request) => hosted.ask(name, request)) as Ask, events: { heartbeat_s } },
  );
  const url = await listening(t, app);
  t.after(async () => {
    await hosted.stop();
    await temporary[Symbol.asyncDispose]();
  });
  let opstamp = 0;
  const publish = (count: number) => {
    const jobs = Array.from({ length: count }, (_, i) => jobRow({ no: i + 1, status: 'running' }));
    feed.publish('durable', { opstamp: ++opstamp, ...noChanges(), jobs });
  };
  return { app, url, publish, ends };
}

/** A client that asks for the stream and reads as it is told to. */
function rawClient(url: string, times = 1): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${reader}\r\n\r\n`.repeat(times));
  socket.on('error', () => {});
  return socket;
}

test('sixteen subscribers, fifteen of which never read, and 50,000 changes: the one that reads has all, memory stays', async (t) => {
  const { url, publish, ends, app } = await stand(t);
  const silent = Array.from({ length: 15 }, () => rawClient(url).pause());
  t.after(() => {
    for (const socket of silent) socket.destroy();
  });
  const good = rawClient(url);
  let seen = 0;
  let rest = '';
  good.setEncoding('latin1').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line === 'event: job') seen++;
  });
  t.after(() => good.destroy());
  await once(good, 'data');
  const refused = () => app.inject({ url: '/v1/events', headers: { authorization: `Bearer ${reader}` } });
  await until(async () => (await refused()).statusCode === 503, 'all sixteen are connected');
  const { headers, body } = await refused();
  assert.equal(body, '{"detail":"the event stream has its 16 subscribers already"}');
  assert.equal(headers['retry-after'], '5');
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  for (let sent = 0; sent < 50_000; sent += 500) {
    publish(500);
    await delay(1);
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  await until(() => ends.length === 15, 'the silent ones are ended');
  await until(() => seen === 50_000, 'the reader has all');
  t.diagnostic(`RSS grew by ${Math.round((peak - before) / 1e6)} MB; ${seen} events seen`);
  assert.ok(peak - before < 30e6, `memory grew by ${peak - before} bytes`);
  assert.ok(ends.every((reason) => reason === 'stalled'));
  assert.equal((await fetch(`${url}/v1/events`, { headers: { authorization: `Bearer ${writer}` } })).status, 200);
});

test('a connection has one place however often it asks, and gives it back when it leaves', async (t) => {
  const { url, ends, app } = await stand(t);
  const sockets = Array.from({ length: 20 }, () => rawClient(url, 4));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const statuses = await Promise.all(
    sockets.map(async (socket) => String((await once(socket, 'data'))[0]).slice(9, 12)),
  );
  assert.deepEqual(statuses.sort(), [...Array(16).fill('200'), ...Array(4).fill('503')]);
  for (const socket of sockets) socket.destroy();
  await until(() => ends.length === 16, 'all places are free');
  const again = rawClient(url);
  assert.match(String((await once(again, 'data'))[0]), /^HTTP\/1\.1 200/);
  again.destroy();
  const head = await app.inject({ method: 'HEAD', url: '/v1/events', headers: { authorization: `Bearer ${reader}` } });
  assert.equal(head.statusCode, 404);
});
