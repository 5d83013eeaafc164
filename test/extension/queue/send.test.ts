/** The queue against a service that is as the contract says, ended between any two of its steps. */
import 'fake-indexeddb/auto';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDB } from 'idb';
import { type Database, getMeta, openDatabase } from '../../../extension/src/queue/database.ts';
import {
  addRule,
  changeConnection,
  clearFailures,
  deleteItems,
  enqueue,
  type ReadPage,
  retryItem,
  sessionMs,
  settle,
} from '../../../extension/src/queue/queue.ts';
import { type SendDependencies, sendQueue } from '../../../extension/src/queue/send.ts';
import type { IngestItem, Outcome } from '../../../extension/src/service/client.ts';
import type { IngestBatchResult } from '../../../src/domain/page.ts';

const start = Date.parse('2026-03-01T10:00:00Z');
let databases = 0;

function openOne(): Promise<Database> {
  return openDatabase(`queue-${databases++}`);
}

function pageNo(number: number, { units = 10, at = start + number }: { units?: number; at?: number } = {}): ReadPage {
  const url = `https://example.org/${number}`;
  return { url, canonical: url, title: `Page ${number}`, visitedAt: at, html: 'x'.repeat(units), metadata: {} };
}

const room = { now: start, maxMegabytes: 10 };

/** What the contract says of ingest, in memory. */
class FakeService {
  readonly visits = new Map<string, number[]>();
  readonly bodies = new Map<string, string | undefined>();
  answer: ((pages: IngestItem[]) => Outcome<{ results: IngestBatchResult[] }> | null) | null = null;
  requests = 0;

  /** Of each page, in the order in which they came. */
  visitCounts = (): number[] => [...this.visits.values()].map(({ length }) => length);

  ingest = async (pages: IngestItem[]): Promise<Outcome<{ results: IngestBatchResult[] }>> => {
    this.requests++;
    const other = this.answer?.(pages) ?? null;
    if (other !== null) return other;
    const results = pages.map((page, index): IngestBatchResult => {
      const visits = this.visits.get(page.url);
      const page_id = page.url;
      const at = Date.parse(page.fetched_at);
      if (!(page.once && visits?.includes(at))) this.visits.set(page.url, [...(visits ?? []), at]);
      if (visits !== undefined) {
        return { outcome: 'revisit', index, page_id, status: 'queued', revisit: true, content_hash_differs: false };
      }
      this.bodies.set(page.url, page.body_html);
      return { outcome: 'accepted', index, page_id, status: 'queued' };
    });
    return { problem: null, body: { results } };
  };
}

function sendTo(database: Database, service: Pick<FakeService, 'ingest'>, now = start): SendDependencies {
  const [client, imports] = [async () => service, async () => true];
  return { database, client, now: () => now, random: () => 1, imports, undisturbed: (work) => work() };
}

/** A queue in which so many pages wait, and a service to send them to. */
async function filled(count = 0) {
  const database = await openOne();
  const service = new FakeService();
  for (let number = 0; number < count; number++) await enqueue(database, pageNo(number), room);
  return { database, service, send: (now = start) => sendQueue(sendTo(database, service, now)) };
}

async function statesOf(database: Database): Promise<Record<string, number>> {
  const states: Record<string, number> = {};
  for (const { state } of await database.getAll('items')) states[state] = (states[state] ?? 0) + 1;
  return states;
}

test('what is queued arrives, oldest first, with its text and its time, and leaves the queue', async () => {
  const { database, service, send } = await filled();
  for (let number = 0; number < 45; number++) assert.equal(await enqueue(database, pageNo(number), room), 'queued');
  assert.deepEqual(await getMeta(database, 'totals'), { items: 45, units: 450, dropped: 0 });
  assert.equal(await send(), null);
  assert.deepEqual(
    [...service.visits.keys()],
    Array.from({ length: 45 }, (_, n) => `https://example.org/${n}`),
  );
  assert.equal(service.bodies.get('https://example.org/3'), 'x'.repeat(10));
  assert.deepEqual(service.visits.get('https://example.org/3'), [start + 3]);
  assert.deepEqual(await getMeta(database, 'totals'), { items: 0, units: 0, dropped: 0 });
  assert.equal(await database.count('bodies'), 0);
  assert.equal(await database.count('log'), 45);
});

