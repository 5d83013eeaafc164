import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Poller, pollWatchHandler, type SourceItem } from '../../../src/actors/watches/poll-watch.ts';
import { watchesService } from '../../../src/actors/watches/watches.ts';
import { erasePages } from '../../../src/commands/forget.ts';
import { completeJob, failJob } from '../../../src/commands/move-job.ts';
import { JobError } from '../../../src/domain/errors.ts';
import { createWatchRequest, type WatchKind } from '../../../src/domain/watch.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { contextOf } from '../attempt-context.ts';
import { Hosted } from '../hosted.ts';
import { keptLog, type LogLine } from '../quiet-log.ts';

const minute = 60_000;
const hour = 60 * minute;

/** The real service, ledger and handler over a real store; the test is the wall clock, the timer, and the sources. */
class Station implements AsyncDisposable {
  now: number;
  /** When each watch was polled, by the last part of its URL. */
  readonly polls = new Map<string, number[]>();
  fails: (url: string) => boolean = () => false;
  items: SourceItem[] = [];
  leftOut = 0;
  quota: string | null = null;
  readonly lines: LogLine[];
  readonly hosted: Hosted;
  readonly temporary: TemporaryStore;
  #tick: () => void = () => {};
  #busy = 0;
  readonly #handler;

  private constructor(temporary: TemporaryStore, now: number, maxDuePerTick: number) {
    this.temporary = temporary;
    this.now = now;
    const reader = temporary.reader;
    const commit: TemporaryStore['commit'] = async (command) => {
      this.#busy++;
      try {
        return await temporary.commit(command);
      } finally {
        this.#busy--;
      }
    };
    const rss: Poller = {
      policyOf: () => ({ source: 'watch', maxItems: null }),
      poll: async ({ url }) => {
        const name = url.split('/').at(-1) ?? '';
        this.polls.set(name, [...(this.polls.get(name) ?? []), this.now]);
        if (this.fails(name)) throw new JobError('HTTP 500');
        const { items, leftOut } = this;
        return { items, leftOut, title: null, url, validators: null, feed_url: null };
      },
    };
    const { log, lines } = keptLog();
    this.lines = lines;
    const shared = {
      log,
      reader,
      commit,
      pollers: { rss },
      canonicalize: { tracking_params: ['utm_*'], keep_params: {} },
      maxAttempts: 2,
      now: () => this.now,
    };
    this.#handler = pollWatchHandler({
      ...shared,
      maxItemsPerPoll: 200,
      overQuota: () => this.quota,
      metrics: createMetrics().ofLibrary(),
    });
    this.hosted = new Hosted(
      watchesService({
        ...shared,
        defaultIntervalHours: 24,
        tickEnabled: true,
        maxDuePerTick,
        every: (_ms, run) => {
          this.#tick = run;
          return () => {};
        },
      }),
    );
  }

  static async open(now = Date.parse('2026-10-23T00:00:00Z'), maxDuePerTick = 20): Promise<Station> {
    const station = new Station(await TemporaryStore.open(), now, maxDuePerTick);
    await station.hosted.told('ready');
    return station;
  }

  create(name: string, more: object = {}) {
    return this.hosted.ask('watch.create', createWatchRequest.parse({ url: `https://feeds.test/${name}`, ...more }));
  }

  /** The timer fires, and what follows from it happens. */
  async tick(): Promise<void> {
    this.#tick();
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await new Promise(setImmediate);
      quiet = this.#busy === 0 ? quiet + 1 : 0;
    }
    await this.#work();
  }

  /** Work at the polls that the ledger gives out, as the scheduler and a job's actor would. */
  async #work(): Promise<void> {
    if (this.temporary.reader.jobs.nextDueAt('poll') === undefined) return;
    const free = { suspect: 1, index: 0, fetch: 0, poll: 50, background: 0, purge: 0, backfill: 0, entities: 0 };
    for (const { job, attempt } of await this.temporary.claim(this.now, { leaseMs: hour, free })) {
      try {
        const completion = await this.#handler(job, contextOf(this.temporary, attempt, this.now));
        await this.temporary.commit(completeJob(attempt, this.now, completion));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        await this.temporary.commit(failJob(attempt, this.now, { message, permanent: false, delayMs: 4000 }));
      }
    }
  }

  /** Minutes pass. */
  async pass(minutes: number): Promise<void> {
    for (let i = 0; i < minutes; i++) {
      this.now += minute;
      await this.tick();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hosted.stop();
    await this.temporary[Symbol.asyncDispose]();
  }
}

