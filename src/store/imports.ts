/** Import checkpoints, written with their items. Databases: `imports` id; `import_failures` [id, place in source]. */
import type { FailedItem, ImportCheckpoint } from '../domain/import.ts';
import { Records } from './records.ts';

const end = Number.MAX_SAFE_INTEGER;

export type FailureKey = [id: string, place: number];

export class ImportReader extends Records {
  protected readonly rows = this.table<ImportCheckpoint, string>('imports');
  protected readonly failed = this.table<FailedItem, FailureKey>('import_failures');

  get(id: string): ImportCheckpoint | undefined {
    return this.rows.get(id);
  }

  /** Failures by index in the source, after `after`. */
  failures(id: string, after = -1, limit = end): FailedItem[] {
    return [...this.failed.getRange({ start: [id, after + 1], end: [id, end], limit })].map(({ value }) => value);
  }

  allFailures(after: FailureKey | null, limit: number): { key: FailureKey; value: FailedItem }[] {
    const range = after === null ? {} : { start: [after[0], after[1] + 1] as FailureKey };
    return [...this.failed.getRange({ ...range, limit })];
  }
}

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

  remove(id: string): void {
    for (const key of [...this.failed.getKeys({ start: [id, 0], end: [id, end] })]) this.failed.remove(key);
    this.rows.remove(id);
  }
}
