/**
 * How far imports are, so that one that was stopped goes on. Databases: `imports` id → checkpoint; `import_failures` [id, place in the
 * source] → what failed and why. A checkpoint is written in the transaction that stores the items it covers: both are there, or neither.
 */
import type { FailedItem, ImportCheckpoint } from '../domain/import.ts';
import type { Environment, Table } from './environment.ts';

const end = Number.MAX_SAFE_INTEGER;

/** Where an item that failed is kept. */
export type FailureKey = [id: string, place: number];

export class ImportReader {
  protected readonly rows: Table<ImportCheckpoint, string>;
  protected readonly failed: Table<FailedItem, FailureKey>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('imports', {});
    this.failed = environment.openDatabase('import_failures', {});
  }

  get(id: string): ImportCheckpoint | undefined {
    return this.rows.get(id);
  }

  /** By place in the source, from the one after `after`. */
  failures(id: string, after = -1, limit = end): FailedItem[] {
    return [...this.failed.getRange({ start: [id, after + 1], end: [id, end], limit })].map(({ value }) => value);
  }

  /** Of all imports: the next behind `after`, at most `limit`. */
  allFailures(after: FailureKey | null, limit: number): { key: FailureKey; value: FailedItem }[] {
    const range = after === null ? {} : { start: [after[0], after[1] + 1] as FailureKey };
    return [...this.failed.getRange({ ...range, limit })];
  }
}

/** Writer only: valid inside a transaction. */
export class ImportTransactor extends ImportReader {
  put(checkpoint: ImportCheckpoint): void {
    this.rows.put(checkpoint.id, checkpoint);
  }

  putFailure(id: string, failure: FailedItem): void {
    this.failed.put([id, failure.place], failure);
  }

  removeFailure(id: string, place: number): void {
    this.failed.remove([id, place]);
  }

  /** Start from the beginning. */
  remove(id: string): void {
    for (const key of [...this.failed.getKeys({ start: [id, 0], end: [id, end] })]) this.failed.remove(key);
    this.rows.remove(id);
  }
}
