import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clustersService, pagePlacement } from '../../../src/actors/clusters/clusters.ts';
import { CommitFeed, type SystemAsk } from '../../../src/actors/system/service.ts';
import { finishRun, storeDraft, storePoints } from '../../../src/commands/cluster-runs.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { completeJob, failJob } from '../../../src/commands/move-job.ts';
import type { ClusterPoint } from '../../../src/domain/cluster.ts';
import { type Changes, noChanges } from '../../../src/store/commit.ts';
import type { Command } from '../../../src/store/store.ts';
import { pageRow } from '../../machines/rows.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { Hosted } from '../hosted.ts';
import { keptLog } from '../quiet-log.ts';

const minute = 60_000;
const space = 1;

/** The real service over a real store; the test is the clock, the timer, the scheduler and the clustering. */
class Library implements AsyncDisposable {
  now = Date.parse('2026-10-23T10:00:00Z');
  readonly hosted: Hosted;
  readonly temporary: TemporaryStore;
  readonly #feed = new CommitFeed();
  #tick: () => void = () => {};
  #pages = 0;
  #busy = 0;
  #opstamp = 0;

  private constructor(temporary: TemporaryStore, cron: string | null) {
    this.temporary = temporary;
    this.hosted = new Hosted(
      clustersService({
        ask: async (name) => assert.fail(name),
        commit: (command) => this.commit(command),
        reader: temporary.reader,
        feed: this.#feed,
        settings: { min_pages: 5, min_new_pages: 3, idle_default_minutes: 15, leiden_resolution: 1, cron },
        pooling: 'mean',
        maxAttempts: 1,
        log: keptLog().log,
        now: () => this.now,
        every: (_ms, run) => {
          this.#tick = run;
          return () => {};
        },
      }),
    );
  }

  static async open(cron: string | null = null): Promise<Library> {
    const temporary = await TemporaryStore.open();
    await temporary.commit(({ models }) => {
      const model = { id: 'm', space, provider: 'local', model_name: 'm', dim: 2, max_input_tokens: 100 };
      models.put({ ...model, status: 'ready', floor: null });
      models.activate('m');
    });
    const library = new Library(temporary, cron);
    await library.hosted.told('ready');
    return library;
  }

  async commit<Reply>(command: Command<Reply>): Promise<Reply> {
    this.#busy++;
    try {
      const { results, steps, flushed } = await this.temporary.store.transact([command]);
      await flushed;
      for (const { changes } of steps) this.#feed.publish('durable', { opstamp: ++this.#opstamp, ...changes });
      const [result] = results;
      if (!result.ok) throw result.error;
      return result.reply as Reply;
    } finally {
      this.#busy--;
    }
  }

