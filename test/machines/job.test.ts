import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Job, type JobStatus, jobStatuses } from '../../src/domain/job.ts';
import { type JobEvent, jobMachine, nextJob } from '../../src/machines/job.ts';
import { jobRow } from './rows.ts';

type EventType = JobEvent['type'];

/** What one event does to a row of one state under one condition: the next state and every field that changes. */
interface Case {
  when: string;
  job?: Partial<Job>;
  event?: Partial<Extract<JobEvent, { type: EventType }>> & Record<string, unknown>;
  next: JobStatus | null;
  row?: Partial<Job>;
}

const at = 5000;
const refused: Case[] = [{ when: 'in any case', next: null }];

const rows: Record<JobStatus, Job> = {
  pending: jobRow(),
  running: jobRow({ status: 'running', attempts: 1, claim: 40, incarnation: 'life 1', lease_until: 9000 }),
  failed: jobRow({
    ...{ status: 'failed', attempts: 1, claim: 40, incarnation: 'life 1', last_error: 'no luck', run_at: 4000 },
  }),
  done: jobRow({ status: 'done', attempts: 1, claim: 40, incarnation: 'life 1' }),
  dead: jobRow({ status: 'dead', attempts: 3, claim: 40, incarnation: 'life 1', last_error: 'no luck' }),
};

const events: { [Type in EventType]: Extract<JobEvent, { type: Type }> } = {
  claim: { type: 'claim', at, claim: 41, incarnation: 'life 2', leaseMs: 600 },
  heartbeat: { type: 'heartbeat', at, claim: 40, leaseMs: 600 },
  progress: { type: 'progress', at, claim: 40, leaseMs: 600 },
  complete: { type: 'complete', at, claim: 40 },
  served: { type: 'served', at },
  fail: { type: 'fail', at, claim: 40, message: 'broken', permanent: false, delayMs: 250 },
  unreached: { type: 'unreached', at, claim: 40, message: 'no connection', maxTries: 3, delayMs: 250 },
  release: { type: 'release', at, claim: 40, runAt: 5100 },
  leaseExpired: { type: 'leaseExpired', at },
  orphaned: { type: 'orphaned', at, alone: false },
  due: { type: 'due', at },
  retry: { type: 'retry', at },
  clockSet: { type: 'clockSet', at },
  defer: { type: 'defer', at, runAt: at + 70 },
  cancel: { type: 'cancel', at, reason: 'cancelled: page forgotten' },
  silence: { type: 'silence', at, message: 'forgotten' },
};

const claimed = { claim: 41, incarnation: 'life 2', lease_until: at + 600, updated_at: at };
const released = { lease_until: 0, suspect: false, updated_at: at };
const broken = { ...released, run_at: at + 250, last_error: 'broken' };
const away = { ...broken, last_error: 'no connection' };
const overdue = { ...released, run_at: at, last_error: 'the attempt exceeded its lease' };
const anotherClaim = { when: 'of another claim', event: { claim: 39 }, next: null };
const cancelled: Case[] = [
  { when: 'in any case', next: 'done', row: { ...released, last_error: 'cancelled: page forgotten' } },
];

const clockSet: Case[] = [
  {
    when: 'it was moved by a clock that was ahead: it waits as long as it was to',
    job: { updated_at: at + 9000, run_at: at + 9250 },
    next: 'pending',
    row: { run_at: at + 250, updated_at: at },
  },
  {
    when: 'it was due by a clock that was ahead',
    job: { updated_at: at + 9000, run_at: at + 8000 },
    next: 'pending',
    row: { run_at: at, updated_at: at },
  },
  { when: 'it was moved before', job: { updated_at: at, run_at: at + 9250 }, next: null },
];
const clockSetOf = (state: JobStatus) => clockSet.map((each) => (each.next === null ? each : { ...each, next: state }));

/** By other work. */
const served: Case[] = [{ when: 'in any case', next: 'done', row: { ...released, last_error: null } }];