/** How far apart polls came, in whole hours, each once. */
const gapsH = (times: readonly number[] = []): number[] => [
  ...new Set(times.slice(1).map((time, i) => Math.round((time - times[i]) / hour))),
];

/** The zone changes its clocks in the night from 24 to 25 October 2026. */
function inZone(t: TestContext, zone: string): void {
  const before = process.env.TZ;
  process.env.TZ = zone;
  t.after(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });
}

test('three days without drift, missed or doubled polls, over a change of daylight saving time and late ticks', async (t) => {
  inZone(t, 'Europe/Berlin');
  assert.notEqual(new Date('2026-10-24').getTimezoneOffset(), new Date('2026-10-26').getTimezoneOffset());
  await using station = await Station.open();
  for (const hours of [1, 6, 24]) await station.create(`every-${hours}`, { interval_hours: hours });
  await station.settle();
  const began = station.now;
  const days = 3;
  for (let i = 0; i < days * 24 * 60; i++) {
    // Ticks come up to 50 s late and the lateness does not add up to a tick less.
    station.now = began + (i + 1) * minute + ((i * 7919) % 50) * 1000;
    await station.tick();
  }
  for (const hours of [1, 6, 24]) {
    const times = station.polls.get(`every-${hours}`) ?? [];
    assert.equal(times.length, (days * 24) / hours + 1, `every ${hours} h`);
    assert.deepEqual(gapsH(times), [hours]);
    for (const [i, time] of times.entries()) {
      const late = time - (began + i * hours * hour);
      assert.ok(late >= 0 && late < 2 * minute, `poll ${i} of every ${hours} h came ${late} ms late`);
    }
  }
});

test('the log has one line when a source begins to fail, and one when it is read again', async () => {
  await using station = await Station.open();
  await station.create('broken', { interval_hours: 1 });
  station.fails = () => true;
  await station.pass(3 * 60);
  assert.ok((station.polls.get('broken')?.length ?? 0) > 3);
  station.fails = () => false;
  await station.pass(3 * 60);
  station.fails = () => true;
  await station.pass(3 * 60);
  const told = station.lines.map(({ msg }) => msg);
  const ends = ['cannot be read', 'can be read again', 'cannot be read'];
  assert.deepEqual(
    told,
    ends.map((end) => `the source of a watch ${end}`),
  );
});

test('the log has one line when the number of entries without an address changes, and none of a full quota', async () => {
  await using station = await Station.open();
  const { id } = await station.create('feed', { interval_hours: 1 });
  for (const leftOut of [0, 2, 2, 1]) {
    station.leftOut = leftOut;
    await station.pass(60);
  }
  const told = station.lines.map(({ msg, entries }) => `${entries} ${msg}`);
  const leftOut = 'a watch skips entries without an address';
  assert.deepEqual(told, [`2 ${leftOut}`, `1 ${leftOut}`]);
  station.quota = 'the library is full';
  station.items = [{ url: 'https://site.test/new', title: null, published_at: null, content: null }];
  await station.pass(60);
  const { last_status, last_error } = await station.hosted.ask('watch.get', { watch_id: id });
  assert.deepEqual([last_status, last_error], ['error', station.quota]);
  assert.equal(station.lines.length, 2, 'the job is logged as any other that fails');
});

test('a sleep of three days is made up for by one poll, and the schedule goes on where it was', async () => {
  await using station = await Station.open();
  await station.create('feed');
  await station.settle();
  const began = station.now;
  station.now = began + 3 * 24 * hour + 5 * hour;
  await station.tick();
  await station.pass(20 * 60);
  const at = station.polls.get('feed')?.map((time) => (time - began) / hour);
  assert.deepEqual(at, [0, 77, 96]);
});

test('a clock that jumps ahead and back moves polls, doubles none and loses none', async () => {
  await using station = await Station.open();
  const { id } = await station.create('feed', { interval_hours: 6 });
  await station.settle();
  const began = station.now;
  const at = () => station.polls.get('feed')?.map((time) => (time - began) / hour);
  station.now = began + 2 * hour;
  await station.tick();
  assert.deepEqual(at(), [0]);
  station.now = began; // back by two hours
  await station.tick();
  await station.pass(6 * 60);
  assert.deepEqual(at(), [0, 6]);

  station.now += 365 * 24 * hour; // a wrong year, noticed and mended
  await station.tick();
  assert.equal(at()?.length, 3);
  station.now -= 365 * 24 * hour;
  await station.tick();
  const { next_run_at } = await station.hosted.ask('watch.get', { watch_id: id });
  assert.equal(Date.parse(next_run_at), station.now + 6 * hour, 'it does not wait for that year');
});

