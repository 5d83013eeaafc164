/**
 * Progress of models' vectors. Databases: `backfills` space → row; `backfill_by_job` job no → space; [space, page no] →
 * number of chunks without vectors: `vector_gaps` for pages without any, `begun_gaps` for pages that lack the last ones
 * (0 in gaps of earlier versions); `pending_vectors` space → sum of these numbers.
 */
import type { Backfill } from '../domain/model.ts';
import type { Table } from './environment.ts';
import { NumberedRecords, numbered, pairsOf, removeAll } from './records.ts';

type Gaps = Table<number, [number, number]>;

export class BackfillReader extends NumberedRecords<Backfill> {
  protected readonly rows = this.table<Backfill, number>('backfills', numbered);
  protected readonly byJob = this.table<number, number>('backfill_by_job', numbered);
  protected readonly untouched: Gaps = this.table('vector_gaps');
  protected readonly begun: Gaps = this.table('begun_gaps');
  protected readonly pendingOf = this.table<number, number>('pending_vectors', numbered);

  /** The backfill that a job works on; none if another job has replaced it. */
  ofJob(jobNo: number): Backfill | undefined {
    const space = this.byJob.get(jobNo);
    const row = space === undefined ? undefined : this.rows.get(space);
    return row?.job_no === jobNo ? row : undefined;
  }

  /** Numbers of pages without any vector, ascending, at most `limit`. */
  gaps(space: number, limit: number): number[] {
    return [...this.untouched.getKeys({ ...pairsOf(space), limit })].map(([, pageNo]) => pageNo);
  }

  /** Pages without any vector, newest first. If there are none: pages that lack some vectors, newest first. */
  newestGaps(space: number, limit: number): number[] {
    const { start: end, end: start } = pairsOf(space);
    const newest = (gaps: Gaps) => [...gaps.getKeys({ start, end, reverse: true, limit })].map(([, pageNo]) => pageNo);
    const untouched = newest(this.untouched);
    return untouched.length > 0 ? untouched : newest(this.begun);
  }

  hasGap(space: number, pageNo: number): boolean {
    return this.untouched.doesExist([space, pageNo]) || this.isBegun(space, pageNo);
  }

  isBegun(space: number, pageNo: number): boolean {
    return this.begun.doesExist([space, pageNo]);
  }

  lacking(space: number, pageNo: number): number | undefined {
    return this.begun.get([space, pageNo]);
  }

  begunIn(space: number): Map<number, number> {
    return new Map([...this.begun.getRange(pairsOf(space))].map(({ key: [, pageNo], value }) => [pageNo, value]));
  }

  /** Pages and chunks without vectors in a space: gaps, and pages with chunks that its backfill has not reached. */
  pending(space: number): { pages: number; chunks: number } {
    const range = pairsOf(space);
    const gaps = this.untouched.getKeysCount(range) + this.begun.getKeysCount(range);
    const { status, cursor = 0, last_page = 0 } = this.rows.get(space) ?? {};
    const ahead = status === 'running' ? Math.max(0, last_page - cursor) : 0;
    return { pages: gaps + ahead, chunks: (gaps === 0 ? 0 : (this.pendingOf.get(space) ?? 0)) + ahead };
  }
}

export class BackfillTransactor extends BackfillReader {
  put(backfill: Backfill): void {
    this.rows.put(backfill.space, backfill);
    this.byJob.put(backfill.job_no, backfill.space);
  }

  openGap(space: number, pageNo: number, chunks: number): void {
    this.closeGap(space, pageNo);
    this.untouched.put([space, pageNo], chunks);
    this.#count(space, chunks);
  }

  beginGap(space: number, pageNo: number, lacking: number): void {
    this.closeGap(space, pageNo);
    this.begun.put([space, pageNo], lacking);
    this.#count(space, lacking);
  }

  closeGap(space: number, pageNo: number): void {
    for (const gaps of [this.untouched, this.begun]) {
      const lacking = gaps.get([space, pageNo]);
      if (lacking === undefined) continue;
      gaps.remove([space, pageNo]);
      this.#count(space, -lacking);
    }
  }

  #count(space: number, change: number): void {
    if (change !== 0) this.pendingOf.put(space, Math.max(0, (this.pendingOf.get(space) ?? 0) + change));
  }

  remove(space: number): void {
    const row = this.rows.get(space);
    if (row !== undefined) this.byJob.remove(row.job_no);
    this.rows.remove(space);
  }

  /** Delete up to `limit` gaps of a space that is being deleted. Returns their number. */
  dropGaps(space: number, limit: number): number {
    const drop = (gaps: Gaps) => removeAll(gaps, [...gaps.getKeys({ ...pairsOf(space), limit })]);
    this.pendingOf.remove(space);
    return drop(this.untouched) + drop(this.begun);
  }
}
