import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActor, SimulatedClock } from 'xstate';
import { type JobHandler, jobActor, LoggedError } from '../../../src/actors/system/job-actor.ts';
import { createJob, moveJob } from '../../../src/commands/move-job.ts';
import { JobError } from '../../../src/domain/errors.ts';
import { idOf } from '../../../src/domain/values.ts';
import { FetchError } from '../../../src/providers/fetch-error.ts';
import { BreakerOpenError, ProviderError } from '../../../src/providers/resilient-call.ts';
import { jobRow } from '../../machines/rows.ts';
import { keptLog } from '../quiet-log.ts';
import { limits, Workshop } from '../workshop.ts';

const no = 1;

/** Job 1 runs. */
async function working(max_attempts = 3): Promise<Workshop> {
  const workshop = await Workshop.open();
  workshop.start();
  await workshop.enqueue('index_page', max_attempts);
  await workshop.settle();
  assert.equal(workshop.job(no).status, 'running');
  return workshop;
}

test('a handler that ends well ends its job, with what it leaves to be done in the same commit', async () => {
  await using workshop = await working();
  await workshop.done(no, (transaction) => {
    createJob(transaction, { kind: 'extract_entities', page_no: null, max_attempts: 1, at: workshop.now + 1e9 });
  });
  assert.deepEqual([workshop.job(no).status, workshop.job(no).attempts], ['done', 1]);
  assert.equal(workshop.job(no + 1).kind, 'extract_entities');
  assert.deepEqual(workshop.actors(), []);
});

test('an attempt that fails waits twice as long each time, between half and the whole, then the job is dead', async () => {
  await using workshop = await working();
  for (const waitMs of [1500, 3000]) {
    await workshop.fail(no, new JobError('no luck'));
    const { status, run_at, last_error } = workshop.job(no);
    assert.deepEqual([status, run_at - workshop.now, last_error], ['failed', waitMs, 'no luck']);
    await workshop.pass(waitMs - 1);
    assert.equal(workshop.job(no).status, 'failed');
    await workshop.pass(1);
    assert.equal(workshop.job(no).status, 'running');
  }
  await workshop.fail(no, new JobError('no luck at all'));
  const { status, attempts, last_error } = workshop.job(no);
  assert.deepEqual([status, attempts, last_error], ['dead', 3, 'no luck at all']);
  assert.deepEqual([workshop.works.length, workshop.actors(), workshop.lines], [3, [], []]);
  const of = [idOf('job', no), 'index_page'];
  assert.deepEqual(
    workshop.endings.map((line) => [line.level, line.job_id, line.kind, line.attempt, line.status, line.code]),
    [
      [30, ...of, 1, 'failed', 'JobError'],
      [30, ...of, 2, 'failed', 'JobError'],
      [40, ...of, 3, 'dead', 'JobError'],
    ],
  );
});

test('a provider that asks for more time gets it, one that asks for less does not', async () => {
  await using workshop = await working();
  for (const [retryAfterMs, waitMs] of [
    [50_000, 50_000],
    [5, 3000],
  ]) {
    await workshop.fail(no, new JobError('busy', { retryAfterMs }));
    assert.equal(workshop.job(no).run_at - workshop.now, waitMs);
    await workshop.pass(waitMs, 1000);
  }
});

test('a permanent error is the last one, and is logged unless its handler has done so', async () => {
  const error = new JobError('gone for good', { permanent: true });
  for (const [thrown, lines] of [
    [error, 1],
    [new LoggedError(error), 0],
  ] as const) {
    await using workshop = await working();
    await workshop.fail(no, thrown);
    const { status, attempts, last_error } = workshop.job(no);
    assert.deepEqual([status, attempts, last_error], ['dead', 1, 'gone for good']);
    assert.deepEqual([workshop.endings.length, workshop.lines], [lines, []]);
  }
});

test('an attempt that a breaker or a host’s turn refused is given back, uncounted, until it may come again', async () => {
  await using workshop = await working(1);
  const wait = { retryAfterMs: 30_000 };
  for (const [refusal, reason] of [
    [new BreakerOpenError('openai', wait.retryAfterMs), null],
    [new FetchError('host_waits', 'others wait for the host', wait), null],
    [new BreakerOpenError('openai', wait.retryAfterMs, 'it has no model'), 'it has no model'],
  ] as const) {
    await workshop.fail(no, refusal);
    const { status, attempts, run_at, last_error } = workshop.job(no);
    assert.deepEqual([status, attempts, run_at - workshop.now, last_error], ['pending', 0, 30_000, reason]);
    await workshop.pass(29_999);
    assert.equal(workshop.job(no).status, 'pending');
    await workshop.pass(1);
    assert.deepEqual([workshop.job(no).status, workshop.job(no).attempts], ['running', 1]);
  }
  assert.deepEqual(workshop.lines, []);
});

test('a provider’s error counts and says when to come back, or that this is of no use', async () => {
  await using workshop = await working();
  await workshop.fail(no, new ProviderError('openai', 'busy', 'answered 429', { status: 429, retryAfterMs: 70_000 }));
  const failed = workshop.job(no);
  const outcome = [failed.status, failed.run_at - workshop.now, failed.last_error];
  assert.deepEqual(outcome, ['failed', 70_000, 'provider openai: answered 429']);
  await workshop.pass(70_000, 1000);
  await workshop.fail(no, new ProviderError('openai', 'unauthorized', 'answered 401', { status: 401 }));
  const dead = workshop.job(no);
  assert.deepEqual([dead.status, dead.attempts, dead.last_error], ['dead', 2, 'provider openai: answered 401']);
  assert.deepEqual(workshop.lines, []);
});