/** What is not listed is refused. */
const table: Record<JobStatus, Partial<Record<EventType, Case[]>>> = {
  pending: {
    claim: [
      { when: 'it is due', job: { run_at: at }, next: 'running', row: { ...claimed, attempts: 1 } },
      {
        when: 'a suspect: it stays one while it runs',
        job: { suspect: true, attempts: 1 },
        next: 'running',
        row: { ...claimed, attempts: 2 },
      },
      { when: 'it is not due', job: { run_at: at + 1 }, next: null },
    ],
    served,
    clockSet: clockSetOf('pending'),
    defer: [{ when: 'in any case', next: 'pending', row: { run_at: at + 70, updated_at: at } }],
    cancel: cancelled,
  },
  running: {
    heartbeat: [{ when: 'of its owner', next: 'running', row: { lease_until: at + 600 } }, anotherClaim],
    progress: [
      {
        when: 'of its owner: what was before does not count any more',
        job: { attempts: 3, suspect: true },
        next: 'running',
        row: { lease_until: at + 600, attempts: 1, suspect: false, updated_at: at },
      },
      anotherClaim,
    ],
    complete: [
      {
        when: 'of its owner',
        job: { suspect: true, last_error: 'an earlier one' },
        next: 'done',
        row: { ...released, last_error: null },
      },
      {
        when: 'of its owner, after the lease, nobody else having claimed it',
        job: { lease_until: at - 1 },
        next: 'done',
        row: released,
      },
      anotherClaim,
    ],
    fail: [
      { when: 'attempts remain', job: { attempts: 2 }, next: 'failed', row: broken },
      { when: 'attempts are used up', job: { attempts: 3 }, next: 'dead', row: broken },
      {
        when: 'the host was not reached before: it is now',
        job: { unreached: 2 },
        next: 'failed',
        row: { ...broken, unreached: 0 },
      },
      { when: 'the only attempt there is', job: { max_attempts: 1 }, next: 'dead', row: broken },
      { when: 'it is permanent', event: { permanent: true }, next: 'dead', row: broken },
      {
        when: 'the message is long',
        event: { message: 'x'.repeat(1001) },
        next: 'failed',
        row: { ...broken, last_error: 'x'.repeat(1000) },
      },
      anotherClaim,
      { when: 'of another claim, permanent', event: { claim: 39, permanent: true }, next: null },
    ],
    unreached: [
      {
        when: 'of its owner: it is no attempt',
        job: { attempts: 3 },
        next: 'failed',
        row: { ...away, attempts: 2, unreached: 1 },
      },
      { when: 'for the last time', job: { unreached: 2 }, next: 'dead', row: { ...away, attempts: 0, unreached: 3 } },
      {
        when: 'of a row that an earlier version wrote',
        job: { unreached: undefined },
        next: 'failed',
        row: { ...away, attempts: 0, unreached: 1 },
      },
      anotherClaim,
    ],
    release: [
      {
        when: 'with a reason',
        event: { message: 'no network' },
        next: 'pending',
        row: { ...released, run_at: 5100, attempts: 0, last_error: 'no network' },
      },
      { when: 'of its owner', next: 'pending', row: { ...released, run_at: 5100, attempts: 0 } },
      {
        when: 'of its owner, at the last attempt',
        job: { attempts: 3 },
        next: 'pending',
        row: { ...released, run_at: 5100, attempts: 2 },
      },
      anotherClaim,
    ],
    leaseExpired: [
      { when: 'the lease is over and attempts remain', job: { lease_until: at }, next: 'pending', row: overdue },
      {
        when: 'the lease is over and attempts are used up',
        job: { lease_until: at, attempts: 3 },
        next: 'dead',
        row: overdue,
      },
      { when: 'the lease is not over', job: { lease_until: at + 1 }, next: null },
      { when: 'the lease is not over and attempts are used up', job: { lease_until: at + 1, attempts: 3 }, next: null },
    ],
    orphaned: [
      {
        when: 'others ran, too: the attempt is given back',
        job: { attempts: 3, last_error: 'an earlier one' },
        next: 'pending',
        row: { ...released, suspect: true, run_at: at, attempts: 2 },
      },
      {
        when: 'it ran alone: the attempt counts',
        event: { alone: true },
        next: 'pending',
        row: { ...released, suspect: true, run_at: at, last_error: 'the process ended while this job ran alone' },
      },
      {
        when: 'it ran alone at its last attempt',
        event: { alone: true },
        job: { attempts: 3 },
        next: 'dead',
        row: { ...released, last_error: 'the process ended each time this job ran alone' },
      },
    ],
    cancel: cancelled,
  },
  failed: {
    served,
    due: [
      { when: 'its time has come', job: { run_at: at }, next: 'pending', row: { updated_at: at } },
      { when: 'its time is ahead', job: { run_at: at + 1 }, next: null },
    ],
    clockSet: clockSetOf('failed'),
    cancel: cancelled,
  },
  done: {
    silence: [
      { when: 'it said something', job: { last_error: 'no luck' }, next: 'done', row: { last_error: 'forgotten' } },
      { when: 'it said nothing', job: { last_error: null }, next: null },
    ],
  },
  dead: {
    retry: [
      { when: 'in any case', next: 'pending', row: { attempts: 0, last_error: null, run_at: at, updated_at: at } },
    ],
    cancel: cancelled,
  },
};

