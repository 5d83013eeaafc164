import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimJobs, drawInWaits, expireLeases, recoverOrphans } from '../../src/commands/claim-jobs.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { completeJob, failJob, heartbeatJob, releaseJob } from '../../src/commands/move-job.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

const free = { suspect: 1, index: 10, fetch: 10, poll: 10, purge: 0, background: 10, backfill: 10, entities: 10 };

/** A store in which `count` pages are being indexed since 1000, with leases to 1600. */
async function working(temporary: TemporaryStore, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await temporary.commit(ingestPage(submission({ canonical_url: `https://example.com/${i}`, at: 100 })));
  }
  await temporary.commit(claimJobs({ at: 1000, incarnation: 'life 1', leaseMs: 600, free, running: 0 }));
}

const summary = ({ store }: TemporaryStore) =>
  [1, 2, 3].map((no) => {
    const job = store.reader.jobs.get(no);
    const page = store.reader.pages.get(no);
    return job && [job.status, job.attempts, job.suspect, job.last_error, page?.status];
  });

test('jobs that ran together when the process ended are given back uncounted, as suspects, with their pages', async () => {
  await using temporary = await TemporaryStore.open();
  await working(temporary, 3);
  await temporary.reopen();
  const moved = await temporary.commit(recoverOrphans('life 2', 5000));
  assert.deepEqual(
    moved,
    [1, 2, 3].map((no) => temporary.store.reader.jobs.get(no)),
  );
  assert.deepEqual(
    summary(temporary),
    [1, 2, 3].map(() => ['pending', 0, true, null, 'queued']),
  );
});

test('a job that ran alone keeps its count', async () => {
  await using temporary = await TemporaryStore.open();
  await working(temporary, 1);
  await temporary.commit(recoverOrphans('life 2', 5000));
  assert.deepEqual(summary(temporary)[0], ['pending', 1, true, 'the process ended while this job ran alone', 'queued']);
});

test('running jobs of this process are no orphans', async () => {
  await using temporary = await TemporaryStore.open();
  await working(temporary, 2);
  assert.deepEqual(await temporary.commit(recoverOrphans('life 1', 5000)), []);
});

test('leases that are over are taken back, the others kept', async () => {
  await using temporary = await TemporaryStore.open();
  await working(temporary, 3);
  assert.equal(await temporary.commit(heartbeatJob({ job_no: 2, claim: 2 }, 1300, 600)), true);
  await temporary.commit(expireLeases(1600));
  assert.deepEqual(summary(temporary), [
    ['pending', 1, false, 'the attempt went over its lease', 'queued'],
    ['running', 1, false, null, 'indexing'],
    ['pending', 1, false, 'the attempt went over its lease', 'queued'],
  ]);
});

test('an attempt that outlived its lease changes nothing any more, and the second one ends the job once', async () => {
  await using temporary = await TemporaryStore.open();
  await working(temporary, 1);
  const late = { job_no: 1, claim: 1 };
  await temporary.commit(expireLeases(1600));
  await temporary.commit(claimJobs({ at: 1700, incarnation: 'life 1', leaseMs: 600, free, running: 0 }));

  const rows = () => [temporary.store.reader.jobs.get(1), temporary.store.reader.pages.get(1)];
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
  assert.deepEqual(
    temporary.changes.jobs.map(({ status, attempts }) => [status, attempts]),
    [
      ['pending', 0],
      ['running', 1],
      ['pending', 1],
      ['running', 2],
      ['done', 2],
    ],
  );
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
  await using temporary = await TemporaryStore.open();
  await working(temporary, 1);
  const claim = temporary.store.reader.jobs.get(1)?.claim ?? 0;
  await temporary.commit(failJob({ job_no: 1, claim }, 1100, { message: 'no luck', permanent: false, delayMs: 9000 }));
  for (let i = 1; i < 4; i++) {
    await temporary.commit(ingestPage(submission({ canonical_url: `https://example.com/${i}`, at: 8000 + i })));
  }
  const drawn = [];
  for (let i = 0; i < 3; i++) drawn.push(await temporary.commit(drawInWaits(2000, 2)));
  assert.deepEqual(drawn, [2, 1, 0]);
  assert.deepEqual(
    [1, 2, 3, 4].map((no) => temporary.store.reader.jobs.get(no)?.run_at),
    [10_100, 2000, 2000, 2000],
  );
  const { jobs } = await temporary.commit(
    claimJobs({ at: 2000, incarnation: 'life 1', leaseMs: 600, free, running: 0 }),
  );
  assert.deepEqual(
    jobs.map(({ no }) => no),
    [2, 3, 4],
  );
});
