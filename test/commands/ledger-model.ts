/**
 * The job ledger said a second time, as plainly as possible: rows in a map, changed in place. The test runs it beside the real
 * one. Times only grow; workers are names of attempts, stale ones included.
 */
import type { ClaimRequest } from '../../src/commands/claim-jobs.ts';
import type { Attempt } from '../../src/commands/move-job.ts';
import type { Job, JobKind } from '../../src/domain/job.ts';
import { jobRow } from '../machines/rows.ts';

const capacity = { suspect: 1, index: 2, fetch: 2, poll: 1, purge: 0, background: 1, backfill: 1, entities: 1 };
type Lane = keyof typeof capacity;

const lanes = { index_page: 'index', fetch_and_index: 'fetch', poll_watch: 'poll', cluster: 'background' } as const;
const laneOf = ({ suspect, kind }: Job): Lane => (suspect ? 'suspect' : lanes[kind as keyof typeof lanes]);

export class LedgerModel {
  readonly jobs: Job[] = [];
  /** Every attempt that was ever begun. */
  readonly attempts: Attempt[] = [];
  now = 1000;
  life = 1;

  get incarnation(): string {
    return `life ${this.life}`;
  }

  running(): Job[] {
    return this.jobs.filter(({ status }) => status === 'running');
  }

  job(no: number): Job | undefined {
    return this.jobs[no - 1];
  }

  enqueue(kind: JobKind, max_attempts: number): void {
    const at = this.now;
    const no = this.jobs.length + 1;
    this.jobs.push(jobRow({ no, kind, max_attempts, created_at: at, updated_at: at, run_at: at, page_no: null }));
  }

  claimRequest(leaseMs: number): ClaimRequest {
    const free = { ...capacity };
    for (const job of this.running()) free[laneOf(job)]--;
    return { at: this.now, incarnation: this.incarnation, leaseMs, free, running: this.running().length };
  }

  /** Numbers of the jobs that are claimed, in order. */
  claim({ free, running, leaseMs }: ClaimRequest): number[] {
    const waiting = this.jobs
      .filter(({ status }) => status === 'pending' || status === 'failed')
      .sort((a, b) => a.run_at - b.run_at || a.no - b.no);
    const due = (lane: Lane, places: number) =>
      waiting.filter((job) => laneOf(job) === lane && job.run_at <= this.now).slice(0, places);
    const onlySuspects = free.suspect === 0 || waiting.some(({ suspect }) => suspect);
    const chosen = onlySuspects
      ? due('suspect', running === 0 ? 1 : 0)
      : (['index', 'fetch', 'poll', 'background'] as const).flatMap((lane) => due(lane, free[lane]));
    for (const job of chosen) {
      const claim = this.attempts.length + 1;
      this.attempts.push({ job_no: job.no, claim });
      Object.assign(job, {
        status: 'running',
        attempts: job.attempts + 1,
        claim,
        incarnation: this.incarnation,
        lease_until: this.now + leaseMs,
        updated_at: this.now,
      });
    }
    return chosen.map(({ no }) => no);
  }

  /** The job, if this attempt still owns it. */
  owned({ job_no, claim }: Attempt): Job | undefined {
    const job = this.job(job_no);
    return job?.status === 'running' && job.claim === claim ? job : undefined;
  }

  beat(attempt: Attempt, leaseMs: number): boolean {
    const job = this.owned(attempt);
    if (job === undefined) return false;
    job.lease_until = this.now + leaseMs;
    return true;
  }

  complete(attempt: Attempt): boolean {
    const job = this.owned(attempt);
    if (job === undefined) return false;
    this.#leave(job, { status: 'done', last_error: null });
    return true;
  }

  fail(attempt: Attempt, { message, permanent, delayMs }: { message: string; permanent: boolean; delayMs: number }) {
    const job = this.owned(attempt);
    if (job === undefined) return false;
    const status = permanent || job.attempts === job.max_attempts ? 'dead' : 'failed';
    this.#leave(job, { status, last_error: message, run_at: this.now + delayMs });
    return true;
  }

  release(attempt: Attempt, runAt: number): boolean {
    const job = this.owned(attempt);
    if (job === undefined) return false;
    this.#leave(job, { status: 'pending', run_at: runAt, attempts: job.attempts - 1 });
    return true;
  }

  expire(): void {
    for (const job of this.running()) {
      if (job.lease_until > this.now) continue;
      const status = job.attempts === job.max_attempts ? 'dead' : 'pending';
      this.#leave(job, { status, run_at: this.now, last_error: 'the attempt exceeded its lease' });
    }
  }

  /** The process ends and another one starts. */
  restart(): void {
    this.life++;
    const orphans = this.running();
    for (const job of orphans) {
      if (orphans.length > 1) {
        this.#leave(job, { status: 'pending', suspect: true, run_at: this.now, attempts: job.attempts - 1 });
      } else if (job.attempts < job.max_attempts) {
        const last_error = 'the process ended while this job ran alone';
        this.#leave(job, { status: 'pending', suspect: true, run_at: this.now, last_error });
      } else {
        this.#leave(job, { status: 'dead', last_error: 'the process ended each time this job ran alone' });
      }
    }
  }

  retry(no: number): 'retried' | 'skipped' | 'not_found' {
    const job = this.job(no);
    if (job === undefined) return 'not_found';
    if (job.status !== 'dead') return 'skipped';
    Object.assign(job, { status: 'pending', attempts: 0, last_error: null, run_at: this.now, updated_at: this.now });
    return 'retried';
  }

  retryNewest(kind: JobKind | undefined, limit: number): number[] {
    const chosen = this.jobs
      .filter((job) => job.status === 'dead' && (kind === undefined || job.kind === kind))
      .reverse()
      .slice(0, limit);
    for (const { no } of chosen) this.retry(no);
    return chosen.map(({ no }) => no);
  }

  /** What forgetting a page does to its job. */
  cancel(no: number, reason: string): boolean {
    const job = this.job(no);
    if (job === undefined || job.status === 'done') return false;
    this.#leave(job, { status: 'done', last_error: reason });
    return true;
  }

  #leave(job: Job, changes: Partial<Job>): void {
    Object.assign(job, { lease_until: 0, suspect: false, updated_at: this.now }, changes);
  }
}