test('a bug in a handler, or in what it leaves to be done, is a failed attempt and is logged', async () => {
  for (const end of [
    (workshop: Workshop, bug: Error) => workshop.work(no).fail(bug),
    (workshop: Workshop, bug: Error) =>
      workshop.work(no).done(() => {
        throw bug;
      }),
  ]) {
    await using workshop = await working();
    end(workshop, new TypeError('x is not a function'));
    await workshop.pass(1000);
    assert.deepEqual([workshop.job(no).status, workshop.job(no).last_error], ['failed', 'x is not a function']);
    assert.deepEqual(workshop.actors(), []);
    const logged = workshop.lines.map(({ level, msg, job_id, kind }) => [level, msg, job_id, kind]);
    assert.deepEqual(logged, [[50, 'a job failed unexpectedly', idOf('job', no), 'index_page']]);
  }
});

test('a kind of job that nobody works at is dead, with the reason', async () => {
  await using workshop = await Workshop.open();
  workshop.start();
  await workshop.enqueue('poll_watch');
  await workshop.settle();
  const { status, last_error } = workshop.job(no);
  assert.deepEqual([status, last_error], ['dead', 'this version has no worker for poll_watch jobs']);
});

test('an attempt over its time limit is told to stop and has failed', async () => {
  await using workshop = await working();
  const { signal } = workshop.work(no);
  await workshop.pass(59_000, 1000);
  assert.deepEqual([workshop.job(no).status, signal.aborted], ['running', false]);
  await workshop.pass(1000);
  assert.equal(signal.aborted, true);
  const { status, last_error } = workshop.job(no);
  assert.deepEqual([status, last_error], ['failed', 'the attempt took longer than 60 s']);
  await workshop.done(no);
  assert.equal(workshop.job(no).status, 'failed', 'what it says afterwards is not heard');
});

test('an attempt that goes on has its time limit anew, and still counts', async () => {
  await using workshop = await working();
  const { signal, extendTime } = workshop.work(no);
  for (let i = 0; i < 3; i++) {
    await workshop.pass(50_000, 1000);
    await extendTime();
  }
  assert.deepEqual([workshop.job(no).status, workshop.job(no).attempts, signal.aborted], ['running', 1, false]);
  await workshop.pass(60_000, 1000);
  assert.deepEqual([workshop.job(no).status, workshop.job(no).attempts, signal.aborted], ['failed', 1, true]);
  await assert.rejects(extendTime());
});

test('the lease is renewed while the handler works, also after the store could not be written for a while', async () => {
  await using workshop = await working();
  const first = workshop.job(no).lease_until;
  await workshop.pass(3000);
  assert.equal(workshop.job(no).lease_until, first + 3000);
  workshop.breakDisk(true);
  await workshop.pass(3000);
  workshop.breakDisk(false);
  await workshop.pass(3000);
  assert.equal(workshop.job(no).lease_until, workshop.now + limits.leaseMs);
  await workshop.done(no);
  assert.deepEqual([workshop.job(no).status, workshop.job(no).attempts], ['done', 1]);
});

test('an attempt that lost its lease is told to stop, and the job ends once, by the attempt after it', async () => {
  await using workshop = await working();
  const late = workshop.work(no);
  await workshop.commit((transaction) => {
    const job = workshop.job(no);
    return moveJob(transaction, job, { type: 'leaseExpired', at: job.lease_until });
  });
  await workshop.pass(limits.leaseMs, 1000);
  assert.deepEqual([late.signal.aborted, workshop.works.length], [true, 2]);
  late.done(() => assert.fail('the late attempt changes nothing'));
  await workshop.done(no);
  assert.deepEqual(
    workshop.temporary.changes.jobs.map(({ status, attempts }) => [status, attempts]),
    [
      ['pending', 0],
      ['running', 1],
      ['pending', 1],
      ['running', 2],
      ['done', 2],
    ],
  );
  assert.deepEqual(workshop.actors(), []);
});

test('an outcome that cannot be written is told again until it can', async () => {
  await using workshop = await working();
  workshop.breakDisk(true);
  workshop.work(no).done();
  await workshop.pass(3000);
  assert.deepEqual([workshop.job(no).status, workshop.actors().length], ['running', 1]);
  workshop.breakDisk(false);
  await workshop.pass(500);
  assert.deepEqual([workshop.job(no).status, workshop.actors()], ['done', []]);
});

test('limits longer than a timer can wait do not end an attempt at once', () => {
  const clock = new SimulatedClock();
  const waits: number[] = [];
  const handler: JobHandler = () => new Promise(() => {});
  const actor = createActor(jobActor, {
    clock: {
      setTimeout: (fn, ms) => {
        waits.push(ms);
        return clock.setTimeout(fn, ms);
      },
      clearTimeout: (id) => clock.clearTimeout(id),
    },
    input: {
      job: jobRow({ status: 'running' }),
      handler,
      commit: () => new Promise(() => {}),
      now: () => 0,
      random: () => 0,
      limits: { ...limits, leaseMs: 1e12, timeoutMs: 1e12 },
      log: keptLog().log,
    },
  });
  actor.start();
  assert.deepEqual(waits, [2 ** 31 - 1, 2 ** 31 - 1]);
  actor.stop();
});
