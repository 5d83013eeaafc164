import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JobStatus } from '../../src/domain/job.ts';
import { type Page, type PageStatus, pageStatuses, pageStatusUnder } from '../../src/domain/page.ts';
import { jobMachine } from '../../src/machines/job.ts';
import { beginPage, nextPage, type PageEvent, pageMachine } from '../../src/machines/page.ts';
import { jobRow, pageRow } from './rows.ts';

type EventType = PageEvent['type'];

const events: { [Type in EventType]: Extract<PageEvent, { type: Type }> } = {
  'job.pending': { type: 'job.pending', at: 900 },
  'job.running': { type: 'job.running', at: 900 },
  'job.done': { type: 'job.done', at: 900 },
  'job.failed': { type: 'job.failed', at: 900 },
  'job.dead': { type: 'job.dead', at: 900 },
};

const none = { 'job.pending': null, 'job.running': null, 'job.done': null, 'job.failed': null, 'job.dead': null };
const table: Record<PageStatus, Record<EventType, PageStatus | null>> = {
  queued: { ...none, 'job.running': 'indexing' },
  indexing: {
    'job.pending': 'queued',
    'job.running': null,
    'job.done': 'indexed',
    'job.failed': 'failed',
    'job.dead': 'dead',
  },
  indexed: none,
  failed: { ...none, 'job.pending': 'queued' },
  dead: { ...none, 'job.pending': 'queued' },
};

for (const status of pageStatuses) {
  for (const [type, next] of Object.entries(table[status]) as [EventType, PageStatus | null][]) {
    test(`a page that is ${status}, ${type}: ${next ?? 'refused'}`, () => {
      const before = pageRow({ status });
      const expected: Page | null =
        next === null ? null : { ...before, status: next, ...(next === 'indexed' ? { indexed_at: 900 } : {}) };
      assert.deepEqual(nextPage(before, events[type]), expected);
    });
  }
}

test('the table knows every state and event of the machine and no other', () => {
  assert.deepEqual(Object.keys(pageMachine.states).sort(), [...pageStatuses].sort());
  assert.deepEqual([...pageMachine.events].sort(), Object.keys(events).sort());
});

test('whatever happens, a page has a time of indexing exactly when it is indexed', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...(Object.keys(events) as EventType[])), { maxLength: 40 }), (walk) => {
      let page = pageRow();
      for (const type of walk) page = nextPage(page, events[type]) ?? page;
      assert.equal(page.indexed_at !== null, page.status === 'indexed');
    }),
    { seed: 20_262, numRuns: 300 },
  );
});

test('wherever its job may move, the page follows it to the status that the job gives it', () => {
  for (const { key: before, transitions } of Object.values(jobMachine.states)) {
    for (const { target, eventType } of [...transitions.values()].flat()) {
      const after = target?.[0].key as JobStatus | undefined;
      // Who cancels decides about the page; no page follows the jobs that the encoder serves.
      if (after === undefined || eventType === 'cancel' || eventType === 'served') continue;
      const page = pageRow({ status: pageStatusUnder[before as JobStatus] });
      const followed = nextPage(page, { type: `job.${after}`, at: 900 });
      assert.equal(followed?.status, pageStatusUnder[after], `${before}: ${eventType}`);
    }
  }
});

test('a page that begins has what is known of it, the status that its job gives it, and nothing indexed', () => {
  const indexed = pageRow({ status: 'indexed', indexed_at: 900, first_label: 40, chunk_count: 2 });
  assert.deepEqual(beginPage(indexed, jobRow({ no: 9 })), pageRow({ status: 'queued', index_job: 9 }));
});
