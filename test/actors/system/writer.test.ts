import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitFeed, maxBatch } from '../../../src/actors/system/service.ts';
import { batchLength, writerService } from '../../../src/actors/system/writer.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { FatalError } from '../../../src/domain/errors.ts';
import { type Commit, noChanges } from '../../../src/store/commit.ts';
import type { Command, Store } from '../../../src/store/store.ts';
import { submission } from '../../commands/submissions.ts';
import { deferred } from '../../deferred.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { turn, turnUntil } from '../../turns.ts';
import { Hosted } from '../hosted.ts';
import { keptLog, type LogLine } from '../quiet-log.ts';

type WritableStore = Pick<Store, 'transact' | 'compact' | 'close'>;

async function startWriter(store: WritableStore, flushTimeoutMs = 600_000) {
  const feed = new CommitFeed();
  const { log, lines } = keptLog();
  const hosted = new Hosted(writerService({ store, feed, log, flushTimeoutMs }));
  await hosted.told('ready');
  return {
    hosted,
    feed,
    lines,
    trouble: () => hosted.ask('store.trouble', {}),
    commit: (command: Command<unknown>) => hosted.ask('store.commit', { command, weight: 1 }),
  };
}

/** A store of which every call is given by the test. */
const storeThat = (transact: WritableStore['transact']): WritableStore => ({
  transact,
  compact: () => Promise.reject(new Error('unused')),
  close: async () => {},
});

const written = (lines: readonly LogLine[]) => lines.map(({ level, msg, writes }) => [level, msg, writes]);
/** A store whose commits reach the disk when the test says so. */
class SlowDisk implements WritableStore {
  readonly #store: Store;
  flush: (() => void)[] = [];
  break: (() => void)[] = [];
  closed = false;

  constructor(store: Store) {
    this.#store = store;
  }

  async transact(commands: readonly Command<unknown>[]): Promise<Commit> {
    const commit = await this.#store.transact(commands);
    const flushed = new Promise<void>((resolve, reject) => {
      this.flush.push(resolve);
      this.break.push(() => reject(new Error('I/O error')));
    });
    return { ...commit, flushed };
  }

