import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimRequest, recoverOrphans } from '../../src/commands/claim-jobs.ts';
import { completeJob, createJob, failJob, moveJob } from '../../src/commands/move-job.ts';
import type { Job, JobKind } from '../../src/domain/job.ts';
import { pluck } from '../rows.ts';
import { claimDue, TemporaryStore } from '../store/temporary-store.ts';

const free = { suspect: 1, index: 10, fetch: 10, poll: 10, purge: 0, background: 10, backfill: 10, entities: 10 };
const look = (changes: Partial<ClaimRequest> = {}) => claimDue(1000, { free, ...changes });

const add = (temporary: TemporaryStore, kind: JobKind, at: number) =>
  temporary.commit((transaction) => createJob(transaction, { kind, page_no: null, max_attempts: 3, at }));

const numbers = (jobs: readonly Job[]) => jobs.map(({ no }) => no);

test('due jobs are claimed first due first, jobs that are not due wait, and the next due time is told', async () => {
  await using temporary = await TemporaryStore.open();
  for (const at of [900, 700, 1500, 800, 1000, 1200]) await add(temporary, 'index_page', at);

  const { jobs, nextDueAt } = await temporary.commit(look());

  assert.deepEqual(numbers(jobs), [2, 4, 1, 5]);
  assert.equal(nextDueAt, 1200);
  for (const [at, { no, status, attempts, claim, incarnation, lease_until }] of jobs.entries()) {
    const expected = ['running', 1, at + 1, 'life 1', 1600];
    assert.deepEqual([status, attempts, claim, incarnation, lease_until], expected);
    assert.deepEqual(jobs[at], temporary.reader.jobs.get(no));
  }
});

test('each lane has its own places, and a full one does not call for another look', async () => {
  await using temporary = await TemporaryStore.open();
  for (let i = 0; i < 3; i++) await add(temporary, 'index_page', 100);
  for (let i = 0; i < 3; i++) await add(temporary, 'fetch_and_index', 100);
  await add(temporary, 'cluster', 100);
  await add(temporary, 'label_clusters', 100);
  await add(temporary, 'label_clusters', 9000);

  const places = { suspect: 1, index: 2, fetch: 0, poll: 2, purge: 0, background: 2, backfill: 2, entities: 2 };
  const first = await temporary.commit(look({ free: places }));
  assert.deepEqual(numbers(first.jobs), [1, 2, 7, 8]);
  assert.equal(first.nextDueAt, null);

  const second = await temporary.commit(look({ free: { ...free, index: 0 }, running: 4 }));
  assert.deepEqual(numbers(second.jobs), [4, 5, 6]);
  assert.equal(second.nextDueAt, 9000);
});

test('pages are read for entities when none waits to be indexed', async () => {
  await using temporary = await TemporaryStore.open();
  await add(temporary, 'index_page', 100);
  await add(temporary, 'index_page', 110);
  await add(temporary, 'index_page', 5000);
  await add(temporary, 'extract_entities', 90);
  const first = await temporary.commit(look({ free: { ...free, index: 1 } }));
  assert.deepEqual(numbers(first.jobs), [1]);
  const second = await temporary.commit(look({ running: 1 }));
  assert.deepEqual(numbers(second.jobs), [2, 4], 'a page that is not due holds nothing up');
});

test('a failed job that is due is claimed through pending; one that is not waits', async () => {
  await using temporary = await TemporaryStore.open();
  const { no } = await add(temporary, 'index_page', 100);
  const [{ claim }] = (await temporary.commit(look())).jobs;
  await temporary.commit(failJob({ job_no: no, claim }, 1100, { message: 'no luck', permanent: false, delayMs: 400 }));

  assert.deepEqual(await temporary.commit(look({ at: 1499 })), { jobs: [], nextDueAt: 1500 });
  const { jobs } = await temporary.commit(look({ at: 1500 }));
  assert.deepEqual(numbers(jobs), [no]);
  assert.equal(jobs[0].attempts, 2);
  assert.deepEqual(pluck(temporary.changes.jobs, 'status'), ['pending', 'running', 'failed', 'pending', 'running']);
});

/** Three jobs ran when the process died, and two more wait. */
async function crashed(temporary: TemporaryStore): Promise<void> {
  for (let i = 0; i < 3; i++) await add(temporary, 'index_page', 100);
  await temporary.commit(look());
  await add(temporary, 'index_page', 100);
  await add(temporary, 'cluster', 100);
  await temporary.commit(recoverOrphans('life 2', 1000));
}

test('suspects run one at a time, with nothing beside them, and before all others', async () => {
  await using temporary = await TemporaryStore.open();
  await crashed(temporary);
  for (const suspect of [1, 2, 3]) {
    const beforeIt = await temporary.commit(look({ running: 1 }));
    assert.deepEqual(beforeIt, { jobs: [], nextDueAt: null }, 'while another job still runs');
    const { jobs } = await temporary.commit(look());
    assert.deepEqual(numbers(jobs), [suspect]);
    const besideIt = await temporary.commit(look({ running: 1, free: { ...free, suspect: 0 } }));
    assert.deepEqual(besideIt, { jobs: [], nextDueAt: null }, `while ${suspect} runs`);
    await temporary.commit(completeJob({ job_no: suspect, claim: jobs[0].claim }, 1000));
  }
  assert.deepEqual(numbers((await temporary.commit(look())).jobs), [4, 5]);
});

test('a job that ends the process each time is dead after its attempts, though others come in all the while', async () => {
  await using temporary = await TemporaryStore.open();
  await crashed(temporary);
  const poison = 2;
  let life = 2;
  for (let starts = 0; temporary.reader.jobs.get(poison)?.status !== 'dead'; starts++) {
    assert.ok(starts < 10, 'the poison job still runs after ten starts');
    await add(temporary, 'index_page', 100);
    const running = new Map<number, Job>();
    for (;;) {
      const busy = { ...free, suspect: [...running.values()].some(({ suspect }) => suspect) ? 0 : 1 };
      const { jobs } = await temporary.commit(
        look({ at: 2000 + life, incarnation: `life ${life}`, running: running.size, free: busy }),
      );
      for (const job of jobs) running.set(job.no, job);
      if (jobs.length > 0 && running.has(poison)) continue; // it works for a while: the scheduler looks again
      if (running.has(poison) || running.size === 0) break;
      for (const { no, claim } of running.values()) await temporary.commit(completeJob({ job_no: no, claim }, 2000));
      running.clear();
    }
    life++;
    await temporary.commit(recoverOrphans(`life ${life}`, 2000 + life));
  }
  const [{ no, attempts, last_error }, ...others] = temporary.reader.jobs.withStatus('dead');
  const reason = 'the process ended each time this job ran alone';
  assert.deepEqual([no, attempts, last_error, others], [poison, 3, reason, []]);
});

test('a job that another command moved in the same batch is not claimed twice', async () => {
  await using temporary = await TemporaryStore.open();
  await add(temporary, 'index_page', 100);
  const { results } = await temporary.store.transact([look(), look()]);
  const claims = results.map((result) => (result.ok ? numbers((result.reply as { jobs: Job[] }).jobs) : result.error));
  assert.deepEqual(claims, [[1], []]);
});

test('a cancelled job is not claimed', async () => {
  await using temporary = await TemporaryStore.open();
  const job = await add(temporary, 'index_page', 100);
  await temporary.commit((transaction) => moveJob(transaction, job, { type: 'cancel', at: 200, reason: 'gone' }));
  assert.deepEqual(await temporary.commit(look()), { jobs: [], nextDueAt: null });
});