test('a page read again within the session is one visit, and later another', async () => {
  const { database, service, send } = await filled();
  const again = (at: number) => enqueue(database, pageNo(1, { at }), { ...room, now: at });
  assert.equal(await again(start), 'queued');
  assert.equal(await again(start + sessionMs - 1), 'same_visit');
  assert.equal(await again(start + 2 * sessionMs - 2), 'same_visit', 'the session goes on with each reading');
  assert.equal(await again(start + 4 * sessionMs), 'queued');
  await send();
  assert.deepEqual(service.visits.get('https://example.org/1'), [start, start + 4 * sessionMs]);
});

test('a clock that was set back makes no page the same visit, and no wait a long one', async () => {
  const { database, service, send } = await filled();
  const year = 365 * 24 * 3600_000;
  const readAt = (at: number) => enqueue(database, pageNo(1, { at }), { ...room, now: at });
  assert.equal(await readAt(start + year), 'queued');
  service.answer = () => ({ problem: 'busy', detail: 'not now', retryAfterMs: 24 * 3600_000 });
  assert.equal((await send(start + year))?.notBefore, start + year + 24 * 3600_000);
  service.answer = null;
  assert.equal(await readAt(start), 'queued');
  assert.equal(await readAt(start - sessionMs + 1), 'same_visit', 'by less than a session');
  await send(start + year);
  assert.equal(service.visits.size, 0, 'a day is waited for');
  service.answer = () => ({ problem: 'busy', detail: 'not now', retryAfterMs: 24 * 3600_000 });
  assert.equal((await send(start + year - 1))?.failures, 2, 'by a moment');
  service.answer = null;
  assert.equal(await send(), null);
  assert.deepEqual(service.visits.get(pageNo(1).url), [start + year, start]);
});

test('a page that was taken out is queued when it is saved again, and one whose later visit waits is not', async () => {
  const database = await openOne();
  const read = (at: number) => enqueue(database, pageNo(1, { at }), { ...room, now: at });
  const takeOut = (at: number) => deleteItems(database, ({ visitedAt }) => visitedAt === at);
  assert.equal(await read(start), 'queued');
  await takeOut(start);
  assert.equal(await read(start + 1000), 'queued');
  assert.equal(await read(start + 1000 + sessionMs), 'queued');
  await takeOut(start + 1000);
  assert.equal(await read(start + 2000 + sessionMs), 'same_visit');
});

class Ended extends Error {}

/** Ends whoever uses it at the given step: before a transaction or request begins, or after it is done and before anybody hears of it. */
function endingAt(database: Database, service: FakeService, endAt: number) {
  let step = 0;
  const pass = () => {
    if (step++ === endAt) throw new Ended();
  };
  const around = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      pass();
      const result = await call(...args);
      pass();
      return result;
    };
  };
  const ending = new Proxy(database, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        pass();
        const result: unknown = value.apply(target, args);
        if (name !== 'transaction') return result;
        const transaction = result as { done: Promise<void> };
        const done = transaction.done.then(pass);
        done.catch(() => undefined);
        return new Proxy(transaction, {
          get: (of, key) => {
            if (key === 'done') return done;
            const member: unknown = Reflect.get(of, key);
            return typeof member === 'function' ? member.bind(of) : member;
          },
        });
      };
    },
  });
  return {
    dependencies: sendTo(ending, { ingest: around(service.ingest) }),
    steps: () => step,
  };
}

test('a tab that was opened long ago and read now is of the visit of a tab that was read since', async () => {
  const database = await openOne();
  const minute = 60_000;
  const readAt = (opened: number, now: number) =>
    enqueue(database, pageNo(1, { at: start + opened * minute }), { ...room, now: start + now * minute });
  assert.deepEqual(
    [await readAt(50, 51), await readAt(0, 55), await readAt(56, 56)],
    ['queued', 'same_visit', 'same_visit'],
  );
});

test('ended between any two steps, every page arrives once', async (t) => {
  const most = 400;
  let steps = 0;
  for (let endAt = 0; endAt < most; endAt++) {
    const { database, service, send } = await filled(42);
    const { dependencies, steps: taken } = endingAt(database, service, endAt);
    let ended = false;
    await sendQueue(dependencies).catch((error: unknown) => {
      if (!(error instanceof Ended)) throw error;
      ended = true;
    });
    steps = Math.max(steps, taken());
    assert.equal(await send(), null);
    assert.equal(service.visits.size, 42);
    for (const visits of service.visits.values()) assert.equal(visits.length, 1, `ended at step ${endAt}`);
    assert.deepEqual(await getMeta(database, 'totals'), { items: 0, units: 0, dropped: 0 });
    if (!ended) break;
  }
  t.diagnostic(`${steps} steps`);
  assert.ok(steps > 15 && steps < most, `${steps} steps were tried`);
});

