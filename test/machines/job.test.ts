import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Job, type JobStatus, jobStatuses } from '../../src/domain/job.ts';
import { type JobEvent, jobMachine, nextJob } from '../../src/machines/job.ts';
import { jobRow } from './rows.ts';

type EventType = JobEvent['type'];

/** What one event does to a row of one state under one condition: the next state, every field that changes, and what is else than in `rows` and `events`. */
type Case = readonly [when: string, next: JobStatus | null, row?: Partial<Job>, job?: Partial<Job>, event?: object];

const at = 5000;
const refused: Case[] = [['in any case', null]];

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
const anotherClaim: Case = ['of another claim', null, {}, {}, { claim: 39 }];
const cancelled: Case[] = [['in any case', 'done', { ...released, last_error: 'cancelled: page forgotten' }]];

const clockSet: Case[] = [
  [
    'it was moved by a clock that was ahead: it waits as long as it was to',
    'pending',
    { run_at: at + 250, updated_at: at },
    { updated_at: at + 9000, run_at: at + 9250 },
  ],
  [
    'it was due by a clock that was ahead',
    'pending',
    { run_at: at, updated_at: at },
    { updated_at: at + 9000, run_at: at + 8000 },
  ],
  ['it was moved before', null, {}, { updated_at: at, run_at: at + 9250 }],
];
const clockSetOf = (state: JobStatus) =>
  clockSet.map(([when, next, ...given]): Case => [when, next && state, ...given]);

/** By other work. */
const served: Case[] = [['in any case', 'done', { ...released, last_error: null }]];

/** What is not listed is refused. */
const table: Record<JobStatus, Partial<Record<EventType, Case[]>>> = {
  pending: {
    claim: [
      ['it is due', 'running', { ...claimed, attempts: 1 }, { run_at: at }],
      ['a suspect: it stays one while it runs', 'running', { ...claimed, attempts: 2 }, { suspect: true, attempts: 1 }],
      ['it is not due', null, {}, { run_at: at + 1 }],
    ],
    served,
    clockSet: clockSetOf('pending'),
    defer: [['in any case', 'pending', { run_at: at + 70, updated_at: at }]],
    cancel: cancelled,
  },
  running: {
    heartbeat: [['of its owner', 'running', { lease_until: at + 600 }], anotherClaim],
    progress: [
      [
        'of its owner: what was before does not count any more',
        'running',
        { lease_until: at + 600, attempts: 1, suspect: false, updated_at: at },
        { attempts: 3, suspect: true },
      ],
      anotherClaim,
    ],
    complete: [
      ['of its owner', 'done', { ...released, last_error: null }, { suspect: true, last_error: 'an earlier one' }],
      ['of its owner, after the lease, nobody else having claimed it', 'done', released, { lease_until: at - 1 }],
      anotherClaim,
    ],
    fail: [
      ['attempts remain', 'failed', broken, { attempts: 2 }],
      ['attempts are used up', 'dead', broken, { attempts: 3 }],
      ['the host was not reached before: it is now', 'failed', { ...broken, unreached: 0 }, { unreached: 2 }],
      ['the only attempt there is', 'dead', broken, { max_attempts: 1 }],
      ['it is permanent', 'dead', broken, {}, { permanent: true }],
      ['the message is long', 'failed', { ...broken, last_error: 'x'.repeat(1000) }, {}, { message: 'x'.repeat(1001) }],
      anotherClaim,
      ['of another claim, permanent', null, {}, {}, { claim: 39, permanent: true }],
    ],
    unreached: [
      ['of its owner: it is no attempt', 'failed', { ...away, attempts: 2, unreached: 1 }, { attempts: 3 }],
      ['for the last time', 'dead', { ...away, attempts: 0, unreached: 3 }, { unreached: 2 }],
      [
        'of a row that an earlier version wrote',
        'failed',
        { ...away, attempts: 0, unreached: 1 },
        { unreached: undefined },
      ],
      anotherClaim,
    ],
    release: [
      [
        'with a reason',
        'pending',
        { ...released, run_at: 5100, attempts: 0, last_error: 'no network' },
        {},
        { message: 'no network' },
      ],
      ['of its owner', 'pending', { ...released, run_at: 5100, attempts: 0 }],
      ['of its owner, at the last attempt', 'pending', { ...released, run_at: 5100, attempts: 2 }, { attempts: 3 }],
      anotherClaim,
    ],
    leaseExpired: [
      ['the lease is over and attempts remain', 'pending', overdue, { lease_until: at }],
      ['the lease is over and attempts are used up', 'dead', overdue, { lease_until: at, attempts: 3 }],
      ['the lease is not over', null, {}, { lease_until: at + 1 }],
      ['the lease is not over and attempts are used up', null, {}, { lease_until: at + 1, attempts: 3 }],
    ],
    orphaned: [
      [
        'others ran, too: the attempt is given back',
        'pending',
        { ...released, suspect: true, run_at: at, attempts: 2 },
        { attempts: 3, last_error: 'an earlier one' },
      ],
      [
        'it ran alone: the attempt counts',
        'pending',
        { ...released, suspect: true, run_at: at, last_error: 'the process ended while this job ran alone' },
        {},
        { alone: true },
      ],
      [
        'it ran alone at its last attempt',
        'dead',
        { ...released, last_error: 'the process ended each time this job ran alone' },
        { attempts: 3 },
        { alone: true },
      ],
    ],
    cancel: cancelled,
  },
  failed: {
    served,
    due: [
      ['its time has come', 'pending', { updated_at: at }, { run_at: at }],
      ['its time is ahead', null, {}, { run_at: at + 1 }],
    ],
    clockSet: clockSetOf('failed'),
    cancel: cancelled,
  },
  done: {
    silence: [
      ['it said something', 'done', { last_error: 'forgotten' }, { last_error: 'no luck' }],
      ['it said nothing', null, {}, { last_error: null }],
    ],
  },
  dead: {
    retry: [['in any case', 'pending', { attempts: 0, last_error: null, run_at: at, updated_at: at }]],
    cancel: cancelled,
  },
};

for (const status of jobStatuses) {
  for (const type of Object.keys(events) as EventType[]) {
    for (const [when, next, row, job, event] of table[status][type] ?? refused) {
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
