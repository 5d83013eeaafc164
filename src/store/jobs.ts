/**
 * Job rows. Databases: `jobs` no → row; `jobs_by_status` [status, no]; `jobs_by_kind` [kind, no]; `jobs_due` [lane,
 * run_at, no] for claimable (pending and failed) jobs, in order.
 */
import { type Job, type JobKind, type JobStatus, type Lane, laneOf } from '../domain/job.ts';
import type { Table } from './environment.ts';
import { NumberedRecords, numbered } from './records.ts';

export interface JobListing {
  status?: JobStatus | undefined;
  kind?: JobKind | undefined;
  before?: number | undefined;
  limit: number;
}

const end = Number.MAX_SAFE_INTEGER;
type DueKey = [lane: Lane, runAt: number, no: number];
/** After this number of jobs of other kinds, a seek is as cheap as reading on. */
const maxPassed = 16;

export class JobReader extends NumberedRecords<Job> {
  protected readonly rows = this.table<Job, number>('jobs', numbered);
  protected readonly byStatus = this.table<number, [JobStatus, number]>('jobs_by_status');
  protected readonly byKind = this.table<number, [JobKind, number]>('jobs_by_kind');
  protected readonly due = this.table<number, DueKey>('jobs_due');

  /** Newest first. */
  list({ status, kind, before, limit }: JobListing): Job[] {
    if (status === undefined && kind === undefined) {
      return [...this.rows.getRange({ reverse: true, limit })].map(({ value }) => value);
    }
    const found: Job[] = [];
    for (const job of this.#listed(status, kind, before)) {
      found.push(job);
      if (found.length === limit) break;
    }
    return found;
  }

  *#listed(status: JobStatus | undefined, kind: JobKind | undefined, before = end): Generator<Job> {
    for (let from: number | undefined = before - 1; from !== undefined; ) {
      let passed = 0;
      let last: number = from;
      const numbers =
        status === undefined ? this.#numbers(this.byKind, kind, from) : this.#numbers(this.byStatus, status, from);
      for (const no of numbers) {
        last = no;
        const job = this.rows.get(no);
        if (job !== undefined && (kind === undefined || job.kind === kind)) {
          passed = 0;
          yield job;
        } else if (++passed === maxPassed) break;
      }
      from = passed < maxPassed ? undefined : [...this.#numbers(this.byKind, kind, last - 1, 1)][0];
    }
  }

  /** Oldest first. */
  *withStatus(status: JobStatus): Generator<Job> {
    for (const [, no] of this.byStatus.getKeys({ start: [status, 0], end: [status, end] })) {
      const job = this.rows.get(no);
      if (job !== undefined) yield job;
    }
  }

  withStatusFrom(status: JobStatus, from: number, limit: number): Job[] {
    const keys = this.byStatus.getKeys({ start: [status, from], end: [status, end], limit });
    return [...keys].flatMap(([, no]) => this.rows.get(no) ?? []);
  }

  countByStatus(status: JobStatus): number {
    return this.byStatus.getKeysCount({ start: [status, 0], end: [status, end] });
  }

  /** Number of pages waiting to be fetched or indexed (at most `most` of each), or running. */
  countIndexing(most: number): number {
    const lanes: readonly Lane[] = ['index', 'fetch'];
    const waiting = lanes.map((lane) =>
      this.due.getKeysCount({ start: [lane, 0, 0], end: [lane, end, end], limit: most }),
    );
    const running = [...this.withStatus('running')].filter((job) => lanes.includes(laneOf(job)));
    return waiting.reduce((sum, count) => sum + count, running.length);
  }

  /** Jobs claimable at `now`, longest due first. */
  *dueAt(lane: Lane, now: number): Generator<Job> {
    yield* this.#jobsDue([lane, 0, 0], [lane, now, end]);
  }

  /** Jobs due after `now`, in the order in which they become due. */
  *dueAfter(lane: Lane, now: number): Generator<Job> {
    yield* this.#jobsDue([lane, now, end], [lane, end, end]);
  }

  *#jobsDue(start: DueKey, stop: DueKey): Generator<Job> {
    for (const [, , no] of this.due.getKeys({ start, end: stop })) {
      const job = this.rows.get(no);
      if (job !== undefined) yield job;
    }
  }

  /** When the lane's next job is due, ms; undefined if the lane is empty. */
  nextDueAt(lane: Lane): number | undefined {
    for (const [, runAt] of this.due.getKeys({ start: [lane, 0, 0], end: [lane, end], limit: 1 })) return runAt;
    return undefined;
  }

  #numbers<Name extends JobStatus | JobKind>(
    database: Table<number, [Name, number]>,
    name: Name | undefined,
    from: number,
    limit = Number.POSITIVE_INFINITY,
  ) {
    const range = { start: [name, from], end: [name, -1] } as { start: [Name, number]; end: [Name, number] };
    return database.getKeys({ ...range, reverse: true, limit }).map(([, no]) => no);
  }
}

export class JobTransactor extends JobReader {
  /** Rows whose status changed, or that are now due earlier, in the order of the transaction. */
  changed: Job[] = [];

  put(job: Job, before: Job | undefined): void {
    if (before !== undefined && isClaimable(before)) this.due.remove([laneOf(before), before.run_at, before.no]);
    if (isClaimable(job)) this.due.put([laneOf(job), job.run_at, job.no], 0);
    if (before?.status !== job.status || (isClaimable(job) && job.run_at < before.run_at)) this.changed.push(job);
    if (before?.status !== job.status) {
      if (before !== undefined) this.byStatus.remove([before.status, before.no]);
      this.byStatus.put([job.status, job.no], 0);
    }
    if (before === undefined) this.byKind.put([job.kind, job.no], 0);
    this.rows.put(job.no, job);
  }

  remove(job: Job): void {
    if (isClaimable(job)) this.due.remove([laneOf(job), job.run_at, job.no]);
    this.byStatus.remove([job.status, job.no]);
    this.byKind.remove([job.kind, job.no]);
    this.rows.remove(job.no);
  }
}

function isClaimable(job: Job): boolean {
  return job.status === 'pending' || job.status === 'failed';
}
