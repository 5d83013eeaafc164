/**
 * The page machine: a page's status follows its index job (`index_page` or `fetch_and_index`). Pure, like the job machine.
 *
 * queued    its job waits
 * indexing  its job runs
 * indexed   both sides of the index have acknowledged every chunk
 * failed    an attempt failed, another will follow
 * dead      the job is dead; a retry of the job leads back to queued
 */
import { assign, setup } from 'xstate';
import type { Page } from '../domain/page.ts';
import { type NextRow, nextRowBy } from './next-row.ts';

export type PageEvent =
  | { type: 'jobStarted' }
  | { type: 'jobDone'; at: number }
  | { type: 'jobFailed' }
  | { type: 'jobDied' }
  /** The job went back to pending: given back, due again after a failure, or retried from dead. */
  | { type: 'jobRequeued' };

export const pageMachine = setup({
  types: { context: {} as Page, events: {} as PageEvent, input: {} as Page },
  actions: {
    stampIndexed: assign(({ event }) => ({ indexed_at: (event as Extract<PageEvent, { type: 'jobDone' }>).at })),
  },
}).createMachine({
  id: 'page',
  context: ({ input }) => input,
  initial: 'queued',
  states: {
    queued: { on: { jobStarted: 'indexing' } },
    indexing: {
      on: {
        jobDone: { target: 'indexed', actions: 'stampIndexed' },
        jobFailed: 'failed',
        jobDied: 'dead',
        jobRequeued: 'queued',
      },
    },
    indexed: {},
    failed: { on: { jobRequeued: 'queued' } },
    dead: { on: { jobRequeued: 'queued' } },
  },
});

/** The row after an event, or null where the page's state does not accept it. */
export const nextPage: NextRow<Page, PageEvent> = nextRowBy(pageMachine);
