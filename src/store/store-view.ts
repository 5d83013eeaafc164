/** A read-only store, possibly with a writer in another process. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openReadOnlyEnvironment, type ReadOnlyEnvironment } from './environment.ts';
import { readersOf, type StoreReader } from './store.ts';

export class StoreView {
  readonly storeId: string;
  readonly reader: StoreReader;
  readonly #environment: ReadOnlyEnvironment;

  private constructor(environment: ReadOnlyEnvironment) {
    this.#environment = environment;
    this.storeId = environment.storeId;
    this.reader = readersOf(environment);
  }

  /** Errors: OperatorError `store_format` if there is no store, or of another format. */
  static open(dataDir: string): StoreView {
    return new StoreView(openReadOnlyEnvironment(join(dataDir, 'store')));
  }

  usedBytes(): number {
    return statSync(this.#environment.dataFile).size;
  }

  /** Write a compact snapshot to `data.mdb` in an empty folder. Writers continue. */
  async copyTo(dir: string): Promise<void> {
    await this.#environment.root.backup(dir, true);
  }

  close(): Promise<void> {
    return this.#environment.root.close();
  }
}
