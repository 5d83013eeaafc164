/**
 * How far models' vectors are. Databases: `backfills` space → row; `backfill_by_job` job no → space; `vector_gaps` [space, page no]
 * for pages whose present content lacks the model's vectors although the model takes pages.
 */
import type { Backfill } from '../domain/model.ts';
import type { Environment, Table } from './environment.ts';
import { pairsOf, removeAll } from './keys.ts';

export class BackfillReader {
  protected readonly rows: Table<Backfill, number>;
  protected readonly byJob: Table<number, number>;
  protected readonly gapKeys: Table<number, [number, number]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('backfills', { keyEncoding: 'uint32' });
    this.byJob = environment.openDatabase('backfill_by_job', { keyEncoding: 'uint32' });
    this.gapKeys = environment.openDatabase('vector_gaps', {});
  }

  get(space: number): Backfill | undefined {
    return this.rows.get(space);
  }

  all(): Backfill[] {
    return [...this.rows.getRange()].map(({ value }) => value);
  }

  /** The backfill that a job works on; a job that another one has replaced works on none. */
  ofJob(jobNo: number): Backfill | undefined {
    const space = this.byJob.get(jobNo);
    const row = space === undefined ? undefined : this.rows.get(space);
    return row?.job_no === jobNo ? row : undefined;
  }

  /** Numbers of pages with a gap, ascending, at most `limit`. */
  gaps(space: number, limit: number): number[] {
    return [...this.gapKeys.getKeys({ ...pairsOf(space), limit })].map(([, pageNo]) => pageNo);
  }

  hasGap(space: number, pageNo: number): boolean {
    return this.gapKeys.doesExist([space, pageNo]);
  }
}

/** Writer only: valid inside a transaction. */
export class BackfillTransactor extends BackfillReader {
  put(backfill: Backfill): void {
    this.rows.put(backfill.space, backfill);
    this.byJob.put(backfill.job_no, backfill.space);
  }

  openGap(space: number, pageNo: number): void {
    this.gapKeys.put([space, pageNo], 0);
  }

  closeGap(space: number, pageNo: number): void {
    this.gapKeys.remove([space, pageNo]);
  }

  /** Make the lookup by job again, and delete the gaps that belong to nothing: repair only. Gives how many. */
  repair(isWanted: (space: number, pageNo: number) => boolean): number {
    for (const jobNo of [...this.byJob.getKeys()]) this.byJob.remove(jobNo);
    for (const { job_no, space } of this.all()) this.byJob.put(job_no, space);
    const orphans = [...this.gapKeys.getKeys()].filter(([space, pageNo]) => !isWanted(space, pageNo));
    return removeAll(this.gapKeys, orphans);
  }

  remove(space: number): void {
    const row = this.rows.get(space);
    if (row !== undefined) this.byJob.remove(row.job_no);
    this.rows.remove(space);
  }

  /** Delete up to `limit` gaps of a space. Gives how many. */
  dropGaps(space: number, limit: number): number {
    return removeAll(this.gapKeys, [...this.gapKeys.getKeys({ ...pairsOf(space), limit })]);
  }
}
