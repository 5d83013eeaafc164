import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Watch, type WatchStatus, watchStatuses } from '../../src/domain/watch.ts';
import { nextWatch, type WatchEvent, watchMachine } from '../../src/machines/watch.ts';
import { watchRow } from './rows.ts';

type EventType = WatchEvent['type'];

/** What one event does to a watch under one condition: the next state, every field that changes, and what is else than in `rows` and `events`. */
type Case = readonly [
  when: string,
  next: WatchStatus | 'same' | null,
  row?: Partial<Watch>,
  watch?: Partial<Watch>,
  event?: object,
];

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
  ['on time', 'same', { poll_job: 8, next_run_at: noon + 24 * hour }],
  ['not yet', null, {}, {}, { at: noon - 1 }],
  ['disabled', null, {}, { enabled: false }],
  ['a poll is in flight', 'same', { next_run_at: noon + 24 * hour }, {}, { job: null }],
  [
    'less than half an interval late',
    'same',
    { poll_job: 8, next_run_at: noon + 24 * hour },
    {},
    { at: noon + 11 * hour },
  ],
  [
    'more than half an interval late',
    'same',
    { poll_job: 8, next_run_at: noon + 48 * hour },
    {},
    { at: noon + 13 * hour },
  ],
  ['a week late', 'same', { poll_job: 8, next_run_at: noon + 8 * 24 * hour }, {}, { at: noon + 7 * 24 * hour }],
];
const runNow: Case[] = [
  ['in any case', 'same', { poll_job: 8, next_run_at: noon + 19 * hour }],
  ['disabled', 'same', { poll_job: 8, next_run_at: noon + 19 * hour }, { enabled: false }],
  ['a poll is in flight', 'same', { next_run_at: noon + 19 * hour }, {}, { job: null }],
];
const polled: Case[] = [
  [
    'of the latest poll',
    'ok',
    {
      last_run_at: noon + 50_000,
      last_error: null,
      last_item_count: 30,
      validators,
      feed_url: 'https://example.com/f',
    },
  ],
  ['of another poll', null, {}, {}, { job: 6 }],
];
const pollFailed: Case[] = [
  ['of the latest poll', 'error', { last_run_at: noon + 50_000, last_error: 'HTTP 404' }],
  [
    'with a long message',
    'error',
    { last_run_at: noon + 50_000, last_error: 'x'.repeat(1000) },
    {},
    { message: 'x'.repeat(1001) },
  ],
  ['of another poll', null, {}, {}, { job: 6 }],
];
const edits: Case[] = [
  ['a title', 'same', { title: 'News' }],
  ['the same interval', 'same', {}, {}, { changes: { interval_hours: 24 } }],
  [
    'a config: the next poll asks for everything',
    'same',
    { config: { max_items: '5' }, validators: null },
    {},
    { changes: { config: { max_items: '5' } } },
  ],
];
const ranBefore: Case = [
  'an interval, after a run',
  'same',
  { interval_hours: 6, next_run_at: noon - 18 * hour },
  {},
  { changes: { interval_hours: 6 } },
];
const clockSet: Case[] = [
  ['to more than an interval before the next poll', 'same', { next_run_at: noon - 24 * hour }],
  ['to an interval before it', null, {}, {}, { at: noon - 24 * hour }],
];

const table: Record<WatchStatus, Record<EventType, Case[]>> = {
  pending: {
    due,
    runNow,
    polled,
    pollFailed,
    edit: [
      ...edits,
      ['an interval, before the first run', 'same', { interval_hours: 6 }, {}, { changes: { interval_hours: 6 } }],
    ],
    clockSet,
  },
  ok: {
    due,
    runNow,
    polled: [
      ...polled,
      [
        'and nothing had changed',
        'ok',
        { last_run_at: noon + 50_000, feed_url: 'https://example.com/f' },
        {},
        { items: null },
      ],
    ],
    pollFailed,
    edit: [...edits, ranBefore],
    clockSet,
  },
  error: { due, runNow, polled, pollFailed, edit: [...edits, ranBefore], clockSet },
};

for (const status of watchStatuses) {
  for (const [type, cases] of Object.entries(table[status]) as [EventType, Case[]][]) {
    for (const [when, next, row, watch, event] of cases) {
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