test('failures are tried again by the job and leave the schedule as it is', async () => {
  await using station = await Station.open();
  station.fails = () => true;
  const { id } = await station.create('feed', { interval_hours: 6 });
  await station.settle();
  const began = station.now;
  const watch = () => station.hosted.ask('watch.get', { watch_id: id });
  assert.deepEqual([(await watch()).last_status, (await watch()).last_error], ['error', 'HTTP 500']);
  await station.pass(5);
  assert.equal(station.polls.get('feed')?.length, 2, 'both attempts');
  assert.equal(Date.parse((await watch()).next_run_at), began + 6 * hour);
  station.fails = () => false;
  await station.pass(6 * 60);
  assert.deepEqual([(await watch()).last_status, (await watch()).last_error], ['ok', null]);
  assert.equal(station.polls.get('feed')?.length, 3);
});

test('of a hundred due watches as many are polled in a minute as may be, and all in the end', async () => {
  await using station = await Station.open(undefined, 4);
  await Promise.all(Array.from({ length: 100 }, (_, i) => station.create(`feed-${i}`)));
  await station.settle();
  const counts: number[] = [station.polls.size];
  for (let i = 0; i < 25; i++) {
    await station.pass(1);
    counts.push(station.polls.size);
  }
  assert.deepEqual(counts, [...Array.from({ length: 25 }, (_, i) => 4 * (i + 1)), 100]);
  assert.ok([...station.polls.values()].every((times) => times.length === 1));
});

test('a new interval counts from the last run, a run from now; a disabled watch rests', async () => {
  await using station = await Station.open();
  const { id } = await station.create('feed');
  await station.settle();
  const began = station.now;
  const update = (changes: object) => station.hosted.ask('watch.update', { watch_id: id, ...changes });
  await station.pass(60);
  assert.equal(Date.parse((await update({ interval_hours: 6 })).next_run_at), began + 6 * hour);
  const { job_id } = await station.hosted.ask('watch.run', { watch_id: id });
  assert.deepEqual(await station.hosted.ask('watch.run', { watch_id: id }), { watch_id: id, job_id }, 'one in flight');
  const { next_run_at } = await station.hosted.ask('watch.get', { watch_id: id });
  assert.equal(Date.parse(next_run_at), station.now + 6 * hour);
  await station.settle();
  assert.equal(station.polls.get('feed')?.length, 2);
  await update({ enabled: false });
  await station.pass(7 * 60);
  assert.equal(station.polls.get('feed')?.length, 2);
  await update({ enabled: true, interval_hours: null, title: 'News', config: { source: 'x' } });
  await station.settle();
  assert.equal(station.polls.get('feed')?.length, 3, 'it is due at once');
  const cleared = await update({ title: null, config: null });
  assert.deepEqual([cleared.title, cleared.config, cleared.enabled, cleared.interval_hours], [null, null, true, 6]);
});

test('items that are known or blacklisted are left out, with no visit counted', async () => {
  await using station = await Station.open();
  const item = (url: string): SourceItem => ({ url, title: null, published_at: null, content: 'what the feed says' });
  station.items = [item('https://a.test/1?utm_source=x'), item('https://bad.test/2'), item('https://a.test/3')];
  await station.temporary.commit(({ blacklist }) => {
    blacklist.put({ no: 1, kind: 'domain', pattern: 'bad.test', reason: null, created_at: 0, purging: false });
    blacklist.put({ no: 2, kind: 'url', pattern: 'https://a.test/3', reason: null, created_at: 0, purging: false });
  });
  const { id } = await station.create('feed', { interval_hours: 1 });
  await station.settle();
  await station.pass(60);
  assert.equal(station.polls.get('feed')?.length, 2);
  const { pages } = station.temporary.reader;
  const [page, ...others] = pages.all();
  const { canonical_url, visit_count, first_seen_at } = page;
  assert.deepEqual([canonical_url, visit_count, first_seen_at], ['https://a.test/1', 1, station.now - hour]);
  assert.deepEqual(others, []);
  assert.equal(pages.feedContent(1), 'what the feed says');
  assert.equal((await station.hosted.ask('watch.get', { watch_id: id })).last_item_count, 3);
});