test('an answer that was lost after the service took the batch in makes no second visit', async () => {
  const { database, service, send } = await filled(5);
  const lost = async (pages: IngestItem[]): Promise<Outcome<{ results: IngestBatchResult[] }>> => {
    await service.ingest(pages.slice(0, 3));
    return { problem: 'unreachable', detail: 'the connection was cut' };
  };
  const state = await sendQueue(sendTo(database, { ingest: lost }));
  assert.deepEqual(state, {
    failures: 1,
    notedAt: start,
    notBefore: start + 30_000,
    problem: { kind: 'unreachable', detail: 'the connection was cut' },
  });
  assert.deepEqual(await statesOf(database), { waiting: 5 });
  assert.equal((await send(start + 29_999))?.failures, 1, 'it waits');
  assert.equal(service.requests, 1);
  assert.equal(await send(start + 30_000), null);
  assert.deepEqual(service.visitCounts(), [1, 1, 1, 1, 1]);
});

test('a refused token keeps every page, and what the service asks for is obeyed', async () => {
  const { database, service, send } = await filled(3);
  for (const problem of ['unauthorized', 'forbidden'] as const) {
    service.answer = () => ({ problem, detail: 'missing or invalid bearer token' });
    const state = await send();
    assert.equal(state?.problem?.kind, problem);
    assert.deepEqual(await statesOf(database), { waiting: 3 });
    await clearFailures(database);
  }
  for (const problem of ['busy', 'rate_limited'] as const) {
    service.answer = (pages) => {
      service.answer = null;
      void service.ingest(pages);
      return { problem, detail: 'not now', retryAfterMs: 3_600_000 };
    };
    const busy = await send();
    assert.equal(busy?.notBefore, start + 3_600_000, 'Retry-After is obeyed');
    assert.deepEqual(await statesOf(database), { waiting: 3 });
    await clearFailures(database);
  }
  assert.equal(await send(), null);
  assert.deepEqual(service.visitCounts(), [1, 1, 1]);
});

test('a page that is too large or invalid is set aside with its reason, and the others arrive', async () => {
  const { database, service, send } = await filled(9);
  service.answer = (pages) =>
    pages.some(({ url }) => url.endsWith('/4')) ? { problem: 'too_large', detail: 'the body is too large' } : null;
  assert.equal(await send(), null);
  assert.equal(service.visits.size, 8);
  const [left] = await database.getAll('items');
  assert.deepEqual([left.url, left.state, left.reason], ['https://example.org/4', 'refused', 'the body is too large']);
  service.answer = null;
  await retryItem(database, left.id);
  assert.equal(await send(), null);
  assert.equal(service.visits.size, 9);
});

test('a page on which the service fails is set aside once it takes others, wherever it stands; where it takes none, all wait', async () => {
  for (const at of [0, 7, 24]) {
    const { database, service, send } = await filled();
    for (let number = 0; number < 25; number++)
      await enqueue(database, pageNo(number, { units: number === at ? 90 : 10 }), room);
    service.answer = (pages) => (pages.some(({ url }) => url === pageNo(at).url) ? failing : null);
    let now = start;
    for (let run = 0; run < 6; run++) {
      // Alone it keeps nobody waiting.
      if (run === 4 && at === 24) await enqueue(database, pageNo(25), room);
      const state = await send(now);
      now = state?.notBefore ?? now;
    }
    assert.deepEqual(
      [await statesOf(database), service.visits.size],
      [{ refused: 1 }, at === 24 ? 25 : 24],
      `page ${at}`,
    );
    const [{ reason }] = await database.getAll('items');
    assert.match(reason ?? '', /accepts other pages.*internal error/);
    service.answer = () => failing;
    for (let number = 30; number < 40; number++) await enqueue(database, pageNo(number), room);
    for (let run = 0; run < 8; run++) now = (await send(now))?.notBefore ?? 0;
    assert.deepEqual(await statesOf(database), { refused: 1, waiting: 10 });
    assert.equal((await getMeta(database, 'send'))?.failures, 8);
  }
});

