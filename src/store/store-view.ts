/** A store that is only read, beside the process that writes it, if there is one. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, openReadOnlyEnvironment } from './environment.ts';
import { readersOf, type StoreReader } from './store.ts';

export class StoreView {
  readonly storeId: string;
  readonly reader: StoreReader;
  readonly #environment: Environment;

  private constructor(environment: Environment) {
    this.#environment = environment;
    this.storeId = environment.storeId;
    this.reader = readersOf(environment);
  }

  /** Errors: OperatorError `store_format` where there is no store below `dataDir`, or one of another format. */
  static open(dataDir: string): StoreView {
    return new StoreView(openReadOnlyEnvironment(join(dataDir, 'store')));
  }

  usedBytes(): number {
    return statSync(this.#environment.dataFile).size;
  }

  /** Write everything as of now into the file `data.mdb` of an empty folder, without free space. Writers go on meanwhile. */
  async copyTo(dir: string): Promise<void> {
    await this.#environment.root.backup(dir, true);
  }

  close(): Promise<void> {
    return this.#environment.root.close();
  }
}
