/** Which done jobs go when they are old, and which stay with what has its state from them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRun } from '../../src/commands/cluster-runs.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { completeJob, createJob, failJob } from '../../src/commands/move-job.ts';
import { removeOldJobs } from '../../src/commands/retry-jobs.ts';
import type { JobKind } from '../../src/domain/job.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

const free = { suspect: 9, index: 999, fetch: 9, poll: 999, purge: 9, background: 9, backfill: 9, entities: 9 };

/** Run every job that waits to its end. */
async function runAll(temporary: TemporaryStore, at: number, failing: readonly number[] = []): Promise<void> {
  for (const { job, attempt } of await temporary.claim(at, { free })) {
    const failure = { message: 'bad', permanent: true, delayMs: 0 };
    await temporary.commit(failing.includes(job.no) ? failJob(attempt, at, failure) : completeJob(attempt, at));
  }
}

/** Numbers of the jobs that are left after the old ones went, slice by slice. */
async function leftAfter(temporary: TemporaryStore, before: number): Promise<number[]> {
  let from: number | null = 0;
  for (let slices = 0; from !== null; slices++) {
    assert.ok(slices < 20, 'the slices come to an end');
    from = await temporary.commit(removeOldJobs(from, before));
  }
  const { jobs } = temporary.reader;
  const left = jobs.list({ limit: 10_000 }).map(({ no }) => no);
  const done = jobs.list({ status: 'done', limit: 10_000 }).length;
  const kinds = ['index_page', 'poll_watch', 'eval_replay', 'cluster'] satisfies JobKind[];
  const ofKinds = kinds.flatMap((kind) => jobs.list({ kind, limit: 10_000 }));
  assert.equal(jobs.countByStatus('done'), done, 'no list names a job that is gone');
  assert.equal(ofKinds.length, left.length, 'nor does a list of a kind');
  return left.sort((a, b) => a - b);
}

test('done jobs go when they are old; a page keeps its own, and dead, waiting and young ones stay', async () => {
  await using temporary = await TemporaryStore.open();
  const polled = { kind: 'poll_watch', page_no: null, max_attempts: 3 } as const;
  await temporary.commit(ingestPage(submission({ at: 100 }))); // job 1, of page 1
  await temporary.commit((transaction) => createJob(transaction, { ...polled, at: 200 })); // 2, done long ago
  await temporary.commit((transaction) => createJob(transaction, { ...polled, at: 200 })); // 3, dead
  await runAll(temporary, 210, [3]);
  await temporary.commit((transaction) => createJob(transaction, { ...polled, at: 300 })); // 4, done of late
  await runAll(temporary, 5000);
  await temporary.commit((transaction) => createJob(transaction, { ...polled, at: 300 })); // 5, waits
  assert.deepEqual(await leftAfter(temporary, 1000), [1, 3, 4, 5]);
  assert.deepEqual(await leftAfter(temporary, 9000), [1, 3, 5]);
});

test('a replay goes with its report; the job of a clustering stays as long as its run', async () => {
  await using temporary = await TemporaryStore.open();
  const params = { model_a: 'a', model_b: 'b', rerank_a: false, rerank_b: false, k: 10, candidates: 100, limit: null };
  await temporary.commit((transaction) => {
    const { no } = createJob(transaction, { kind: 'eval_replay', page_no: null, max_attempts: 3, at: 100 });
    transaction.replays.put(no, { ...params, plan: [[1]], report: null });
    transaction.replays.putResults(no, 0, [null]);
  });
  const run = await temporary.commit(startRun({ trigger: 'manual', params: {}, at: 100, max_attempts: 3 }));
  assert.ok(run !== null);
  await runAll(temporary, 200);
  assert.deepEqual(await leftAfter(temporary, 1000), [run.job_no]);
  const { replays } = temporary.reader;
  assert.deepEqual([replays.get(1), replays.countResults(1)], [undefined, 0]);
});

test('more old jobs than one slice holds go slice by slice', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit((transaction) => {
    for (let no = 1; no <= 450; no++) {
      createJob(transaction, { kind: 'poll_watch', page_no: null, max_attempts: 3, at: 100 });
    }
  });
  await runAll(temporary, 200);
  assert.deepEqual(await leftAfter(temporary, 1000), []);
});
