import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Page, PageStatus } from '../../src/domain/page.ts';
import { pageStatuses } from '../../src/domain/page.ts';
import { nextPage, type PageEvent, pageMachine } from '../../src/machines/page.ts';
import { pageRow } from './rows.ts';

type EventType = PageEvent['type'];

const events: { [Type in EventType]: Extract<PageEvent, { type: Type }> } = {
  jobStarted: { type: 'jobStarted' },
  jobDone: { type: 'jobDone', at: 900 },
  jobFailed: { type: 'jobFailed' },
  jobDied: { type: 'jobDied' },
  jobRequeued: { type: 'jobRequeued' },
};

const table: Record<PageStatus, Record<EventType, PageStatus | null>> = {
  queued: { jobStarted: 'indexing', jobDone: null, jobFailed: null, jobDied: null, jobRequeued: null },
  indexing: {
    jobStarted: null,
    jobDone: 'indexed',
    jobFailed: 'failed',
    jobDied: 'dead',
    jobRequeued: 'queued',
  },
  indexed: { jobStarted: null, jobDone: null, jobFailed: null, jobDied: null, jobRequeued: null },
  failed: { jobStarted: null, jobDone: null, jobFailed: null, jobDied: null, jobRequeued: 'queued' },
  dead: { jobStarted: null, jobDone: null, jobFailed: null, jobDied: null, jobRequeued: 'queued' },
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