  /** Pages come: their vectors are there, and the service hears of a change. */
  async comes(count: number, domain = 'example.com'): Promise<void> {
    await this.temporary.commit(({ vectors, pages }) => {
      for (let i = 0; i < count; i++) vectors.put(space, ++this.#pages, Float32Array.of(1, 0));
      // Of others no row is asked for.
      if (domain === 'example.com') return;
      pages.put(pageRow({ no: this.#pages, domain, status: 'indexed' }), undefined);
      pages.putBody(this.#pages, 'A demo.', []);
    });
    const page = { no: this.#pages, status: 'queued', domain } as Changes['pages'][number];
    this.#feed.publish('durable', { ...noChanges(), pages: [page], opstamp: ++this.#opstamp });
  }

  /** A minute's tick after so many minutes; gives what started the runs there are, newest first. */
  async after(minutes: number): Promise<string[]> {
    this.now += minutes * minute;
    this.#tick();
    // The tick waits for turns of the event loop and for commits, never for a timer.
    for (let quiet = 0; quiet < 20; ) {
      await new Promise(setImmediate);
      quiet = this.#busy === 0 ? quiet + 1 : 0;
    }
    return this.temporary.reader.clusters.runs(100).map(({ trigger }) => trigger);
  }

  /** The run in flight ends: every page of it in one cluster. */
  async finish(isDone = true): Promise<void> {
    const at = this.now;
    const [{ job, attempt }] = await this.temporary.claim(at, { leaseMs: minute });
    assert.equal(job.kind, 'cluster');
    if (!isDone) {
      await this.commit(failJob(attempt, at, { message: 'broken', permanent: true, delayMs: 0 }));
      return;
    }
    const run = this.temporary.reader.clusters.latestRun()?.no ?? 0;
    const place = { cluster_no: 1, probability: 1, x: 0, y: 0, since: false };
    const points: ClusterPoint[] = Array.from({ length: this.#pages }, (_, i) => ({ page_no: i + 1, ...place }));
    // The pages' rows are not there, so the points are put down without asking for them.
    await this.temporary.commit(({ clusters }) => clusters.putPoints(run, points));
    assert.ok(await this.commit(storePoints(attempt, run, [])));
    assert.ok(await this.commit(storeDraft(attempt, run, [{ no: 1, size: this.#pages, x: 0, y: 0 }], {})));
    await this.commit(
      completeJob(attempt, at, (transaction) =>
        finishRun(transaction, run, { keywords: new Map([[1, ['word']]]), at, keepFrom: 0 }),
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hosted.stop();
    await this.temporary[Symbol.asyncDispose]();
  }
}

test('a quiet time starts a run when there are pages enough, and enough new ones since the last', async () => {
  await using library = await Library.open();
  assert.deepEqual(await library.after(60), [], 'nothing to cluster');
  await library.comes(4);
  assert.deepEqual(await library.after(60), [], 'fewer than min_pages');
  await library.comes(1);
  assert.deepEqual(await library.after(14), [], 'not quiet for long enough');
  assert.deepEqual(await library.after(1), ['idle']);
  assert.deepEqual(await library.after(60), ['idle'], 'one in flight');
  await library.finish();
  assert.deepEqual(await library.after(60), ['idle'], 'nothing new');
  await library.comes(2);
  assert.deepEqual(await library.after(60), ['idle'], 'fewer than min_new_pages');
  await library.comes(1);
  assert.deepEqual(await library.after(15), ['idle', 'idle']);
  await library.finish();
  assert.deepEqual(await library.after(60), ['idle', 'idle'], 'nothing new');
  await library.comes(3, 'garden.demo.example');
  assert.deepEqual(await library.after(1), ['idle', 'idle', 'idle'], 'demo pages do not wait for a quiet time');
});

test('a run that fails for good is not begun again every minute, but when pages come', async () => {
  await using library = await Library.open();
  await library.comes(5);
  assert.deepEqual(await library.after(15), ['idle']);
  await library.finish(false);
  for (let i = 0; i < 5; i++) assert.deepEqual(await library.after(1), ['idle']);
  await library.comes(1);
  assert.deepEqual(await library.after(15), ['idle', 'idle']);
});

test('runs do not wait for a clock that was set back to catch up', async () => {
  await using library = await Library.open();
  await library.comes(5);
  assert.deepEqual(await library.after(15), ['idle']);
  await library.finish();
  await library.comes(3);
  assert.deepEqual(await library.after(-24 * 60), ['idle'], 'a quiet time counts from now on');
  assert.deepEqual(await library.after(15), ['idle', 'idle']);
  await library.finish();
  assert.deepEqual(await library.after(60), ['idle', 'idle'], 'nothing new');
  await using hourly = await Library.open('30 * * * *');
  await hourly.comes(5);
  assert.deepEqual(await hourly.after(-24 * 60), []);
  assert.deepEqual(await hourly.after(30), ['cron']);
});

test('cron starts a run at its times, also while pages come and with nothing new', async () => {
  await using library = await Library.open('*/30 * * * *');
  await library.comes(5);
  assert.deepEqual(await library.after(10), []);
  await library.comes(1);
  assert.deepEqual(await library.after(20), ['cron']);
  await library.finish();
  await library.comes(1);
  assert.deepEqual(await library.after(5), ['cron']);
  await library.comes(1);
  assert.deepEqual(await library.after(25), ['cron', 'cron']);
  assert.deepEqual(await library.after(30), ['cron', 'cron'], 'one in flight');
  await library.finish();
  assert.deepEqual(await library.after(1), ['cron', 'cron', 'cron'], 'as soon as it can');
});

test('a second run is refused while one is in flight, and taken when that one is dead', async () => {
  await using library = await Library.open();
  const recompute = () => library.hosted.ask('cluster.recompute', {});
  assert.deepEqual(await recompute(), { accepted: false, detail: '0 pages have vectors; clustering needs 5' });
  await library.comes(5);
  const answers = await Promise.allSettled([recompute(), recompute(), recompute()]);
  const outcomes = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.code));
  assert.deepEqual(outcomes, [{ accepted: true, detail: null }, 'conflict', 'conflict']);
  await assert.rejects(recompute(), { code: 'conflict' });
  await library.finish(false);
  assert.deepEqual(await recompute(), { accepted: true, detail: null });
  assert.deepEqual(await library.after(0), ['manual', 'manual']);
});

test('pages without a text make no topics: they neither start a run nor count', async () => {
  await using library = await Library.open();
  await library.temporary.commit((transaction) => {
    for (let no = 1; no <= 20; no++) {
      const canonical_url = `https://example.com/${no}`;
      ingestPage({
        ...{ canonical_url, original_url: canonical_url, domain: 'example.com', title: 'A title' },
        ...{ body: null, content_hash: null, sections: [], source: null, metadata: null },
        ...{ seen_at: 0, at: 0, max_attempts: 1 },
      })(transaction);
      transaction.vectors.put(space, no, Float32Array.of(1, 0));
    }
  });
  assert.deepEqual(await library.after(60), []);
  const recomputed = await library.hosted.ask('cluster.recompute', {});
  assert.deepEqual(recomputed, { accepted: false, detail: '0 pages have vectors; clustering needs 5' });
});

test('runs wait for vectors: from the last that came the quiet time counts, and most pages must have theirs', async () => {
  await using library = await Library.open('30 * * * *');
  await library.comes(5);
  await library.after(10);
  await library.hosted.ask('cluster.place', { page_nos: [1] });
  assert.deepEqual(await library.after(10), [], 'vectors came 10 minutes ago');
  await library.temporary.commit(({ backfills }) => backfills.openGap(space, 6, 1));
  assert.deepEqual(await library.after(9), [], 'a page of few waits');
  assert.deepEqual(await library.after(5), [], 'also by cron');
  assert.deepEqual(await library.hosted.ask('cluster.recompute', {}), { accepted: true, detail: null });
  await library.finish();
  await library.temporary.commit(({ backfills }) => backfills.closeGap(space, 6));
  assert.deepEqual(await library.after(1), ['cron', 'manual'], 'the missed time is made up for');
});

test('a page whose vectors come while its batch is placed is placed, and so is a batch that failed', async () => {
  const vectors = new Set([1]);
  const asked: number[] = [];
  const placement = pagePlacement({
    reader: {
      clusters: { currentRun: () => 1, point: () => undefined },
      pages: { head: () => ({ status: 'indexed' }) },
      vectors: { has: (_space: number, no: number) => vectors.has(no) },
      backfills: { isBegun: () => false },
    } as never,
    ask: (async (_name: string, { page_nos: [no] }: { page_nos: number[] }) => {
      asked.push(no);
      if (asked.length === 1) throw new Error('the index is restarting');
      vectors.add(2);
      if (no === 1) placement.waiting.add(2);
      return [];
    }) as unknown as SystemAsk,
    commit: async () => 0 as never,
    activeSpace: () => space,
    isStopping: () => false,
  });
  for (const no of [2, 1]) placement.waiting.add(no);
  await assert.rejects(placement.placeAll(), /restarting/);
  await placement.placeAll();
  assert.deepEqual(asked, [1, 1, 2]);
  assert.ok(placement.waiting.size === 0);
});
