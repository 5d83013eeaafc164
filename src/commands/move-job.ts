/**
 * The two ways a job row comes about: created, or moved by an event of its machine. Both keep the job's page, watch or backfill in step, in
 * the same transaction. Every other command goes through these.
 */
import type { Job, JobKind, JobStatus } from '../domain/job.ts';
import { type BackfillEvent, nextBackfill } from '../machines/backfill.ts';
import { type JobEvent, nextJob } from '../machines/job.ts';
import { nextModel } from '../machines/model.ts';
import { nextPage, type PageEvent } from '../machines/page.ts';
import { nextWatch } from '../machines/watch.ts';
import type { Transaction } from '../store/store.ts';

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
 * Apply an event to a job and its page; null, and nothing written, where the job does not accept it. A cancelled job is done
 * without its work being done: what becomes of its page is for the one who cancels.
 */
export function moveJob(transaction: Transaction, job: Job, event: JobEvent): Job | null {
  const moved = nextJob(job, event);
  if (moved === null) return null;
  transaction.jobs.put(moved, job);
  if (moved.status !== job.status && event.type !== 'cancel') followJob(transaction, moved, event);
  return moved;
}

/** A backfill fails with its job, and goes on when that is retried. */
function followBackfillJob({ backfills, models }: Transaction, job: Job, at: number): void {
  const backfill = backfills.ofJob(job.no);
  const model = backfill && models.get(backfill.model_id);
  if (backfill === undefined || model === undefined) return;
  const message = job.last_error ?? 'the job is dead';
  const event: BackfillEvent | null =
    job.status === 'dead'
      ? { type: 'fail', at, message }
      : job.status === 'failed'
        ? { type: 'stumble', at, message }
        : job.status === 'pending' && backfill.status === 'failed' // one that is sealed stays so, though its job is given back
          ? { type: 'start', at, job_no: job.no, afresh: false, lastPage: backfill.last_page }
          : null;
  const moved = event && nextBackfill(backfill, event);
  if (moved === null) return;
  backfills.put(moved);
  if (moved.status === backfill.status) return;
  const next = nextModel(model, { type: moved.status === 'failed' ? 'backfillFailed' : 'backfillStarted' });
  if (next !== null) models.put(next);
}

function followJob(transaction: Transaction, job: Job, event: JobEvent): void {
  const { at } = event;
  if (job.kind === 'backfill_model') followBackfillJob(transaction, job, at);
  else if (job.kind === 'poll_watch') followPoll(transaction, job, event);
  else followIndexJob(transaction, job, at);
}

/** A watch shows how its latest poll failed, or why it waits. How one succeeded, its handler says when it completes the job. */
function followPoll({ watches }: Transaction, job: Job, event: JobEvent): void {
  const { at } = event;
  const waits = event.type === 'release' && event.message !== undefined;
  if (job.status !== 'failed' && job.status !== 'dead' && !waits) return;
  const watch = watches.ofJob(job.no);
  if (watch === undefined) return;
  const message = job.last_error ?? 'the poll failed';
  const moved = nextWatch(watch, { type: 'pollFailed', at, job: job.no, message });
  if (moved !== null) watches.put({ ...moved, identity: watch.identity }, watch);
}

/** Contract "Page status": the page follows the job that indexes it. */
function followIndexJob(transaction: Transaction, job: Job, at: number): void {
  const page = job.page_no === null ? undefined : transaction.pages.get(job.page_no);
  if (page === undefined || page.index_job !== job.no) return;
  const moved = nextPage(page, pageEventOf(job.status, at));
  if (moved !== null) transaction.pages.put(moved, page);
}

function pageEventOf(status: JobStatus, at: number): PageEvent {
  switch (status) {
    case 'pending':
      return { type: 'jobRequeued' };
    case 'running':
      return { type: 'jobStarted' };
    case 'done':
      return { type: 'jobDone', at };
    case 'failed':
      return { type: 'jobFailed' };
    case 'dead':
      return { type: 'jobDied' };
  }
}
