/**
 * The page machine: a page's status follows its index job (`index_page` or `fetch_and_index`) by `pageStatusUnder`. Its
 * events are the resulting statuses. Pure, like the job machine.
 *
 * queued    its job waits
 * indexing  its job runs
 * indexed   both sides of the index have acknowledged every chunk
 * failed    an attempt failed, another will follow
 * dead      the job is dead; a retry of the job leads back to queued
 */
import type { Job, JobStatus } from '../domain/job.ts';
import { type Page, type PageStatus, pageStatusUnder as statusUnder } from '../domain/page.ts';
import { type NextRow, nextRowBy, type Transitions } from './next-row.ts';

export type PageEvent = { [Status in JobStatus]: { type: `job.${Status}`; at: number } }[JobStatus];

const follow =
  (job: JobStatus) =>
  (page: Page, { at }: PageEvent): Page => ({
    ...page,
    status: statusUnder[job],
    ...(job === 'done' && { indexed_at: at }),
  });

export const pageTransitions: Transitions<PageStatus, Page, PageEvent> = {
  queued: { 'job.running': follow('running') },
  indexing: {
    'job.done': follow('done'),
    'job.failed': follow('failed'),
    'job.dead': follow('dead'),
    'job.pending': follow('pending'),
  },
  indexed: {},
  failed: { 'job.pending': follow('pending') },
  dead: { 'job.pending': follow('pending') },
};

export const nextPage: NextRow<Page, PageEvent> = nextRowBy(pageTransitions, 'status');

/** A new page under a job, or one that a repair indexes again. */
export function beginPage(
  page: Omit<Page, 'status' | 'indexed_at' | 'index_job' | 'first_label' | 'chunk_count'>,
  job: Job,
): Page {
  const nothingIndexed = { indexed_at: null, first_label: 0, chunk_count: 0 };
  return { ...page, ...nothingIndexed, status: statusUnder[job.status], index_job: job.no };
}