for (const status of jobStatuses) {
  for (const type of Object.keys(events) as EventType[]) {
    for (const { when, job, event, next, row } of table[status][type] ?? refused) {
      test(`a ${status} job, ${type}, ${when}: ${next ?? 'refused'}`, () => {
        const before = { ...rows[status], ...job };
        const kept = structuredClone(before);
        const after = nextJob(before, { ...events[type], ...event } as JobEvent);
        assert.deepEqual(after, next === null ? null : { ...before, ...row, status: next });
        assert.deepEqual(before, kept, 'the row that was given is left as it was');
      });
    }
  }
}

test('the table knows every state of the machine and no other', () => {
  assert.deepEqual(Object.keys(jobMachine.states).sort(), [...jobStatuses].sort());
  assert.deepEqual([...jobMachine.events].sort(), Object.keys(events).sort());
});

const steps = fc.record({
  type: fc.constantFrom(...(Object.keys(events) as EventType[])),
  forward: fc.integer({ min: 0, max: 2000 }),
  late: fc.boolean(),
  flag: fc.boolean(),
});

/** Changes of status that exist: the table's, written once more as pairs. */
const legal: Record<JobStatus, string> = {
  pending: 'running pending done',
  running: 'running done failed dead pending',
  failed: 'pending done',
  done: 'done',
  dead: 'pending done',
};

test('whatever happens, attempts stay in bounds, a lease exists only while running, and only legal changes are seen', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(steps, { maxLength: 80 }), (max_attempts, walk) => {
      let job = jobRow({ max_attempts });
      let now = 100;
      let claim = 0;
      for (const { type, forward, late, flag } of walk) {
        now += forward;
        if (type === 'claim') claim++;
        const overrides = {
          at: now,
          ...(type === 'claim'
            ? { claim }
            : 'claim' in events[type]
              ? { claim: late ? job.claim - 1 : job.claim }
              : {}),
          ...(type === 'orphaned' ? { alone: flag } : {}),
          ...(type === 'fail' ? { permanent: flag && late } : {}),
          ...(type === 'release' ? { runAt: now } : {}),
        };
        const next = nextJob(job, { ...events[type], ...overrides } as JobEvent);
        if (next === null) continue;
        assert.ok(legal[job.status].includes(next.status), `${job.status} → ${next.status} by ${type}`);
        assert.ok(next.attempts >= 0 && next.attempts <= max_attempts, `${next.attempts} attempts of ${max_attempts}`);
        assert.equal(next.lease_until > 0, next.status === 'running');
        if (next.status === 'dead' || next.status === 'failed') assert.notEqual(next.last_error, null);
        if (next.status === 'running' && job.status !== 'running') assert.equal(next.attempts, job.attempts + 1);
        job = next;
      }
    }),
    { seed: 20_261, numRuns: 400 },
  );
});