const failing = { problem: 'failing', detail: 'internal error', retryAfterMs: null } as const;
const brokenOff = { problem: 'unreachable', detail: 'the connection was reset' } as const;

/** Send in so many runs, each at the time that the one before gave, or fewer where all is sent; drawn from `random`. */
async function runs(
  database: Database,
  service: FakeService,
  most: number,
  random: () => number = numbersFrom(7),
): Promise<void> {
  let now = start;
  for (let run = 0; run < most; run++) {
    const state = await sendQueue({ ...sendTo(database, service, now), random });
    if (state === null) return;
    now = state.notBefore;
  }
}

const refusedOf = async (database: Database) =>
  (await database.getAll('items')).filter(({ state }) => state === 'refused').map(({ url }) => url);

test('a large page on which the service fails is set aside though the next one is large, too', async () => {
  const { database, service } = await filled();
  for (let number = 0; number < 22; number++) {
    const units = [4_000_000, 3_000_000][number] ?? 10;
    await enqueue(database, pageNo(number, { units }), { ...room, maxMegabytes: 100 });
  }
  service.answer = (pages) => (pages.some(({ url }) => url === pageNo(0).url) ? failing : null);
  await runs(database, service, 10);
  assert.deepEqual([await refusedOf(database), service.visits.size], [[pageNo(0).url], 21]);
});

test('a page that makes the service break off is set aside once it takes others', async () => {
  for (const at of [0, 5]) {
    const { database, service } = await filled(30);
    service.answer = (pages) => (pages.some(({ url }) => url === pageNo(at).url) ? brokenOff : null);
    await runs(database, service, 20);
    assert.deepEqual([await refusedOf(database), service.visits.size], [[pageNo(at).url], 29], `page ${at}`);
    const [{ reason }] = await database.getAll('items');
    assert.match(reason ?? '', /accepts other pages.*connection was reset/);
  }
});

test('where the service fails on all that it would store, a page that it leaves out says nothing of them', async () => {
  const { database, service } = await filled(2);
  const blacklisted = { outcome: 'blacklisted', index: 0, error: 'blacklisted', pattern: 'example.org' } as const;
  service.answer = ([{ url }, ...others]) =>
    others.length === 0 && url === pageNo(1).url ? { problem: null, body: { results: [blacklisted] } } : failing;
  await runs(database, service, 6, () => 1);
  assert.deepEqual([await refusedOf(database), await statesOf(database)], [[], { waiting: 1 }]);
});

test('where the service fails on all that it would store, a page that it refuses says nothing of them', async () => {
  const results = [{ outcome: 'rejected' as const, index: 0, detail: 'no host' }];
  for (const refusal of [
    { problem: 'invalid' as const, detail: 'no host' },
    { problem: null, body: { results } },
  ]) {
    const { database, service } = await filled(7);
    service.answer = (pages) =>
      pages.length === 1 && pages[0].url === pageNo(6).url ? structuredClone(refusal) : failing;
    await runs(database, service, 12, () => 1);
    assert.deepEqual(
      [await refusedOf(database), await statesOf(database)],
      [[pageNo(6).url], { refused: 1, waiting: 6 }],
    );
  }
});

test('a service that comes back between two requests is told of no page by its failures before', async () => {
  for (const failure of [failing, brokenOff]) {
    for (let failures = 0; failures < 8; failures++) {
      const { database, service } = await filled(3);
      service.answer = () => (service.requests <= failures ? failure : null);
      await runs(database, service, 12);
      assert.deepEqual([await database.count('items'), service.visits.size], [0, 3], `after ${failures} failures`);
    }
  }
});

test('rejected items are set aside, blacklisted ones go', async () => {
  const { database, service, send } = await filled(2);
  service.answer = () => ({
    problem: null,
    body: {
      results: [
        { outcome: 'rejected', index: 0, detail: 'url must have a scheme and a host' },
        { outcome: 'blacklisted', index: 1, error: 'blacklisted', pattern: 'example.org' },
      ],
    },
  });
  assert.equal(await send(), null);
  assert.deepEqual(
    (await database.getAll('items')).map(({ state, reason }) => [state, reason]),
    [['refused', 'url must have a scheme and a host']],
  );
  assert.deepEqual(
    (await database.getAll('log')).map(({ url, outcome }) => [url, outcome]),
    [['https://example.org/1', 'blacklisted']],
  );
});

