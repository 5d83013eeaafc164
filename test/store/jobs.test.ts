import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Job, jobKinds, jobStatuses, laneOf, lanes } from '../../src/domain/job.ts';
import { jobRow } from '../machines/rows.ts';
import { TemporaryStore } from './temporary-store.ts';

const row = fc.record({
  no: fc.integer({ min: 1, max: 12 }),
  status: fc.constantFrom(...jobStatuses),
  kind: fc.constantFrom(...jobKinds.slice(0, 4)),
  suspect: fc.boolean(),
  run_at: fc.integer({ min: 0, max: 2 ** 43 }).map((thirds) => thirds / 3),
});

test('after any changes of rows, the indexes list exactly what the rows say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), fc.nat(), async (rows, pick) => {
      await using temporary = await TemporaryStore.open();
      const model = new Map<number, Job>();
      for (const each of rows) {
        const before = model.get(each.no);
        const job = jobRow({ ...each, kind: before?.kind ?? each.kind });
        await temporary.commit((transaction) => transaction.jobs.put(job, transaction.jobs.get(job.no)));
        model.set(job.no, job);
      }
      await temporary.reopen();
      const { jobs } = temporary.reader;
      const all = [...model.values()].sort((a, b) => a.no - b.no);
      const newest = all.toReversed();
      assert.deepEqual(jobs.list({ limit: 100 }), newest);
      assert.deepEqual(jobs.list({ limit: 2 }), newest.slice(0, 2));
      for (const status of jobStatuses) {
        const having = all.filter((job) => job.status === status);
        assert.deepEqual([...jobs.withStatus(status)], having);
        assert.equal(jobs.countByStatus(status), having.length);
        assert.deepEqual(jobs.list({ status, limit: 100 }), having.toReversed());
        for (const kind of jobKinds) {
          const both = having.filter((job) => job.kind === kind).reverse();
          assert.deepEqual(jobs.list({ status, kind, limit: 1 }), both.slice(0, 1));
        }
      }
      for (const kind of jobKinds) {
        const ofKind = newest.filter((job) => job.kind === kind);
        assert.deepEqual(jobs.list({ kind, limit: 100 }), ofKind);
      }
      const now = all[pick % Math.max(1, all.length)]?.run_at ?? 0;
      for (const lane of lanes) {
        const waiting = all
          .filter((job) => laneOf(job) === lane && (job.status === 'pending' || job.status === 'failed'))
          .sort((a, b) => a.run_at - b.run_at || a.no - b.no);
        const due = waiting.filter((job) => job.run_at <= now);
        assert.deepEqual([...jobs.dueAt(lane, now)], due);
        assert.equal(jobs.nextDueAt(lane), waiting[0]?.run_at);
      }
    }),
    { seed: 20_265, numRuns: 60 },
  );
});

test('jobs of a kind and a status are listed from between long runs of others, without going through those', async (t) => {
  await using temporary = await TemporaryStore.open();
  const kindOf = (no: number) => (no <= 60 || no === 200 || no > 395 ? 'index_page' : 'extract_entities');
  await temporary.commit((transaction) => {
    for (let no = 1; no <= 400; no++) {
      transaction.jobs.put(jobRow({ no, kind: kindOf(no), status: no === 30 ? 'done' : 'pending' }), undefined);
    }
  });
  const { jobs } = temporary.reader;
  const numbers = (kind: Job['kind'], limit: number) =>
    jobs.list({ status: 'pending', kind, limit }).map(({ no }) => no);
  const all = Array.from({ length: 400 }, (_, at) => 400 - at).filter((no) => no !== 30);
  for (const kind of ['index_page', 'extract_entities'] as const) {
    const wanted = all.filter((no) => kindOf(no) === kind);
    assert.deepEqual(numbers(kind, 400), wanted);
    assert.deepEqual(numbers(kind, 7), wanted.slice(0, 7));
  }
  const rows = Reflect.get(jobs, 'rows');
  const get = t.mock.method(rows, 'get');
  assert.deepEqual(numbers('purge_vectors', 1), []);
  assert.deepEqual(numbers('index_page', 7), [400, 399, 398, 397, 396, 200, 60]);
  const read = get.mock.callCount();
  assert.ok(read > 7 && read < 100, `${read} rows were read`);
});

test('the transaction tells the rows whose status it changed, in order, and no others', async () => {
  await using temporary = await TemporaryStore.open();
  const pending = jobRow();
  const later = jobRow({ run_at: 900 });
  const running = jobRow({ status: 'running' });
  await temporary.commit((transaction) => {
    transaction.jobs.put(pending, undefined);
    transaction.jobs.put(later, pending);
    transaction.jobs.put(running, later);
  });
  await temporary.commit((transaction) => transaction.jobs.put(jobRow({ status: 'done' }), running));
  assert.deepEqual(temporary.changes.jobs, [pending, running, jobRow({ status: 'done' })]);
});
