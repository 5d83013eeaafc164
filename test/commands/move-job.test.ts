import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealBackfill, startBackfill } from '../../src/commands/backfill-model.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { registerModel } from '../../src/commands/manage-models.ts';
import { completeJob, createJob, failJob, moveJob, releaseJob } from '../../src/commands/move-job.ts';
import type { Job } from '../../src/domain/job.ts';
import { pluck } from '../rows.ts';
import { claimDue, TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

const claim = claimDue;

test('a page follows the job that indexes it, in the same commit', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ at: 100 })));
  await temporary.commit(claim(200));
  await temporary.commit(failJob({ job_no: 1, claim: 1 }, 300, { message: 'no luck', permanent: false, delayMs: 50 }));
  await temporary.commit(claim(400));
  await temporary.commit(completeJob({ job_no: 1, claim: 2 }, 500));
  const states = temporary.changes.pages.map(({ status, indexed_at }) => `${status} ${indexed_at}`);
  const waits = ['queued null', 'indexing null'];
  assert.deepEqual(states, [...waits, 'failed null', ...waits, 'indexed 500']);
});

test('a page does not follow other jobs of it', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ at: 100 })));
  await temporary.commit((transaction) =>
    createJob(transaction, { kind: 'extract_entities', page_no: 1, max_attempts: 1, at: 50 }),
  );
  const page = temporary.reader.pages.get(1);
  const { jobs } = await temporary.commit(claim(60));
  assert.deepEqual(pluck(jobs, 'kind'), ['extract_entities']);
  await temporary.commit(failJob({ job_no: 2, claim: 1 }, 70, { message: 'x', permanent: true, delayMs: 0 }));
  assert.deepEqual(temporary.reader.pages.get(1), page);
});

test('a cancelled job does not make its page indexed', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ at: 100 })));
  await temporary.commit(claim(200));
  const running = temporary.reader.jobs.get(1) as Job;
  const page = temporary.reader.pages.get(1);
  await temporary.commit((transaction) => moveJob(transaction, running, { type: 'cancel', at: 300, reason: 'gone' }));
  const job = temporary.reader.jobs.get(1);
  assert.deepEqual([job?.status, job?.last_error], ['done', 'gone']);
  assert.deepEqual(temporary.reader.pages.get(1), page);
});

test('a backfill runs again when its dead job is retried, and stays complete when its job is given back after the seal', async () => {
  await using temporary = await TemporaryStore.open();
  const model = { id: 'm', provider: 'p', model_name: 'n', dim: 2, max_input_tokens: 512, floor: null };
  const registered = await temporary.commit(registerModel(model));
  assert.ok(registered !== null);
  const statuses = () => {
    const { backfills, models } = temporary.reader;
    return [backfills.get(registered.space)?.status, models.get('m')?.status];
  };
  await temporary.commit(startBackfill('m', { at: 100, max_attempts: 5 }));
  await temporary.commit(claim(200));
  await temporary.commit(failJob({ job_no: 1, claim: 1 }, 300, { message: 'no key', permanent: true, delayMs: 0 }));
  assert.deepEqual(statuses(), ['failed', 'failed']);
  await temporary.commit((transaction) => {
    const job = transaction.jobs.get(1);
    return job && moveJob(transaction, job, { type: 'retry', at: 400 });
  });
  assert.deepEqual(statuses(), ['running', 'backfilling']);
  await temporary.commit(claim(500));
  await temporary.commit(sealBackfill(registered.space, { at: 600, chunks: 0, tokens: 0 }));
  assert.deepEqual(statuses(), ['complete', 'ready']);
  await temporary.commit(releaseJob({ job_no: 1, claim: 2 }, 700, 700));
  assert.deepEqual(statuses(), ['complete', 'ready']);
});
