/** What is undone at the end of a test, a file or a bench. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whatever runs clean-up at its end: a test's context, or the `after` of a file. */
export interface Scope {
  after(cleanUp: () => Promise<void> | void): void;
}

/** Undoes all of what it is told of, newest first, as what came later uses what was there; then tells of the first that failed. */
export class CleanUps implements Scope {
  readonly #left: (() => Promise<void> | void)[] = [];

  after(cleanUp: () => Promise<void> | void): void {
    this.#left.push(cleanUp);
  }

  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const cleanUp of this.#left.splice(0).reverse()) {
      try {
        await cleanUp();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** A scope that ends with `outer`, a test or `{ after }` of a file. By itself node:test begins with the oldest, and leaves out what comes after one that fails. */
export function newestFirst(outer: Scope): Scope {
  const cleanUps = new CleanUps();
  outer.after(() => cleanUps.run());
  return cleanUps;
}

/** A new, empty folder, which goes with the scope, also while a process that ends still writes to it. */
export function temporaryFolder(scope: Scope, prefix = 'readback-'): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  scope.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}
