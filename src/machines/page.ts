/**
 * The page machine: a page's status follows its index job by `pageStatusUnder`. Its events are the resulting statuses.
 *
 * queued    its job waits
 * indexing  its job runs
 * indexed   both sides of the index have acknowledged every chunk
 * failed    an attempt failed, another will follow
 * dead      the job is dead; a retry of the job leads back to queued
 */
import { assign, setup } from 'xstate';
import type { Job, JobStatus } from '../domain/job.ts';
import { type Page, pageStatusUnder as statusUnder } from '../domain/page.ts';
import { type NextRow, nextRowBy } from './next-row.ts';

export type PageEvent = { [Status in JobStatus]: { type: `job.${Status}`; at: number } }[JobStatus];

export const pageMachine = setup({
  types: { context: {} as Page, events: {} as PageEvent, input: {} as Page },
  actions: {
    stampIndexed: assign(({ event }) => ({ indexed_at: event.at })),
  },
}).createMachine({
  id: 'page',
  context: ({ input }) => input,
  initial: statusUnder.pending,
  states: {
    queued: { on: { 'job.running': statusUnder.running } },
    indexing: {
      on: {
        'job.done': { target: statusUnder.done, actions: 'stampIndexed' },
        'job.failed': statusUnder.failed,
        'job.dead': statusUnder.dead,
        'job.pending': statusUnder.pending,
      },
    },
    indexed: {},
    failed: { on: { 'job.pending': statusUnder.pending } },
    dead: { on: { 'job.pending': statusUnder.pending } },
  },
});

export const nextPage: NextRow<Page, PageEvent> = nextRowBy(pageMachine, 'status');

export function beginPage(
  page: Omit<Page, 'status' | 'indexed_at' | 'index_job' | 'first_label' | 'chunk_count'>,
  job: Job,
): Page {
  const nothingIndexed = { indexed_at: null, first_label: 0, chunk_count: 0 };
  return { ...page, ...nothingIndexed, status: statusUnder[job.status], index_job: job.no };
}
