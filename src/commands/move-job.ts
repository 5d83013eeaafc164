/**
 * A job row changes only here: it is created, or gets an event of its machine; its page, watch or backfill follows in
 * the same transaction. Reports of an attempt that lost its job (expired lease, forgotten page) get null, no changes.
 */
import type { Job, JobKind } from '../domain/job.ts';
import { type Backfill, type EmbeddingModel, isBuiltIn } from '../domain/model.ts';
import { type BackfillEvent, nextBackfill } from '../machines/backfill.ts';
import { type JobEvent, nextJob } from '../machines/job.ts';
import { type ModelEvent, nextModel } from '../machines/model.ts';
import { nextPage } from '../machines/page.ts';
import { nextWatch, type WatchEvent } from '../machines/watch.ts';
import type { Command, StoreReader, Transaction } from '../store/store.ts';
import type { StoredWatch } from '../store/watches.ts';

/** Time and number of attempts for new jobs. */
export interface JobPolicy {
  at: number;
  max_attempts: number;
}

interface NewJob extends JobPolicy {
  kind: JobKind;
  page_no: number | null;
  /** The fault that caused the job, if any. */
  last_error?: string | null;
}

export function createJob(
  transaction: Transaction,
  { kind, page_no, max_attempts, at, last_error = null }: NewJob,
): Job {
  const job: Job = {
    no: transaction.counters.take('job'),
    kind,
    status: 'pending',
    attempts: 0,
    max_attempts,
    unreached: 0,
    last_error,
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

/** Null if the job refuses the event; nothing changes. The caller decides about a cancelled job's page. */
export function moveJob(transaction: Transaction, job: Job, event: JobEvent): Job | null {
  const moved = nextJob(job, event);
  if (moved === null) return null;
  transaction.jobs.put(moved, job);
  if (moved.status !== job.status && event.type !== 'cancel') followJob(transaction, moved, event);
  return moved;
}

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

/** A backfill fails with its job and resumes with its retry. */
function followBackfillJob(transaction: Transaction, job: Job, at: number): void {
  const backfill = transaction.backfills.ofJob(job.no);
  if (backfill === undefined) return;
  const message = job.last_error ?? 'the job is dead';
  if (job.status === 'dead') moveBackfill(transaction, backfill, { type: 'fail', at, message });
  else if (job.status === 'failed') moveBackfill(transaction, backfill, { type: 'stumble', at, message });
  // A sealed backfill stays sealed when its job is released.
  else if (job.status === 'pending' && backfill.status === 'failed') {
    const { last_page: lastPage } = backfill;
    moveBackfill(transaction, backfill, { type: 'start', at, job_no: job.no, afresh: false, lastPage });
  }
  waitWhilePaused(transaction, job, backfill, at);
}

const pausedMs = 10 * 365 * 86_400_000;

/** While filling is paused, the built-in model's job waits. A suspect runs first, because others wait for it. */
export function waitWhilePaused(transaction: Transaction, job: Job, { model_id }: Backfill, at: number): void {
  const { models } = transaction;
  const model = models.get(model_id);
  if (job.status !== 'pending' || job.suspect || model === undefined || !isBuiltIn(model)) return;
  if (models.isFillPaused()) moveJob(transaction, job, { type: 'defer', at, runAt: at + pausedMs });
}

/** A watch shows why its latest poll failed or waits. On success its handler updates it. */
function followPoll(transaction: Transaction, job: Job, event: JobEvent): void {
  const waits = event.type === 'release' && event.message !== undefined;
  if (job.status !== 'failed' && job.status !== 'dead' && !waits) return;
  const watch = transaction.watches.ofJob(job.no);
  const message = job.last_error ?? 'the poll failed';
  if (watch !== undefined) moveWatch(transaction, watch, { type: 'pollFailed', at: event.at, job: job.no, message });
}

/** Null if the watch does not accept the event; nothing changes then. */
export function moveWatch(transaction: Transaction, watch: StoredWatch, event: WatchEvent): StoredWatch | null {
  const moved = nextWatch(watch, event);
  if (moved === null) return null;
  const stored = { ...moved, identity: watch.identity };
  transaction.watches.put(stored, watch);
  return stored;
}

/** Also moves the model. Null if the backfill does not accept the event; nothing changes then. */
export function moveBackfill(transaction: Transaction, backfill: Backfill, event: BackfillEvent): Backfill | null {
  const moved = nextBackfill(backfill, event);
  if (moved !== null) putBackfill(transaction, moved, backfill);
  return moved;
}

/** Store a backfill and update its model. `before` is undefined for the model's first backfill. */
export function putBackfill(transaction: Transaction, backfill: Backfill, before: Backfill | undefined): void {
  transaction.backfills.put(backfill);
  if (backfill.status === before?.status) return;
  const model = transaction.models.get(backfill.model_id);
  if (model !== undefined) moveModel(transaction, model, { type: `backfill.${backfill.status}` });
}

/** Null if the model does not accept the event; nothing changes then. */
function moveModel({ models }: Transaction, model: EmbeddingModel, event: ModelEvent): EmbeddingModel | null {
  const moved = nextModel(model, event);
  if (moved !== null) models.put(moved);
  return moved;
}

export interface Attempt {
  job_no: number;
  claim: number;
}

export function ownsJob({ jobs }: Pick<StoreReader, 'jobs'>, { job_no, claim }: Attempt): boolean {
  const job = jobs.get(job_no);
  return job?.status === 'running' && job.claim === claim;
}

/** Null if the job does not accept the event; nothing changes then. */
const moveByNumber =
  (no: number, event: JobEvent): Command<Job | null> =>
  (transaction) => {
    const job = transaction.jobs.get(no);
    return job === undefined ? null : moveJob(transaction, job, event);
  };

/** Complete the job; `also` runs in the same transaction, only if the attempt owns the job. */
export function completeJob(
  attempt: Attempt,
  at: number,
  also?: (transaction: Transaction) => void,
): Command<Job | null> {
  return (transaction) => {
    const done = moveByNumber(attempt.job_no, { type: 'complete', at, claim: attempt.claim })(transaction);
    if (done !== null) also?.(transaction);
    return done;
  };
}

type Report<Type extends JobEvent['type']> = Omit<Extract<JobEvent, { type: Type }>, 'type' | 'at' | 'claim'>;

export function failJob(attempt: Attempt, at: number, failure: Report<'fail'>): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'fail', at, claim: attempt.claim, ...failure });
}