  compact() {
    return this.#store.compact();
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

const until = (holds: () => boolean) => turnUntil(holds, 'it comes to hold');
const page = (path: string) => ingestPage(submission({ canonical_url: `https://example.com/${path}` }));

test('the feed tells of a write when readers see it and when it is on the disk, and only then is it answered', async () => {
  await using temporary = await TemporaryStore.open();
  const disk = new SlowDisk(temporary.store);
  const { feed, commit } = await startWriter(disk);
  const log: string[] = [];
  for (const moment of ['visible', 'durable'] as const)
    feed.subscribe(moment, ({ opstamp, pages, jobs }) =>
      log.push(`${moment} ${opstamp}: ${pages.length} page, ${jobs.length} job`),
    );
  const answered = commit(page('a')).then((reply) => log.push(`answered ${JSON.stringify(reply)}`));
  await until(() => disk.flush.length === 1);
  assert.equal(temporary.reader.pages.count(), 1, 'committed');
  for (let turns = 0; turns < 50; turns++) await turn();
  const seen = ['visible 1: 1 page, 1 job'];
  assert.deepEqual(log, seen);
  disk.flush[0]();
  await answered;
  assert.deepEqual(log, [...seen, 'durable 1: 1 page, 1 job', 'answered {"outcome":"accepted","page_no":1}']);
});

test('the next batch is committed while the one before is on its way to the disk; the feed keeps their order', async () => {
  await using temporary = await TemporaryStore.open();
  const { feed, commit } = await startWriter(temporary.store);
  const told: number[] = [];
  const urls: string[] = [];
  feed.subscribe('durable', ({ opstamp, pages }) => {
    told.push(opstamp);
    urls.push(...pages.map(({ canonical_url }) => canonical_url.slice(20)));
  });
  const names = Array.from({ length: 300 }, (_, index) => String(index));
  const replies = await Promise.all(names.map((name) => commit(page(name))));
  const seen = replies;
  assert.deepEqual(
    seen,
    names.map((_, index) => ({ outcome: 'accepted', page_no: index + 1 })),
  );
  assert.deepEqual(urls, names);
  assert.deepEqual(
    told,
    told.map((_, index) => index + 1),
  );
  assert.ok(told.length < 10, `${told.length} commits for 300 writes`);
});

test('a batch whose flush is heard of before that of an earlier one is told and answered after it', async () => {
  await using temporary = await TemporaryStore.open();
  const disk = new SlowDisk(temporary.store);
  const { feed, commit } = await startWriter(disk);
  const log: string[] = [];
  feed.subscribe('durable', ({ opstamp }) => log.push(`told ${opstamp}`));
  const first = commit(page('a')).then(() => log.push('answered a'));
  await until(() => disk.flush.length === 1);
  const second = commit(page('b')).then(() => log.push('answered b'));
  await until(() => disk.flush.length === 2);
  disk.flush[1]();
  for (let turns = 0; turns < 50; turns++) await turn();
  assert.deepEqual(log, []);
  disk.flush[0]();
  await Promise.all([first, second]);
  assert.deepEqual(log, ['told 1', 'answered a', 'told 2', 'answered b']);
});

test('a command that throws is rejected with what it threw, the others of its batch are answered', async () => {
  await using temporary = await TemporaryStore.open();
  const { commit } = await startWriter(temporary.store);
  const outcomes = await Promise.allSettled([
    commit(page('a')),
    commit(page('b')),
    commit(() => {
      throw new RangeError('mine');
    }),
    commit(page('c')),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
    [
      { outcome: 'accepted', page_no: 1 },
      { outcome: 'accepted', page_no: 2 },
      'RangeError: mine',
      { outcome: 'accepted', page_no: 3 },
    ],
  );
});

const unavailable = { code: 'store_unavailable', retryAfterS: 5 };

test('a store that cannot be written refuses, is logged, and is tried again with the next write', async () => {
  await using temporary = await TemporaryStore.open();
  let full = true;
  const { hosted, lines, commit } = await startWriter(
    storeThat(async (commands) => {
      if (full) throw new Error('no space');
      return temporary.store.transact(commands);
    }),
  );
  await assert.rejects(commit(page('a')), unavailable);
  await assert.rejects(commit(page('a')), unavailable);
  full = false;
  assert.deepEqual(await commit(page('a')), { outcome: 'accepted', page_no: 1 });
  assert.deepEqual(written(lines), Array(2).fill([50, 'the store could not be written', 1]));
  assert.deepEqual(hosted.events, [{ type: 'ready' }]);
});

test('a commit that does not reach the disk is refused, and told as seen by readers, and not as on the disk', async () => {
  await using temporary = await TemporaryStore.open();
  const disk = new SlowDisk(temporary.store);
  const { feed, commit } = await startWriter(disk);
  const told: string[] = [];
  for (const moment of ['visible', 'durable'] as const) feed.subscribe(moment, () => told.push(moment));
  const asked = commit(page('a'));
  asked.catch(() => {});
  await until(() => disk.break.length === 1);
  disk.break[0]();
  await assert.rejects(asked, unavailable);
  assert.deepEqual(told, ['visible']);
  assert.equal(temporary.reader.pages.count(), 1);
});

test('a disk that does not answer: who waits and who comes is refused, until it answers', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using temporary = await TemporaryStore.open();
  const disk = new SlowDisk(temporary.store);
  const { feed, lines, commit, trouble } = await startWriter(disk, 20_000);
  const told: string[] = [];
  feed.subscribe('durable', ({ pages }) => told.push(...pages.map(({ canonical_url }) => canonical_url.slice(20))));
  const stuck = commit(page('stuck'));
  await until(() => disk.flush.length === 1);
  t.mock.timers.tick(20_000);
  await assert.rejects(stuck, unavailable);
  assert.equal(await trouble(), 'the disk has not answered for 20000 ms');
  await assert.rejects(commit(page('while it is stuck')), unavailable);
  assert.deepEqual(told, []);
  disk.flush[0]();
  await until(() => told.length === 1);
  const again = commit(page('again'));
  await until(() => disk.flush.length === 2);
  disk.flush[1]();
  assert.deepEqual(await again, { outcome: 'accepted', page_no: 2 });
  assert.deepEqual([told, await trouble()], [['stuck', 'again'], null]);
  assert.deepEqual(written(lines), [[50, 'the store could not be written', 1]]);
});

test('what waits behind a batch that the disk does not take is refused and never carried out', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using temporary = await TemporaryStore.open();
  let taken = false;
  const stuck = deferred();
  const { feed, commit } = await startWriter(
    storeThat(async (commands) => {
      taken = true;
      await stuck.promise;
      return temporary.store.transact(commands);
    }),
    20_000,
  );
  let told = 0;
  feed.subscribe('durable', () => told++);
  const asked = Promise.allSettled([commit(page('first')), commit(page('queued'))]);
  await until(() => taken);
  t.mock.timers.tick(20_000);
  for (const each of await asked) {
    assert.ok(each.status === 'rejected' && each.reason.code === unavailable.code);
  }
  stuck.resolve();
  await until(() => told === 1);
  await commit(page('later'));
  const urls = [...temporary.reader.pages.all()].map(({ canonical_url }) => canonical_url.slice(20));
  assert.deepEqual(urls, ['first', 'later']);
});

test('while there is trouble, asking for it tries a write, so that it is known when it is over', async () => {
  await using temporary = await TemporaryStore.open();
  let full = true;
  const { commit, trouble } = await startWriter(
    storeThat(async (commands) => {
      if (full) throw new Error('the commit failed', { cause: new Error('no space') });
      return temporary.store.transact(commands);
    }),
  );
  assert.equal(await trouble(), null);
  await assert.rejects(commit(page('a')), unavailable);
  assert.equal(await trouble(), 'no space');
  full = false;
  await turnUntil(async () => (await trouble()) === null, 'the trouble is over');
});

test('that an earlier batch reaches the disk does not mean that a refused one could', async () => {
  await using temporary = await TemporaryStore.open();
  const disk = new SlowDisk(temporary.store);
  const { commit, trouble } = await startWriter(disk);
  const earlier = commit(page('a'));
  await until(() => disk.flush.length === 1);
  disk.transact = () => Promise.reject(new Error('no space'));
  await assert.rejects(commit(page('b')), unavailable);
  disk.flush[0]();
  await earlier;
  assert.equal(await trouble(), 'no space');
});

test('a failed flush is the end of the writer: it says so once, and the system has to stop', async () => {
  const failure = new FatalError('not on the disk', { cause: new Error('I/O error') });
  const { hosted, commit } = await startWriter(storeThat(() => Promise.reject(failure)));
  await assert.rejects(commit(page('a')), { code: 'store_unavailable' });
  await hosted.told('crashed');
  assert.deepEqual(hosted.events.at(-1), { type: 'crashed', error: failure });
});

test('after a flush that failed for good whoever waits and whoever comes is refused, also where what was begun never ends', async () => {
  const failure = new FatalError('not on the disk', { cause: new Error('I/O error') });
  let begun = 0;
  const flush = deferred();
  const results = [{ ok: true, reply: 'there' } as const];
  const commit = { opstamp: 1, results, changes: noChanges(), steps: [], flushed: flush.promise };
  const never = new Promise<Commit>(() => {});
  const { hosted, commit: ask } = await startWriter(storeThat(() => (++begun === 1 ? Promise.resolve(commit) : never)));
  const asked = Promise.allSettled([ask(page('flushed in vain')), ask(page('begun')), ask(page('queued'))]);
  await until(() => begun === 2);
  flush.reject(failure);
  for (const each of await asked) assert.ok(each.status === 'rejected' && each.reason.code === 'store_unavailable');
  await assert.rejects(ask(page('later')), { code: 'store_unavailable' });
  assert.equal(begun, 2);
  await hosted.told('crashed');
});

test('a listener that throws harms neither the writes nor the other listeners', async () => {
  await using temporary = await TemporaryStore.open();
  const { feed, lines, commit } = await startWriter(temporary.store);
  let told = 0;
  feed.subscribe('durable', () => {
    throw new Error('bad listener');
  });
  feed.subscribe('durable', () => told++);
  assert.deepEqual(await commit(page('a')), { outcome: 'accepted', page_no: 1 });
  assert.equal(told, 1);
  assert.deepEqual(written(lines), [[50, 'a listener of the commit feed failed', undefined]]);
});

test('beyond its bound the queue refuses, and takes writes again when there is room', async () => {
  await using temporary = await TemporaryStore.open();
  const disk = new SlowDisk(temporary.store);
  const { commit } = await startWriter(disk);
  const waiting = Array.from({ length: 4096 }, () => commit(() => undefined));
  await assert.rejects(
    commit(() => undefined),
    { code: 'overloaded', retryAfterS: 1 },
  );
  const flushing = setInterval(() => {
    for (const flush of disk.flush.splice(0)) flush();
  });
  await Promise.all(waiting);
  assert.equal(await commit(() => 'room again'), 'room again');
  clearInterval(flushing);
});

test('on stop everything that was taken is on the disk and answered before the store is closed', async () => {
  await using temporary = await TemporaryStore.open();
  const disk = new SlowDisk(temporary.store);
  const { hosted, commit } = await startWriter(disk);
  const answers: unknown[] = [];
  const writes = ['a', 'b', 'c'].map((path) => commit(page(path)).then(() => answers.push([path, disk.closed])));
  void hosted.stop();
  await assert.rejects(commit(page('late')), { code: 'shutting_down' });
  await until(() => disk.flush.length === 2);
  for (const flush of disk.flush) flush();
  await Promise.all(writes);
  await hosted.told('stopped');
  assert.equal(answers.join(' '), 'a,false b,false c,false');
  assert.equal(disk.closed, true);
  assert.equal(temporary.reader.pages.count(), 3);
});

test('commands share a transaction up to its bound; a larger one has its own', () => {
  for (const [weights, length] of [
    [[1], 1],
    [Array(maxBatch + 1).fill(1), maxBatch],
    [[maxBatch - 2, 1, 1, 1], 3],
    [[1, 2 * maxBatch], 1],
    [[2 * maxBatch, 1], 1],
  ] as const) {
    assert.equal(batchLength(weights.map((weight: number) => ({ weight }))), length);
  }
});
