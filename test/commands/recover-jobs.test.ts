import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expireLeases, recoverOrphans, shortenWaits } from '../../src/commands/claim-jobs.ts';
import { completeJob, failJob, heartbeatJob, releaseJob } from '../../src/commands/move-job.ts';
import { TemporaryStore } from '../store/temporary-store.ts';

/** A store in which `count` pages are being indexed since 1000, with leases to 1600. */
async function working(count: number): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  for (let no = 0; no < count; no++) await temporary.ingest([no], { at: 100 });
  await temporary.claim(1000);
  return temporary;
}

const summary = ({ reader }: TemporaryStore) =>
  [1, 2, 3].map((no) => {
    const job = reader.jobs.get(no);
    return job && [job.status, job.attempts, job.suspect, job.last_error, reader.pages.get(no)?.status];
  });

test('jobs that ran together when the process ended are given back uncounted, as suspects, with their pages', async () => {
  await using temporary = await working(3);
  await temporary.reopen();
  const moved = await temporary.commit(recoverOrphans('life 2', 5000));
  const rows = [1, 2, 3].map((no) => temporary.reader.jobs.get(no));
  assert.deepEqual(moved, rows);
  assert.deepEqual(summary(temporary), Array(3).fill(['pending', 0, true, null, 'queued']));
});

test('a job that ran alone keeps its count', async () => {
  await using temporary = await working(1);
  await temporary.commit(recoverOrphans('life 2', 5000));
  assert.deepEqual(summary(temporary)[0], ['pending', 1, true, 'the process ended while this job ran alone', 'queued']);
});

test('running jobs of this process are no orphans', async () => {
  await using temporary = await working(2);
  assert.deepEqual(await temporary.commit(recoverOrphans('life 1', 5000)), []);
});

test('leases that are over are taken back, the others kept', async () => {
  await using temporary = await working(3);
  assert.equal(await temporary.commit(heartbeatJob({ job_no: 2, claim: 2 }, 1300, 600)), true);
  await temporary.commit(expireLeases(1600));
  assert.deepEqual(summary(temporary), [
    ['pending', 1, false, 'the attempt exceeded its lease', 'queued'],
    ['running', 1, false, null, 'indexing'],
    ['pending', 1, false, 'the attempt exceeded its lease', 'queued'],
  ]);
});

test('an attempt that outlived its lease changes nothing any more, and the second one ends the job once', async () => {
  await using temporary = await working(1);
  const late = { job_no: 1, claim: 1 };
  await temporary.commit(expireLeases(1600));
  await temporary.claim(1700);

  const rows = () => [temporary.reader.jobs.get(1), temporary.reader.pages.get(1)];
  const running = rows();
  assert.equal(await temporary.commit(heartbeatJob(late, 1750, 600)), false);
  assert.equal(await temporary.commit(failJob(late, 1750, { message: 'x', permanent: true, delayMs: 0 })), null);
  assert.equal(await temporary.commit(releaseJob(late, 1750, 1750)), null);
  assert.deepEqual(rows(), running);

  await temporary.commit(completeJob({ job_no: 1, claim: 2 }, 1800));
  const done = rows();
  const alsoRan: string[] = [];
  assert.equal(await temporary.commit(completeJob(late, 1900, () => alsoRan.push('late'))), null);
  assert.deepEqual([rows(), alsoRan], [done, []]);
  const moves = temporary.changes.jobs.map(({ status, attempts }) => `${status} ${attempts}`);
  assert.deepEqual(moves, ['pending 0', 'running 1', 'pending 1', 'running 2', 'done 2']);
});

test('what an attempt reports of a job that does not exist is refused', async () => {
  await using temporary = await TemporaryStore.open();
  const attempt = { job_no: 9, claim: 1 };
  assert.equal(await temporary.commit(heartbeatJob(attempt, 1, 1)), false);
  assert.equal(await temporary.commit(completeJob(attempt, 1)), null);
  assert.equal(await temporary.commit(failJob(attempt, 1, { message: 'x', permanent: false, delayMs: 0 })), null);
  assert.equal(await temporary.commit(releaseJob(attempt, 1, 1)), null);
});

test('waits are drawn in some at a time, and those of the present clock stay', async () => {
  await using temporary = await working(1);
  const claim = temporary.reader.jobs.get(1)?.claim ?? 0;
  await temporary.commit(failJob({ job_no: 1, claim }, 1100, { message: 'no luck', permanent: false, delayMs: 9000 }));
  for (const no of [1, 2, 3]) await temporary.ingest([no], { at: 8000 + no });
  const drawn = [];
  for (let i = 0; i < 3; i++) drawn.push(await temporary.commit(shortenWaits(2000, 2)));
  assert.deepEqual(drawn, [2, 1, 0]);
  const dueAt = [1, 2, 3, 4].map((no) => temporary.reader.jobs.get(no)?.run_at);
  assert.deepEqual(dueAt, [10_100, 2000, 2000, 2000]);
  const claimed = await temporary.claim(2000);
  assert.equal(claimed.map(({ job }) => job.no).join(), '2,3,4');
});
