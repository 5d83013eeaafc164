import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schedulerService } from '../../../src/actors/system/scheduler.ts';
import { runService } from '../../../src/actors/system/service.ts';
import { createJob } from '../../../src/commands/move-job.ts';
import type { Job } from '../../../src/domain/job.ts';
import { noChanges, storeUnavailable } from '../../../src/store/commit.ts';
import type { Command } from '../../../src/store/store.ts';
import { claimDue } from '../../store/temporary-store.ts';
import { limits, Workshop } from '../workshop.ts';

/** A new job, of which the scheduler hears only when the feed is told. */
const newJob =
  (workshop: Workshop): Command<Job> =>
  (transaction) =>
    createJob(transaction, { kind: 'index_page', page_no: null, max_attempts: 3, at: workshop.now });

async function jobComes(workshop: Workshop): Promise<void> {
  await workshop.temporary.commit(newJob(workshop));
  workshop.feed.publish('durable', { ...noChanges(), opstamp: 1, jobs: [workshop.job(1)] });
}

/** What runs when the scheduler starts was begun by a process that is gone. */
const beginEarlier = (workshop: Workshop) =>
  workshop.commit(claimDue(workshop.now, { incarnation: 'an earlier life', leaseMs: 9e9 }));

async function started(...settings: Parameters<Workshop['start']>): Promise<Workshop> {
  const workshop = await Workshop.open();
  workshop.start(...settings);
  await workshop.settle();
  return workshop;
}

const statuses = (workshop: Workshop, numbers: number[]) => numbers.map((no) => workshop.job(no).status);

test('jobs run as they come, up to the places of their lane, and the next one as soon as a place is free', async () => {
  await using workshop = await started();
  const numbers = [];
  for (let i = 0; i < 4; i++) numbers.push(await workshop.enqueue());
  const cluster = await workshop.enqueue('cluster');
  await workshop.settle();
  assert.deepEqual(statuses(workshop, numbers), ['running', 'running', 'pending', 'pending']);
  assert.equal(workshop.job(cluster).status, 'running');
  await workshop.done(numbers[1]);
  assert.deepEqual(statuses(workshop, numbers), ['running', 'done', 'running', 'pending']);
  for (const no of [0, 2, 3]) await workshop.done(numbers[no]);
  await workshop.done(cluster);
  assert.deepEqual(statuses(workshop, numbers), ['done', 'done', 'done', 'done']);
  assert.deepEqual([workshop.actors(), workshop.works.length], [[], 5]);
});

test('orphans of an earlier process run at once after the start, one at a time', async () => {
  await using workshop = await Workshop.open();
  for (let i = 0; i < 2; i++) await workshop.enqueue();
  await beginEarlier(workshop);
  await workshop.enqueue();
  workshop.start();
  await workshop.settle();
  assert.deepEqual(statuses(workshop, [1, 2, 3]), ['running', 'pending', 'pending']);
  await workshop.pass(5000, 1000);
  assert.deepEqual(statuses(workshop, [1, 2, 3]), ['running', 'pending', 'pending']);
  await workshop.done(1);
  assert.deepEqual(statuses(workshop, [1, 2, 3]), ['done', 'running', 'pending']);
  await workshop.done(2);
  assert.deepEqual(statuses(workshop, [1, 2, 3]), ['done', 'done', 'running']);
  const attempts = [1, 2, 3].map((no) => workshop.job(no).attempts);
  assert.deepEqual(attempts, [1, 1, 1]);
});

test('a claim that was committed but never answered is taken back when its lease is over', async () => {
  await using workshop = await started();
  workshop.loseReplies = true;
  await workshop.temporary.commit(newJob(workshop));
  await workshop.pass(61_000, 1000);
  assert.deepEqual([workshop.job(1).status, workshop.works.length], ['running', 0]);
  workshop.loseReplies = false;
  await workshop.pass(limits.leaseMs + 61_000, 1000);
  assert.deepEqual([workshop.job(1).status, workshop.job(1).attempts, workshop.works.length], ['running', 2, 1]);
});

test('while jobs cannot be claimed it tries again, and says so', async () => {
  await using workshop = await started();
  workshop.breakDisk(true);
  await jobComes(workshop);
  await workshop.pass(2500);
  const told = workshop.lines.map(({ msg }) => msg);
  assert.deepEqual([workshop.job(1).status, told], ['pending', Array(3).fill('jobs could not be claimed')]);
  workshop.breakDisk(false);
  await workshop.pass(1000);
  assert.equal(workshop.job(1).status, 'running');
});

test('with nothing to do it hardly writes', async () => {
  await using workshop = await started();
  const before = workshop.commits;
  await workshop.pass(600_000, 1000);
  assert.ok(workshop.commits - before <= 10, `${workshop.commits - before} commits in ten minutes`);
});

test('beside a job that runs for long it writes as often as leases need it, not every second', async () => {
  await using workshop = await started({ leaseMs: 900_000, timeoutMs: 900_000 });
  await workshop.enqueue();
  await workshop.settle();
  const before = workshop.commits;
  await workshop.pass(240_000, 1000);
  assert.equal(workshop.job(1).status, 'running');
  assert.ok(workshop.commits - before <= 8, `${workshop.commits - before} commits in four minutes`);
});