test('beyond its bound the oldest lose their text, and are handed in by their address', async () => {
  const { database, service, send } = await filled();
  const bound = { now: start, maxMegabytes: 1 };
  for (let number = 0; number < 12; number++) await enqueue(database, pageNo(number, { units: 100_000 }), bound);
  assert.deepEqual(await getMeta(database, 'totals'), { items: 12, units: 500_000, dropped: 0 });
  await send();
  assert.equal(service.visits.size, 12, 'no page is lost');
  assert.deepEqual(
    [...service.bodies.values()].map((body) => body !== undefined),
    [...Array<boolean>(7).fill(false), ...Array<boolean>(5).fill(true)],
  );
});

test('refused pages lose their text before waiting ones do', async () => {
  const { database, service, send } = await filled();
  const bound = { now: start, maxMegabytes: 1 };
  for (let number = 0; number < 2; number++) await enqueue(database, pageNo(number, { units: 100_000 }), bound);
  await enqueue(database, pageNo(2, { units: 200_000 }), bound);
  service.answer = (pages) =>
    pages.some(({ url }) => url === pageNo(2).url) ? { problem: 'invalid', detail: 'no' } : null;
  await send();
  for (let number = 3; number < 8; number++) await enqueue(database, pageNo(number, { units: 100_000 }), bound);
  assert.deepEqual(await getMeta(database, 'totals'), { items: 6, units: 500_000, dropped: 0 });
  assert.deepEqual(
    (await database.getAll('items')).map(({ state, size }) => [state, size]),
    [['refused', 0], ...Array<unknown>(5).fill(['waiting', 100_000])],
  );
});

test('an item that waits for an answer can be taken out between two runs', async () => {
  const { database, service, send } = await filled(3);
  assert.equal(await deleteItems(database, ({ url }) => url.endsWith('/1')), 1);
  service.answer = () => ({ problem: 'unreachable', detail: 'gone' });
  await send();
  assert.deepEqual(await statesOf(database), { waiting: 2 });
  assert.equal(await deleteItems(database, ({ url }) => url.endsWith('/2')), 1);
  service.answer = null;
  assert.equal(await send(start + 30_000), null);
  assert.deepEqual([...service.visits.keys()], ['https://example.org/0']);
});

test('a request of a worker that was ended, which the service takes in beside the next one, counts once', async () => {
  const { database, service } = await filled(5);
  let underWay: IngestItem[] = [];
  const leaving = async (pages: IngestItem[]): Promise<never> => {
    underWay = pages;
    throw new Ended();
  };
  await assert.rejects(sendQueue(sendTo(database, { ingest: leaving })), Ended);
  const beside = async (pages: IngestItem[]) => {
    await service.ingest(underWay.slice(0, 2));
    const answer = await service.ingest(pages);
    await service.ingest(underWay.slice(2));
    return answer;
  };
  assert.equal(await sendQueue(sendTo(database, { ingest: beside })), null);
  assert.deepEqual(service.visitCounts(), [1, 1, 1, 1, 1]);
});

/** Numbers in [0, 1), others for another seed. */
function numbersFrom(seed: number): () => number {
  let drawn = seed;
  return () => {
    drawn = (drawn * 48_271) % 2_147_483_647;
    return drawn / 2_147_483_647;
  };
}

test('while the service is away for a week it is asked at bounded, spread times, and then everything arrives once', async () => {
  const { database, service, send } = await filled();
  service.answer = () => ({ problem: 'unreachable', detail: 'nobody is there' });
  const dependencies = { ...sendTo(database, service), random: numbersFrom(1) };
  const week = 7 * 24 * 3600_000;
  const times: number[] = [];
  /** The first tries are with a batch. */
  const batches = 2;
  for (let now = start; now < start + week; ) {
    // A page is read between two tries. What is known of the tries before is what is stored: a worker lives for one.
    await enqueue(database, pageNo(times.length, { at: now }), { ...room, now });
    times.push(now);
    const state = await sendQueue({ ...dependencies, now: () => now });
    assert.equal(state?.problem?.kind, 'unreachable');
    now = state?.notBefore ?? 0;
  }
  assert.equal(service.requests, 2 * times.length - batches, 'then a page and another one, which may not be at fault');
  for (const [at, time] of times.slice(1).entries()) {
    const full = Math.min(30 * 60_000, 30_000 * 2 ** Math.min(20, at));
    const wait = time - times[at];
    assert.ok(wait >= full / 2 && wait <= full, `try ${at} was waited for ${wait} ms`);
  }
  service.answer = null;
  assert.equal(await send(start + 2 * week), null);
  assert.deepEqual([...service.visits.values()].flat(), times, 'each of its time, oldest first, once');
  assert.deepEqual(await getMeta(database, 'totals'), { items: 0, units: 0, dropped: 0 });
  assert.equal((await getMeta(database, 'send'))?.failures, 0);
});

