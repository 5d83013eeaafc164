import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Watch, type WatchStatus, watchStatuses } from '../../src/domain/watch.ts';
import { nextWatch, type WatchEvent, watchMachine } from '../../src/machines/watch.ts';
import { watchRow } from './rows.ts';

type EventType = WatchEvent['type'];

/** What one event does to a watch under one condition: the next state and every field that changes; null: refused. */
interface Case {
  when: string;
  watch?: Partial<Watch>;
  event?: Record<string, unknown>;
  next: WatchStatus | 'same' | null;
  row?: Partial<Watch>;
}

const hour = 3_600_000;
/** Noon of some day. */
const noon = 1_800_000_000_000;

const validators = { url: 'https://example.com/feed', etag: '"1"', last_modified: null };
const rows: Record<WatchStatus, Watch> = {
  pending: watchRow({ poll_job: 7 }),
  ok: watchRow({ status: 'ok', poll_job: 7, last_run_at: noon - 24 * hour, last_item_count: 12, validators }),
  error: watchRow({ status: 'error', poll_job: 7, last_run_at: noon - 24 * hour, last_error: 'HTTP 500' }),
};

const events: { [Type in EventType]: Extract<WatchEvent, { type: Type }> } = {
  due: { type: 'due', at: noon + 40_000, job: 8 },
  runNow: { type: 'runNow', at: noon - 5 * hour, job: 8 },
  polled: { type: 'polled', at: noon + 50_000, job: 7, items: 30, validators, feed_url: 'https://example.com/f' },
  pollFailed: { type: 'pollFailed', at: noon + 50_000, job: 7, message: 'HTTP 404' },
  edit: { type: 'edit', changes: { title: 'News' } },
  clockSet: { type: 'clockSet', at: noon - 48 * hour },
};

const due: Case[] = [
  { when: 'on time', next: 'same', row: { poll_job: 8, next_run_at: noon + 24 * hour } },
  { when: 'not yet', event: { at: noon - 1 }, next: null },
  { when: 'disabled', watch: { enabled: false }, next: null },
  { when: 'a poll is in flight', event: { job: null }, next: 'same', row: { next_run_at: noon + 24 * hour } },
  {
    when: 'less than half an interval late',
    event: { at: noon + 11 * hour },
    next: 'same',
    row: { poll_job: 8, next_run_at: noon + 24 * hour },
  },
  {
    when: 'more than half an interval late',
    event: { at: noon + 13 * hour },
    next: 'same',
    row: { poll_job: 8, next_run_at: noon + 48 * hour },
  },
  {
    when: 'a week late',
    event: { at: noon + 7 * 24 * hour },
    next: 'same',
    row: { poll_job: 8, next_run_at: noon + 8 * 24 * hour },
  },
];
const runNow: Case[] = [
  { when: 'in any case', next: 'same', row: { poll_job: 8, next_run_at: noon + 19 * hour } },
  { when: 'disabled', watch: { enabled: false }, next: 'same', row: { poll_job: 8, next_run_at: noon + 19 * hour } },
  { when: 'a poll is in flight', event: { job: null }, next: 'same', row: { next_run_at: noon + 19 * hour } },
];
const polled: Case[] = [
  {
    when: 'of the latest poll',
    next: 'ok',
    row: {
      last_run_at: noon + 50_000,
      last_error: null,
      last_item_count: 30,
      validators,
      feed_url: 'https://example.com/f',
    },
  },
  { when: 'of another poll', event: { job: 6 }, next: null },
];
const pollFailed: Case[] = [
  { when: 'of the latest poll', next: 'error', row: { last_run_at: noon + 50_000, last_error: 'HTTP 404' } },
  {
    when: 'with a long message',
    event: { message: 'x'.repeat(1001) },
    next: 'error',
    row: { last_run_at: noon + 50_000, last_error: 'x'.repeat(1000) },
  },
  { when: 'of another poll', event: { job: 6 }, next: null },
];
const edits: Case[] = [
  { when: 'a title', next: 'same', row: { title: 'News' } },
  { when: 'the same interval', event: { changes: { interval_hours: 24 } }, next: 'same' },
  {
    when: 'a config: the next poll asks for everything',
    event: { changes: { config: { max_items: '5' } } },
    next: 'same',
    row: { config: { max_items: '5' }, validators: null },
  },
];
const ranBefore: Case = {
  when: 'an interval, after a run',
  event: { changes: { interval_hours: 6 } },
  next: 'same',
  row: { interval_hours: 6, next_run_at: noon - 18 * hour },
};
const clockSet: Case[] = [
  { when: 'to more than an interval before the next poll', next: 'same', row: { next_run_at: noon - 24 * hour } },
  { when: 'to an interval before it', event: { at: noon - 24 * hour }, next: null },
];

const table: Record<WatchStatus, Record<EventType, Case[]>> = {
  pending: {
    due,
    runNow,
    polled,
    pollFailed,
    edit: [
      ...edits,
      {
        when: 'an interval, before the first run',
        event: { changes: { interval_hours: 6 } },
        next: 'same',
        row: { interval_hours: 6 },
      },
    ],
    clockSet,
  },
  ok: {
    due,
    runNow,
    polled: [
      ...polled,
      {
        when: 'and nothing had changed',
        event: { items: null },
        next: 'ok',
        row: { last_run_at: noon + 50_000, feed_url: 'https://example.com/f' },
      },
    ],
    pollFailed,
    edit: [...edits, ranBefore],
    clockSet,
  },
  error: { due, runNow, polled, pollFailed, edit: [...edits, ranBefore], clockSet },
};

for (const status of watchStatuses) {
  for (const [type, cases] of Object.entries(table[status]) as [EventType, Case[]][]) {
    for (const { when, watch, event, next, row } of cases) {
      test(`a watch that is ${status}, ${type}, ${when}: ${next ?? 'refused'}`, () => {
        const before = { ...rows[status], ...watch };
        const kept = structuredClone(before);
        const after = nextWatch(before, { ...events[type], ...event } as WatchEvent);
        const expected = { ...before, ...row, status: next === 'same' ? status : next };
        assert.deepEqual(after, next === null ? null : expected);
        assert.deepEqual(before, kept, 'the row that was given is left as it was');
      });
    }
  }
}

test('the table knows every state and every event of the machine and no other', () => {
  assert.deepEqual(Object.keys(watchMachine.states).sort(), [...watchStatuses].sort());
  assert.deepEqual([...watchMachine.events].sort(), Object.keys(events).sort());
});

test('however late a poll begins, the next one is on the row of points, half an interval ahead or more', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8760 }),
      fc.integer({ min: 0, max: 400 * 24 * hour }),
      (interval_hours, late) => {
        const watch = watchRow({ interval_hours });
        const after = nextWatch(watch, { type: 'due', at: noon + late, job: 1 });
        assert.ok(after !== null);
        const interval = interval_hours * hour;
        assert.equal((after.next_run_at - noon) % interval, 0);
        const ahead = after.next_run_at - (noon + late);
        assert.ok(ahead >= interval / 2 && ahead < 1.5 * interval, `${ahead} of ${interval}`);
      },
    ),
    { numRuns: 500 },
  );
});
