import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimJobs } from '../../src/commands/claim-jobs.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { createJob, moveJob } from '../../src/commands/move-job.ts';
import { completeJob, failJob } from '../../src/commands/settle-job.ts';
import type { Job } from '../../src/domain/job.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

const claim = (at: number) =>
  claimJobs({
    at,
    incarnation: 'life 1',
    leaseMs: 600,
    free: { suspect: 1, index: 9, fetch: 9, poll: 9, purge: 0, background: 9, backfill: 9, entities: 9 },
    running: 0,
  });

test('a page follows the job that indexes it, in the same commit', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ at: 100 })));
  await temporary.commit(claim(200));
  await temporary.commit(failJob({ job_no: 1, claim: 1 }, 300, { message: 'no luck', permanent: false, delayMs: 50 }));
  await temporary.commit(claim(400));
  await temporary.commit(completeJob({ job_no: 1, claim: 2 }, 500));
  assert.deepEqual(
    temporary.changes.pages.map(({ status, indexed_at }) => [status, indexed_at]),
    [
      ['queued', null],
      ['indexing', null],
      ['failed', null],
      ['queued', null],
      ['indexing', null],
      ['indexed', 500],
    ],
  );
});

test('a page does not follow other jobs of it', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ at: 100 })));
  await temporary.commit((transaction) =>
    createJob(transaction, { kind: 'extract_entities', page_no: 1, max_attempts: 1, at: 50 }),
  );
  const page = temporary.store.reader.pages.get(1);
  const { jobs } = await temporary.commit(claim(60));
  assert.deepEqual(
    jobs.map(({ kind }) => kind),
    ['extract_entities'],
  );
  await temporary.commit(failJob({ job_no: 2, claim: 1 }, 70, { message: 'x', permanent: true, delayMs: 0 }));
  assert.deepEqual(temporary.store.reader.pages.get(1), page);
});

test('a cancelled job does not make its page indexed', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ at: 100 })));
  await temporary.commit(claim(200));
  const running = temporary.store.reader.jobs.get(1) as Job;
  const page = temporary.store.reader.pages.get(1);
  await temporary.commit((transaction) => moveJob(transaction, running, { type: 'cancel', at: 300, reason: 'gone' }));
  const job = temporary.store.reader.jobs.get(1);
  assert.deepEqual([job?.status, job?.last_error], ['done', 'gone']);
  assert.deepEqual(temporary.store.reader.pages.get(1), page);
});