test('on stop no job is begun; those that end within the grace time are done, the others are given back uncounted', async () => {
  await using workshop = await started();
  for (let i = 0; i < 3; i++) await workshop.enqueue();
  await workshop.settle();
  workshop.scheduler.send({ type: 'stop' });
  await workshop.pass(1000);
  workshop.work(1).done();
  await workshop.pass(2900);
  assert.deepEqual(statuses(workshop, [1, 2, 3]), ['done', 'running', 'pending']);
  assert.equal(workshop.work(2).signal.aborted, false);
  assert.equal(workshop.scheduler.getSnapshot().status, 'active');
  await workshop.pass(100);
  assert.equal(workshop.work(2).signal.aborted, true);
  assert.deepEqual(statuses(workshop, [1, 2, 3]), ['done', 'pending', 'pending']);
  assert.deepEqual([workshop.job(2).attempts, workshop.job(2).last_error, workshop.works.length], [0, null, 2]);
  assert.equal(workshop.scheduler.getSnapshot().status, 'done');
});

test('a stop with nothing running is immediate, also while the orphans are still being given back', async () => {
  await using workshop = await started();
  workshop.scheduler.send({ type: 'stop' });
  assert.equal(workshop.scheduler.getSnapshot().status, 'done');

  await using early = await Workshop.open();
  early.start();
  early.scheduler.send({ type: 'stop' });
  assert.equal(early.scheduler.getSnapshot().status, 'done');
});

for (const [outcome, error] of Object.entries({
  'gives back what was claimed': undefined,
  'that fails is not forgotten': storeUnavailable(new Error('no space')),
})) {
  test(`a stop during a claim ${outcome}`, async () => {
    await using workshop = await started();
    const release = workshop.holdCommits();
    await jobComes(workshop);
    workshop.scheduler.send({ type: 'stop' });
    release(error);
    await workshop.pass(error === undefined ? limits.graceMs + 100 : 0);
    await workshop.settle();
    assert.deepEqual([workshop.job(1).status, workshop.job(1).attempts], ['pending', 0]);
    assert.equal(workshop.scheduler.getSnapshot().status, 'done');
  });
}

test('a stop while outcomes cannot be written does not wait for the disk', async () => {
  await using workshop = await started();
  for (let i = 0; i < 2; i++) await workshop.enqueue();
  await workshop.settle();
  workshop.breakDisk(true);
  workshop.work(1).done();
  await workshop.pass(600);
  workshop.scheduler.send({ type: 'stop' });
  workshop.work(2).done();
  await workshop.pass(600);
  assert.equal(workshop.scheduler.getSnapshot().status, 'done');
  assert.deepEqual(statuses(workshop, [1, 2]), ['running', 'running']);
});

test('orphans that cannot be given back for want of space are tried again, and the system is ready meanwhile', async () => {
  await using workshop = await Workshop.open();
  await workshop.enqueue();
  await beginEarlier(workshop);
  workshop.breakDisk(true);
  workshop.start();
  await workshop.pass(2500);
  assert.equal(workshop.scheduler.getSnapshot().matches('recovering'), false);
  assert.deepEqual([workshop.works.length, workshop.lines[0].msg], [0, 'jobs could not be claimed']);
  workshop.breakDisk(false);
  await workshop.pass(1000);
  assert.deepEqual([workshop.job(1).status, workshop.works.length], ['running', 1]);
});

test('where orphans cannot be given back for another reason, it cannot start', async () => {
  await using workshop = await Workshop.open();
  const error = new Error('a bug');
  workshop.gate = () => Promise.reject(error);
  const service = runService(schedulerService(workshop.dependencies()), () => {});
  await assert.rejects(service.ready, error);
  await service.stop();
});

test('as a service it has started when the orphans are given back, and has stopped when nothing runs any more', async () => {
  await using workshop = await Workshop.open();
  const no = await workshop.enqueue();
  const service = runService(schedulerService(workshop.dependencies()), () => {});
  await service.ready;
  await workshop.settle();
  workshop.work(no).done();
  await service.stop();
  assert.equal(workshop.job(no).status, 'done');
});

test('jobs that wait for a time which the clock was set back behind do not wait for it', async () => {
  const day = 86_400_000;
  await using workshop = await Workshop.open();
  const before = await workshop.enqueue('cluster');
  workshop.clockSetBy -= day;
  workshop.start();
  await workshop.settle();
  assert.equal(workshop.job(before).status, 'running', 'set back while no process ran');
  const numbers = [];
  for (let i = 0; i < 3; i++) numbers.push(await workshop.enqueue());
  await workshop.settle();
  assert.deepEqual(statuses(workshop, numbers), ['running', 'running', 'pending']);
  workshop.clockSetBy -= day;
  await workshop.done(numbers[0]);
  assert.deepEqual(statuses(workshop, numbers), ['done', 'running', 'running']);
});
