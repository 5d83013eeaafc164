import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJob, failJob } from '../../src/commands/move-job.ts';
import { type RetryOutcome, retryDeadJobs, retryJobs } from '../../src/commands/retry-jobs.ts';
import { idOf } from '../../src/domain/values.ts';
import { TemporaryStore } from '../store/temporary-store.ts';

const id = (no: number) => idOf('job', no);

/** Jobs 1, 2 (index_page, with pages), 3 (cluster) and 4 (poll_watch) are dead, 5 waits. */
async function withDeadJobs(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  await temporary.ingest('ab', { at: 100 });
  for (const kind of ['cluster', 'poll_watch'] as const) {
    await temporary.commit((transaction) => createJob(transaction, { kind, page_no: null, max_attempts: 3, at: 100 }));
  }
  for (const { attempt } of await temporary.claim(200))
    await temporary.commit(failJob(attempt, 300, { message: 'bad', permanent: true, delayMs: 0 }));
  await temporary.commit((transaction) =>
    createJob(transaction, { kind: 'index_page', page_no: null, max_attempts: 3, at: 100 }),
  );
  return temporary;
}

const brief = (outcomes: RetryOutcome[]) =>
  outcomes.map((each) => `${each.outcome} ${each.outcome === 'not_found' ? each.job_id : each.job.no}`);

test('a dead job becomes pending on retry, as if new, and its page becomes queued', async () => {
  await using temporary = await withDeadJobs();
  const before = temporary.reader.jobs.get(1);
  const page = temporary.reader.pages.get(1);
  assert.equal(page?.status, 'dead');
  const [outcome] = await temporary.commit(retryJobs([id(1)], 400));
  const job = { ...before, status: 'pending', attempts: 0, last_error: null, run_at: 400, updated_at: 400 };
  assert.deepEqual(outcome, { outcome: 'retried', job });
  assert.deepEqual(temporary.reader.jobs.get(1), job);
  assert.deepEqual(temporary.reader.pages.get(1), { ...page, status: 'queued' });
});

test('a list of ids: each once, in the order given; unknown ones and those that are not dead are told', async () => {
  await using temporary = await withDeadJobs();
  const ids = [id(3), id(5), id(3), 'jb_nonsense', id(99), idOf('page', 1), id(1), id(5)];
  const unknown = ['jb_nonsense', id(99), idOf('page', 1)].map((each) => `not_found ${each}`);
  const retried = brief(await temporary.commit(retryJobs(ids, 400)));
  assert.deepEqual(retried, ['retried 3', 'skipped 5', ...unknown, 'retried 1']);
  const again = brief(await temporary.commit(retryJobs([id(3), id(1)], 500)));
  assert.deepEqual(again, ['skipped 3', 'skipped 1']);
});

test('a selection goes on below the job where another one has ended, though those above have died again', async () => {
  await using temporary = await withDeadJobs();
  const numbers = async (before: number | undefined) =>
    brief(await temporary.commit(retryDeadJobs({ before, limit: 2 }, 400)));
  assert.deepEqual(await numbers(undefined), ['retried 4', 'retried 3']);
  assert.deepEqual(await numbers(3), ['retried 2', 'retried 1']);
  assert.deepEqual(await numbers(1), []);
});

test('an empty list retries nothing', async () => {
  await using temporary = await withDeadJobs();
  assert.deepEqual(await temporary.commit(retryJobs([], 400)), []);
  assert.equal(temporary.reader.jobs.countByStatus('dead'), 4);
});

test('a selection takes the newest dead jobs of the kind, at most so many', async () => {
  await using temporary = await withDeadJobs();
  const retry = async (selection: Parameters<typeof retryDeadJobs>[0]) =>
    brief(await temporary.commit(retryDeadJobs(selection, 400)));
  assert.deepEqual(await retry({ kind: 'index_page', limit: 1 }), ['retried 2']);
  assert.deepEqual(await retry({ limit: 2 }), ['retried 4', 'retried 3']);
  assert.deepEqual(await retry({ limit: 100 }), ['retried 1']);
  assert.deepEqual(await retry({ limit: 100 }), []);
});
