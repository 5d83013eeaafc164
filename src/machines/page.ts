/**
 * The page machine: a page's status follows its index job (`index_page` or `fetch_and_index`). Pure, like the job machine.
 *
 * queued    its job waits
 * indexing  its job runs
 * indexed   both sides of the index have acknowledged every chunk
 * failed    an attempt failed, another will follow
 * dead      the job is dead; a retry of the job leads back to queued
 */
import { assign, setup, transition } from 'xstate';
import type { Page } from '../domain/page.ts';

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
export function nextPage(page: Page, event: PageEvent): Page | null {
  const before = pageMachine.resolveState({ value: page.status, context: page });
  const [after] = transition(pageMachine, before, event);
  return after === before ? null : { ...after.context, status: after.value };
}
