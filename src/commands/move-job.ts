/**
 * The two ways a job row comes about: created, or moved by an event of its machine. Both keep the job's page, watch or backfill in step, in
 * the same transaction. Every other command goes through these.
 */
import type { Job, JobKind } from '../domain/job.ts';
import { type JobEvent, nextJob } from '../machines/job.ts';
import { nextPage } from '../machines/page.ts';
import type { Transaction } from '../store/store.ts';
import { moveBackfill, moveWatch } from './move-rows.ts';

/** What a command is told for the jobs that it makes: the time, ms, and how many attempts each has. */
export interface JobPolicy {
  at: number;
  max_attempts: number;
}

export interface NewJob extends JobPolicy {
  kind: JobKind;
  page_no: number | null;
}

/** Append a pending job to the ledger. */
export function createJob(transaction: Transaction, { kind, page_no, max_attempts, at }: NewJob): Job {
  const job: Job = {
    no: transaction.counters.take('job'),
    kind,
    status: 'pending',
    attempts: 0,
    max_attempts,
    unreached: 0,
    last_error: null,
    created_at: at,
    updated_at: at,
    run_at: at,
    lease_until: 0,
    claim: 0,
    incarnation: '',
    suspect: false,
    page_no,
  };
  transaction.jobs.put(job, undefined);
  return job;
}

/**
 * Apply an event to a job and what follows it (a page, a watch, a backfill); null, and nothing written, where the job does not accept it. A cancelled job is done
 * without its work being done: what becomes of its page is for the one who cancels.
 */
export function moveJob(transaction: Transaction, job: Job, event: JobEvent): Job | null {
  const moved = nextJob(job, event);
  if (moved === null) return null;
  transaction.jobs.put(moved, job);
  if (moved.status !== job.status && event.type !== 'cancel') followJob(transaction, moved, event);
  return moved;
}

/** What the job works on follows it: a page, a watch or a backfill. */
function followJob(transaction: Transaction, job: Job, event: JobEvent): void {
  if (job.kind === 'backfill_model') followBackfillJob(transaction, job, event.at);
  else if (job.kind === 'poll_watch') followPoll(transaction, job, event);
  else followIndexJob(transaction, job, event.at);
}

/** Contract "Page status": the page follows the job that indexes it. */
function followIndexJob({ pages }: Transaction, job: Job, at: number): void {
  const page = job.page_no === null ? undefined : pages.get(job.page_no);
  if (page?.index_job !== job.no) return;
  const moved = nextPage(page, { type: `job.${job.status}`, at });
  if (moved !== null) pages.put(moved, page);
}

/** A backfill fails with its job, and goes on when that is retried. */
function followBackfillJob(transaction: Transaction, job: Job, at: number): void {
  const backfill = transaction.backfills.ofJob(job.no);
  if (backfill === undefined) return;
  const message = job.last_error ?? 'the job is dead';
  if (job.status === 'dead') moveBackfill(transaction, backfill, { type: 'fail', at, message });
  else if (job.status === 'failed') moveBackfill(transaction, backfill, { type: 'stumble', at, message });
  // One that is sealed stays so, though its job is given back.
  else if (job.status === 'pending' && backfill.status === 'failed') {
    const { last_page: lastPage } = backfill;
    moveBackfill(transaction, backfill, { type: 'start', at, job_no: job.no, afresh: false, lastPage });
  }
}

/** A watch shows how its latest poll failed, or why it waits. How one succeeded, its handler says when it completes the job. */
function followPoll(transaction: Transaction, job: Job, event: JobEvent): void {
  const waits = event.type === 'release' && event.message !== undefined;
  if (job.status !== 'failed' && job.status !== 'dead' && !waits) return;
  const watch = transaction.watches.ofJob(job.no);
  const message = job.last_error ?? 'the poll failed';
  if (watch !== undefined) moveWatch(transaction, watch, { type: 'pollFailed', at: event.at, job: job.no, message });
}