test('browsers that failed together do not come together', async () => {
  const waits = await Promise.all(
    [1, 2, 3].map(async (seed) => {
      const { database, service } = await filled();
      service.answer = () => ({ problem: 'unreachable', detail: 'nobody is there' });
      await enqueue(database, pageNo(0), room);
      const state = await sendQueue({ ...sendTo(database, service), random: numbersFrom(seed * 7919) });
      return state?.notBefore;
    }),
  );
  assert.equal(new Set(waits).size, 3);
});

test('what an earlier version had under way waits again', async () => {
  const name = `queue-${databases++}`;
  const before = await openDB(name, 1, {
    upgrade(database) {
      const items = database.createObjectStore('items', { keyPath: 'id', autoIncrement: true });
      items.createIndex('order', ['state', 'rank', 'id']);
      items.createIndex('canonical', 'canonical');
      database.createObjectStore('bodies');
      database.createObjectStore('visits', { keyPath: 'canonical' }).createIndex('lastReadAt', 'lastReadAt');
      database.createObjectStore('imported', { keyPath: 'canonical' });
      database.createObjectStore('log', { keyPath: 'id', autoIncrement: true }).createIndex('url', 'url');
      database.createObjectStore('meta');
    },
  });
  for (const [number, state] of ['sending', 'waiting', 'refused'].entries()) {
    const { html: _, ...page } = pageNo(number);
    await before.add('items', { ...page, state, rank: 0, queuedAt: start, size: 0, attempts: 1, reason: null });
  }
  before.close();
  const database = await openDatabase(name);
  const service = new FakeService();
  assert.equal(await sendQueue(sendTo(database, service)), null);
  assert.deepEqual([...service.visits.keys()].sort(), ['https://example.org/0', 'https://example.org/1']);
  assert.deepEqual(await statesOf(database), { refused: 1 });
});

test('of one service, each pasted token counts as a library of its own; what is blocked stays so until the next list', async () => {
  const database = await openOne();
  const by = (token: string) => ({ address: 'http://localhost:8000', token, name: token, library: null });
  await changeConnection(database, by('work'));
  await enqueue(database, pageNo(0), room);
  assert.equal(await sendQueue(sendTo(database, new FakeService())), null);
  await addRule(database, { kind: 'domain', pattern: 'bank.example' });
  await changeConnection(database, by('work'));
  assert.equal(await database.count('visits'), 1);
  await changeConnection(database, by('home'));
  assert.equal(await database.count('visits'), 0);
  assert.equal((await getMeta(database, 'blacklist'))?.rules.length, 1);
  await changeConnection(database, by('work'));
  await changeConnection(database, null);
  assert.doesNotMatch(
    JSON.stringify(await database.getAll('meta')),
    /home|work/,
    'no token stays when it is disconnected',
  );
});

test('a page that waits for another library than it was read for is one visit there, and one that was refused waits again', async () => {
  const database = await openOne();
  const by = (library: string) => ({ address: 'http://localhost:8000', token: 't', name: 'n', library });
  await changeConnection(database, by('home'));
  await enqueue(database, pageNo(0), room);
  await enqueue(database, pageNo(1), room);
  const [, refused] = await database.getAll('items');
  await settle(database, [{ id: refused.id, fate: { to: 'refused', reason: 'that of home' } }], start);
  await changeConnection(database, by('work'));
  const again = { ...pageNo(0), visitedAt: start + 60_000 };
  assert.equal(await enqueue(database, again, { ...room, now: start + 60_000 }), 'same_visit');
  assert.deepEqual(await statesOf(database), { waiting: 2 });
});