test('an item that its source names is the same under another address, also once it is forgotten', async () => {
  await using station = await Station.open();
  const item = (guid: string, url: string): SourceItem => ({
    url,
    title: null,
    guid,
    published_at: null,
    content: null,
  });
  const at = (path: string) => `https://talks.test/${path}`;
  const { id } = await station.create('talks');
  const pages = async (...items: SourceItem[]) => {
    station.items = items;
    await station.hosted.ask('watch.run', { watch_id: id });
    await station.settle();
    return [...station.temporary.reader.pages.all()].map(({ canonical_url }) => canonical_url);
  };
  const die = (url: string) =>
    station.temporary.commit(({ pages }) => {
      const page = pages.get(pages.numberByUrl(url) ?? 0) ?? assert.fail();
      pages.put({ ...page, status: 'dead' }, page);
    });
  const first = [at('1?key=a'), at('2?key=a')];
  assert.deepEqual(await pages(item('one', first[0]), item('two', first[1])), first);
  const third = at('3?key=b');
  const shown = [item('one', at('1?key=b')), item('two', first[1]), item('three', third)];
  assert.deepEqual(await pages(...shown), [...first, third]);
  assert.deepEqual(await pages(item('three', at('3?key=c')), item('one', at('1?key=c'))), [...first, third]);
  await station.temporary.commit(erasePages([1], station.now));
  assert.deepEqual(await pages(item('one', at('1?key=d'))), [first[1], third]);
  // What could not be read may be had under another address, and is known under that one then.
  await die(first[1]);
  const again = at('2?key=d');
  assert.deepEqual(await pages(item('two', first[1]), item('one', at('1?key=e'))), [first[1], third]);
  assert.deepEqual(await pages(item('two', again)), [first[1], third, again]);
  assert.deepEqual(await pages(item('two', at('2?key=f'))), [first[1], third, again]);
  // Where that one cannot be read either it is tried once more, and not with every poll for ever.
  await die(again);
  const last = at('2?key=g');
  assert.deepEqual(await pages(item('two', last)), [first[1], third, again, last]);
  await die(last);
  assert.deepEqual(await pages(item('two', at('2?key=h'))), [first[1], third, again, last]);
  // Only as long as the watch is there.
  await station.hosted.ask('watch.delete', { watch_id: id });
  assert.equal(station.temporary.reader.watches.item(1, 'three'), undefined);
});

test('a source that is tried first says what it has, and nothing is stored', async () => {
  await using station = await Station.open();
  const check = (name: string, kind: WatchKind = 'rss') =>
    station.hosted.ask('watch.check', { url: `https://feeds.test/${name}`, kind });
  const nothing = { watch_id: null, title: null, feed_url: null, items: null, reason: null };
  station.items = [{ url: 'https://a.test/1', title: 'One', published_at: null, content: null }] as SourceItem[];
  assert.deepEqual(await check('new'), { ...nothing, items: 1 });
  station.fails = (name) => name === 'broken';
  assert.deepEqual(await check('broken'), { ...nothing, reason: 'HTTP 500' });
  assert.equal(station.temporary.reader.watches.count(), 0);
  const { id } = await station.create('known', { title: 'Known' });
  assert.deepEqual(await check('known?utm_source=x'), { ...nothing, watch_id: id, title: 'Known' });
  await assert.rejects(check('new', 'video'), { code: 'invalid', message: /kind video/ });
  await assert.rejects(station.hosted.ask('watch.check', { url: 'ftp://a.test/f', kind: 'rss' }), { code: 'invalid' });
});

test('kinds without a poller, other schemes and bad configs are refused', async () => {
  await using station = await Station.open();
  await assert.rejects(station.create('feed', { kind: 'video' }), { code: 'invalid', message: /kind video/ });
  const create = (url: string) => station.hosted.ask('watch.create', createWatchRequest.parse({ url }));
  await assert.rejects(create('ftp://a.test/f'), { code: 'invalid', message: 'url must be http or https' });
  await assert.rejects(create('/feed'), { message: 'url must have a scheme and a host' });
  for (const name of ['watch.get', 'watch.run', 'watch.delete', 'watch.update'] as const) {
    await assert.rejects(station.hosted.ask(name, { watch_id: 'wt_00000009' }), { code: 'not_found' });
  }
});
