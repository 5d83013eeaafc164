import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalService } from '../../../src/actors/search/journal.ts';
import { type FreshRun, QueryLogQueue } from '../../../src/actors/search/query-log-queue.ts';
import { type CommitCommand, commitThrough } from '../../../src/actors/system/service.ts';
import { appendRuns, purgeFromLog } from '../../../src/commands/log-queries.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { deferred } from '../../deferred.ts';
import { patienceMs } from '../../process/service.ts';
import { listOf } from '../../rows.ts';
import { queryRun } from '../../store/query-runs.ts';
import type { Hosted } from '../hosted.ts';
import { keptLog } from '../quiet-log.ts';
import { Shelf } from '../shelf.ts';

const day = 86_400_000;
const now = 1000 * day;

class Desk implements AsyncDisposable {
  readonly shelf: Shelf;
  dropped = 0;
  readonly queue = new QueryLogQueue(() => this.dropped++);
  readonly lines;
  readonly journal: Hosted;

  constructor(shelf: Shelf, commit: CommitCommand = commitThrough(shelf.ask)) {
    const { log, lines } = keptLog();
    this.shelf = shelf;
    this.lines = lines;
    const { reader } = shelf;
    const logic = journalService({
      reader,
      commit,
      queue: this.queue,
      oldBefore: async () => now - 90 * day,
      maxAttempts: 3,
      log,
      now: () => now,
    });
    this.journal = shelf.host(logic);
  }

  async list(changes: object = {}) {
    const { runs } = await this.journal.ask('queryLog.list', { limit: 100, ...changes });
    return { runs: await listOf(runs) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.journal.stop();
    await this.shelf[Symbol.asyncDispose]();
  }
}

function fresh(query_id: string, changes: Partial<FreshRun> = {}): FreshRun {
  const { candidate_set, dense_hits, sparse_hits, final_pages, ...run } = queryRun({ query_id, ts: now });
  return {
    ...run,
    retrieved: {
      sparse: { labels: Uint32Array.of(1, 3), scores: Float64Array.of(7, 6) },
      cosines: null,
      covered: 1,
      askedWords: 1,
      corrected: [],
      stems: [],
      relevance: null,
      titled: [],
      verbatim: [],
      sketches: new Map(),
      dense: { labels: Uint32Array.of(3), scores: Float32Array.of(0.5) },
      pageOf: new Map([
        [1, 1],
        [3, 2],
      ]),
      lastSeenAt: new Map(),
      ofHost: new Set(),
      quoting: new Map(),
      timing_ms: {},
    },
    fused: [
      { label: 3, score: 0.03 },
      { label: 1, score: 0.02 },
    ],
    pages: [{ page_no: 2, score: 0.03 }],
    offset: 5,
    ...changes,
  };
}

test('what finds no room, or cannot be written, is dropped and counted; the log goes on', async () => {
  const shelf = await Shelf.open();
  let diskIsFull = true;
  const commit = commitThrough(shelf.ask);
  const failing: CommitCommand = (command) =>
    diskIsFull ? Promise.reject(new DomainError('store_unavailable', 'disk full')) : commit(command);
  await using desk = new Desk(shelf, failing);
  for (let i = 0; i < 600; i++) desk.queue.offer(fresh(`qr_${i}`));
  assert.equal(desk.dropped, 600 - 512);
  assert.deepEqual((await desk.list()).runs, []);
  assert.equal(desk.dropped, 600);
  diskIsFull = false;
  desk.queue.offer(fresh('qr_last'));
  const [last, ...others] = (await desk.list()).runs;
  assert.deepEqual([last.query_id, others], ['qr_last', []]);
  assert.equal(desk.dropped, 600);
  assert.ok(desk.lines.some(({ msg }) => msg === 'runs could not be written to the query log'));
});

test('runs that came while others were written are written too, though nobody reads the log', {
  timeout: patienceMs,
}, async () => {
  const shelf = await Shelf.open();
  const commit = commitThrough(shelf.ask);
  const written = deferred();
  let more = 40;
  const busy: CommitCommand = async (command) => {
    const reply = await commit(command);
    // While the first ones are written others come, so that the queue is never empty until those it began with are written.
    if (shelf.reader.queryLog.countSince(0) > 0) for (; more < 80; more++) desk.queue.offer(fresh(`qr_${more}`));
    if (shelf.reader.queryLog.countSince(0) === 80) written.resolve();
    return reply;
  };
  await using desk = new Desk(shelf, busy);
  await desk.list(); // by then it has started
  for (let i = 0; i < 40; i++) desk.queue.offer(fresh(`qr_${i}`));
  await written.promise;
  assert.equal(desk.dropped, 0);
});

test('a stop writes down what waits', async () => {
  const desk = new Desk(await Shelf.open());
  for (let i = 0; i < 100; i++) desk.queue.offer(fresh(`qr_${i}`));
  await desk.journal.stop();
  assert.equal(desk.shelf.reader.queryLog.countSince(0), 100);
  await desk.shelf[Symbol.asyncDispose]();
});

test('runs older than what is kept are deleted at the start, however many', async () => {
  const shelf = await Shelf.open();
  const runs = Array.from({ length: 450 }, (_, i) => queryRun({ query_id: `qr_${i}`, ts: now - 90 * day - 1 - i }));
  await shelf.temporary.commit(appendRuns([...runs, queryRun({ query_id: 'qr_kept', ts: now - 90 * day })]));
  let slices = 0;
  const commit = commitThrough(shelf.ask);
  const purged = deferred();
  await using _desk = new Desk(shelf, async (command) => {
    const reply = await commit(command);
    slices++;
    if (reply === false) purged.resolve();
    return reply;
  });
  await purged.promise;
  assert.equal(slices, 3);
  assert.deepEqual(shelf.reader.queryLog.numbers({ limit: 10 }), [451]);
});

test('forgotten pages leave no hit, no place and no feedback, in runs that wait as in those written', async () => {
  const shelf = await Shelf.open();
  await shelf.add({ text: 'oak' });
  await shelf.add({ text: 'ash' });
  await using desk = new Desk(shelf);
  desk.queue.offer(fresh('qr_1'));
  await desk.journal.ask('feedback.give', { query_id: 'qr_1', page_id: 'pg_00000002', relevant: true });
  desk.queue.offer(fresh('qr_2', { pages: [{ page_no: 3, score: 1 }] }));
  const commit = commitThrough(shelf.ask);
  for (let after: number | null = 0; after !== null; ) after = await commit(purgeFromLog(new Set([2]), after));
  const { runs } = await desk.list();
  const of = (id: string) => runs.find(({ query_id }) => query_id === id);
  const kept = [of('qr_1')?.candidate_set, of('qr_1')?.final_pages, of('qr_1')?.feedback, of('qr_1')?.dense_hits];
  assert.deepEqual(kept, [[{ chunk_id: 'ck_00000001', page_id: 'pg_00000001', score: 0.02 }], [], {}, []]);
  assert.deepEqual(of('qr_2')?.final_pages, [], 'page 3 is not there');
});
