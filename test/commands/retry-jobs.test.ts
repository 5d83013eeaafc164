import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimJobs } from '../../src/commands/claim-jobs.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { createJob, failJob } from '../../src/commands/move-job.ts';
import { type RetryOutcome, retryDeadJobs, retryJobs } from '../../src/commands/retry-jobs.ts';
import { idOf } from '../../src/domain/values.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

const id = (no: number) => idOf('job', no);

/** Jobs 1, 2 (index_page, with pages), 3 (cluster) and 4 (poll_watch) are dead, 5 waits. */
async function withDeadJobs(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  for (const path of ['a', 'b']) {
    await temporary.commit(ingestPage(submission({ canonical_url: `https://example.com/${path}`, at: 100 })));
  }
  for (const kind of ['cluster', 'poll_watch'] as const) {
    await temporary.commit((transaction) => createJob(transaction, { kind, page_no: null, max_attempts: 3, at: 100 }));
  }
  const free = { suspect: 1, index: 9, fetch: 9, poll: 9, purge: 0, background: 9, backfill: 9, entities: 9 };
  const { jobs } = await temporary.commit(
    claimJobs({ at: 200, incarnation: 'life 1', leaseMs: 600, free, running: 0 }),
  );
  for (const { no, claim } of jobs) {
    await temporary.commit(failJob({ job_no: no, claim }, 300, { message: 'bad', permanent: true, delayMs: 0 }));
  }
  await temporary.commit((transaction) =>
    createJob(transaction, { kind: 'index_page', page_no: null, max_attempts: 3, at: 100 }),
  );
  return temporary;
}

const brief = (outcomes: RetryOutcome[]) =>
  outcomes.map((each) => [each.outcome, each.outcome === 'not_found' ? each.job_id : each.job.no]);

test('a dead job becomes pending on retry, as if new, and its page becomes queued', async () => {
  await using temporary = await withDeadJobs();
  const before = temporary.store.reader.jobs.get(1);
  const page = temporary.store.reader.pages.get(1);
  assert.equal(page?.status, 'dead');
  const [outcome] = await temporary.commit(retryJobs([id(1)], 400));
  const job = { ...before, status: 'pending', attempts: 0, last_error: null, run_at: 400, updated_at: 400 };
  assert.deepEqual(outcome, { outcome: 'retried', job });
  assert.deepEqual(temporary.store.reader.jobs.get(1), job);
  assert.deepEqual(temporary.store.reader.pages.get(1), { ...page, status: 'queued' });
});

test('a list of ids: each once, in the order given; unknown ones and those that are not dead are told', async () => {
  await using temporary = await withDeadJobs();
  const ids = [id(3), id(5), id(3), 'jb_nonsense', id(99), idOf('page', 1), id(1), id(5)];
  assert.deepEqual(brief(await temporary.commit(retryJobs(ids, 400))), [
    ['retried', 3],
    ['skipped', 5],
    ['not_found', 'jb_nonsense'],
    ['not_found', id(99)],
    ['not_found', idOf('page', 1)],
    ['retried', 1],
  ]);
  assert.deepEqual(brief(await temporary.commit(retryJobs([id(3), id(1)], 500))), [
    ['skipped', 3],
    ['skipped', 1],
  ]);
});

test('a selection goes on below the job where another one has ended, though those above have died again', async () => {
  await using temporary = await withDeadJobs();
  const numbers = async (before: number | undefined) =>
    brief(await temporary.commit(retryDeadJobs({ before, limit: 2 }, 400)));
  assert.deepEqual(await numbers(undefined), [
    ['retried', 4],
    ['retried', 3],
  ]);
  assert.deepEqual(await numbers(3), [
    ['retried', 2],
    ['retried', 1],
  ]);
  assert.deepEqual(await numbers(1), []);
});

test('an empty list retries nothing', async () => {
  await using temporary = await withDeadJobs();
  assert.deepEqual(await temporary.commit(retryJobs([], 400)), []);
  assert.equal(temporary.store.reader.jobs.countByStatus('dead'), 4);
});

test('a selection takes the newest dead jobs of the kind, at most so many', async () => {
  await using temporary = await withDeadJobs();
  assert.deepEqual(brief(await temporary.commit(retryDeadJobs({ kind: 'index_page', limit: 1 }, 400))), [
    ['retried', 2],
  ]);
  assert.deepEqual(brief(await temporary.commit(retryDeadJobs({ limit: 2 }, 400))), [
    ['retried', 4],
    ['retried', 3],
  ]);
  assert.deepEqual(brief(await temporary.commit(retryDeadJobs({ limit: 100 }, 400))), [['retried', 1]]);
  assert.deepEqual(await temporary.commit(retryDeadJobs({ limit: 100 }, 400)), []);
});
