/** What is undone at the end of a test, a file or a bench. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whatever runs clean-up at its end: a test's context, or the `after` of a file. */
export interface Scope {
  after(cleanUp: () => Promise<void> | void): void;
}

/** Undoes all of what it is told of, newest first, as what came later uses what was there; then tells of what failed. */
export class CleanUps implements Scope {
  readonly #left: (() => Promise<void> | void)[] = [];

  after(cleanUp: () => Promise<void> | void): void {
    this.#left.push(cleanUp);
  }

  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let next = this.#left.pop(); next !== undefined; next = this.#left.pop()) {
      try {
        await next();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, 'several clean-ups failed');
  }
}

/** A scope that ends with `outer`, a test or `{ after }` of a file. By itself node:test begins with the oldest, and leaves out what comes after one that fails. */
export function newestFirst(outer: Scope): Scope {
  const cleanUps = new CleanUps();
  outer.after(() => cleanUps.run());
  return cleanUps;
}

/** A new, empty folder, removed with the scope; tried again while a process that is ending still writes there. */
export function temporaryFolder(scope: Scope, prefix = 'readback-'): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  scope.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}
