/**
 * Tombstones: the remains of a forgotten page, without its content. States: src/machines/tombstone.ts.
 *
 * Databases: `tombstones` page no → row; `tombstones_by_state` [state, job no, page no].
 */
import { type Tombstone, type TombstoneState, tombstoneStates } from '../domain/blacklist.ts';
import type { Environment, Table } from './environment.ts';

const maxNumber = Number.MAX_SAFE_INTEGER;

export class TombstoneReader {
  protected readonly rows: Table<Tombstone, number>;
  protected readonly byState: Table<number, [TombstoneState, number, number]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('tombstones', { keyEncoding: 'uint32' });
    this.byState = environment.openDatabase('tombstones_by_state', {});
  }

  get(pageNo: number): Tombstone | undefined {
    return this.rows.get(pageNo);
  }

  any(): boolean {
    return this.rows.getKeysCount({ limit: 1 }) > 0;
  }

  countByState(): Record<TombstoneState, number> {
    const counts = tombstoneStates.map((state) => [
      state,
      this.byState.getKeysCount({ start: [state, 0, 0], end: [state, maxNumber, maxNumber] }),
    ]);
    return Object.fromEntries(counts) as Record<TombstoneState, number>;
  }

  all(): Tombstone[] {
    return [...this.rows.getRange()].map(({ value }) => value);
  }

  /** Page numbers in a state, optionally of one purge job; by job and number. */
  pageNumbers(state: TombstoneState, { job_no, limit }: { job_no?: number; limit?: number } = {}): number[] {
    const range = { start: [state, job_no ?? 0, 0], end: [state, job_no ?? maxNumber, maxNumber] } as {
      start: [TombstoneState, number, number];
      end: [TombstoneState, number, number];
    };
    return [...this.byState.getKeys(limit === undefined ? range : { ...range, limit })].map(([, , no]) => no);
  }
}

export class TombstoneTransactor extends TombstoneReader {
  changed: Tombstone[] = [];

  put(row: Tombstone): void {
    const before = this.rows.get(row.page_no);
    if (before !== undefined) this.byState.remove([before.state, before.job_no, before.page_no]);
    this.byState.put([row.state, row.job_no, row.page_no], 0);
    this.rows.put(row.page_no, row);
    this.changed.push(row);
  }
}
