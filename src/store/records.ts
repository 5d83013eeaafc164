/** Where the readers of each kind of records get their databases from. */
import type { Key } from 'lmdb';
import type { Environment, Table, TypedDatabaseOptions } from './environment.ts';
import { lastNumberOf } from './keys.ts';

/** Keys that are numbers of 32 bits. */
export const numbered = { keyEncoding: 'uint32' } as const;

export class Records {
  protected readonly environment: Environment;

  constructor(environment: Environment) {
    this.environment = environment;
  }

  protected table<Value, StoredKey extends Key>(
    name: string,
    options: TypedDatabaseOptions = {},
  ): Table<Value, StoredKey> {
    return this.environment.openDatabase(name, options);
  }
}

/** Rows under their numbers. */
export abstract class NumberedRecords<Row> extends Records {
  protected abstract readonly rows: Table<Row, number>;

  get(no: number): Row | undefined {
    return this.rows.get(no);
  }

  /** Lowest number first. */
  all(): Row[] {
    return [...this.rows.getRange()].map(({ value }) => value);
  }

  lastNumber(): number {
    return lastNumberOf(this.rows);
  }
}