/** The target was unreachable: the attempt does not count. */
export function noteUnreached(attempt: Attempt, at: number, unreached: Report<'unreached'>): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'unreached', at, claim: attempt.claim, ...unreached });
}

/** Release an unfinished attempt, uncounted, until `runAt`; `message` explains why, if useful. */
export function releaseJob(attempt: Attempt, at: number, runAt: number, message?: string): Command<Job | null> {
  return moveByNumber(attempt.job_no, { type: 'release', at, claim: attempt.claim, runAt, message });
}

/** Run a command in the same transaction if the attempt owns its job; else null. */
export function checkpointJob<Reply>(
  attempt: Attempt,
  at: number,
  leaseMs: number,
  command: Command<Reply>,
): Command<{ reply: Reply } | null> {
  return (transaction) => {
    const job = moveByNumber(attempt.job_no, { type: 'progress', at, claim: attempt.claim, leaseMs })(transaction);
    return job === null ? null : { reply: command(transaction) };
  };
}

/** Renew the lease; false: the attempt lost its job and must stop. */
export function heartbeatJob(attempt: Attempt, at: number, leaseMs: number): Command<boolean> {
  const beat = moveByNumber(attempt.job_no, { type: 'heartbeat', at, claim: attempt.claim, leaseMs });
  return (transaction) => beat(transaction) !== null;
}
