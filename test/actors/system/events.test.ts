/** The event service over a real store, a feed that the test publishes to, and a clock that it moves. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventsService, maxBacklog, stallMs } from '../../../src/actors/system/events.ts';
import { CommitFeed } from '../../../src/actors/system/service.ts';
import { createJob } from '../../../src/commands/move-job.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import type { EventSubscription, JobEventData } from '../../../src/domain/job.ts';
import { noChanges } from '../../../src/store/commit.ts';
import type { Command } from '../../../src/store/store.ts';
import { jobRow } from '../../machines/rows.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { Hosted } from '../hosted.ts';

/** Longer than any test: a take that waits so long has nothing to come. */
const idleMs = 60_000;

class Station {
  readonly temporary: TemporaryStore;
  readonly feed = new CommitFeed();
  readonly ends: string[] = [];
  subscribers = 0;
  now = 0;
  readonly #hosted: Hosted;

  private constructor(temporary: TemporaryStore, maxSubscribers: number, queueSize: number) {
    this.temporary = temporary;
    const logic = eventsService({
      reader: temporary.reader,
      feed: this.feed,
      maxSubscribers,
      queueSize,
      monotonic: () => this.now,
      onSubscribers: (count) => {
        this.subscribers = count;
      },
      onEnd: (reason) => this.ends.push(reason),
    });
    this.#hosted = new Hosted(logic);
  }

  static async open(t: TestContext, { maxSubscribers = 16, queueSize = 256 } = {}): Promise<Station> {
    const station = new Station(await TemporaryStore.open(), maxSubscribers, queueSize);
    t.after(async () => {
      await station.#hosted.stop();
      await station.temporary[Symbol.asyncDispose]();
    });
    return station;
  }

  subscribe(): Promise<EventSubscription> {
    return this.#hosted.ask('events.subscribe', {});
  }

  stop(): Promise<unknown> {
    return this.#hosted.stop();
  }

  /** Commit; the feed is told when the reply is called. */
  async commit(...commands: Command<unknown>[]): Promise<() => void> {
    const { steps, flushed } = await this.temporary.store.transact(commands);
    await flushed;
    return () => {
      for (const { opstamp, changes } of steps)
        assert.deepEqual(this.feed.publish('durable', { opstamp, ...changes }), []);
    };
  }

  /** Changes of jobs as of one commit, without a store behind them. */
  publish(opstamp: number, count: number, last_error: string | null = null): void {
    const jobs = Array.from({ length: count }, (_, i) => jobRow({ no: i + 1, last_error }));
    assert.deepEqual(this.feed.publish('durable', { opstamp, ...noChanges(), jobs }), []);
  }
}

const newJob =
  (page_no: number | null = null): Command<unknown> =>
  (transaction) =>
    createJob(transaction, { kind: 'index_page', page_no, max_attempts: 3, at: 1000 });

function eventsIn(text: string | null): JobEventData[] {
  assert.ok(text !== null, 'the subscription has ended');
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => {
      assert.match(block, /^event: job\ndata: .*$/);
      return JSON.parse(block.slice(block.indexOf('data: ') + 6));
    });
}

test('a change that is committed but not told yet is in the snapshot and is not told again', async (t) => {
  const station = await Station.open(t);
  const early = await station.subscribe();
  const tellFirst = await station.commit(newJob(7));
  const late = await station.subscribe();
  const tellSecond = await station.commit(newJob());
  tellFirst();
  tellSecond();
  assert.deepEqual(early.snapshot.jobs, []);
  assert.equal(late.snapshot.jobs.map(({ job_id }) => job_id).join(), 'jb_00000001');
  const [first, second] = eventsIn(await early.take(idleMs));
  assert.deepEqual(first, {
    job_id: 'jb_00000001',
    kind: 'index_page',
    status: 'pending',
    attempts: 0,
    max_attempts: 3,
    last_error: null,
    created_at: '1970-01-01T00:00:01.000Z',
    updated_at: '1970-01-01T00:00:01.000Z',
    page_id: 'pg_00000007',
  });
  assert.deepEqual(eventsIn(await late.take(idleMs)), [second]);
  assert.equal('page_id' in second, false);
});

test('of a batch in which a command failed, each transaction is told by itself', async (t) => {
  const station = await Station.open(t);
  const fail: Command<unknown> = () => {
    throw new DomainError('conflict', 'no');
  };
  const tell = await station.commit(newJob(), fail, newJob());
  const { snapshot, take } = await station.subscribe();
  const tellLast = await station.commit(newJob());
  tell();
  tellLast();
  assert.equal(snapshot.jobs.length, 2);
  const told = eventsIn(await take(idleMs));
  assert.equal(told.map(({ job_id }) => job_id).join(), 'jb_00000003');
});

test('a subscriber waits for the next event, and is told when none came', async (t) => {
  const station = await Station.open(t);
  const { take } = await station.subscribe();
  assert.equal(await take(1), '');
  const waiting = take(idleMs);
  station.publish(1, 2);
  assert.equal(eventsIn(await waiting).length, 2);
});

test('places are limited however old the subscribers are, and free again when one leaves', async (t) => {
  const station = await Station.open(t, { maxSubscribers: 2 });
  const first = await station.subscribe();
  await station.subscribe();
  for (const now of [0, 60_000, 86_400_000]) {
    station.now = now;
    await assert.rejects(station.subscribe(), { code: 'overloaded' });
  }
  assert.deepEqual(station.ends, []);
  first.leave();
  assert.equal(await first.ended, 'left');
  assert.equal(await first.take(idleMs), null);
  await station.subscribe();
  assert.equal(station.subscribers, 2);
});

test('one that takes nothing is ended when its queue is over, one that moves is not, however slowly', async (t) => {
  const station = await Station.open(t, { queueSize: 10 });
  const [stalled, slow, brief] = [await station.subscribe(), await station.subscribe(), await station.subscribe()];
  station.publish(1, 11);
  await brief.take(idleMs);
  for (let second = 1; second * 1000 < stallMs; second++) {
    station.now = second * 1000;
    station.publish(1 + second, 1000);
    await slow.take(idleMs);
  }
  assert.deepEqual(station.ends, []);
  station.now = stallMs;
  station.publish(100, 1);
  assert.equal(await stalled.ended, 'stalled');
  assert.equal(await stalled.take(idleMs), null);
  assert.deepEqual(station.ends, ['stalled', 'stalled'], 'the one that took something once has stood still since, too');
  let left = 0;
  for (let text = await slow.take(0); text; text = await slow.take(0)) left += eventsIn(text).length;
  assert.ok(left > 2500, `${left} events were still waiting`);
});

test('what waits for one subscriber is bounded, too', async (t) => {
  const station = await Station.open(t);
  const [behind, ahead] = [await station.subscribe(), await station.subscribe()];
  const error = 'x'.repeat(10_000);
  for (let i = 0; i <= maxBacklog / 10_000 / 100; i++) {
    station.publish(i + 1, 100, error);
    for (let text = await ahead.take(0); text; text = await ahead.take(0));
  }
  assert.equal(await behind.ended, 'stalled');
  assert.deepEqual(station.ends, ['stalled']);
});

test('a stop ends every subscription', async (t) => {
  const station = await Station.open(t);
  const { take, ended } = await station.subscribe();
  const waiting = take(idleMs);
  await station.stop();
  assert.equal(await waiting, null);
  assert.equal(await ended, 'stopping');
});
