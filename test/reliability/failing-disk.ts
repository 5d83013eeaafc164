/**
 * A disk that fails on demand: a library that stands between the process and the system calls on the store's file (failing-disk.c). It is
 * compiled here; where there is no C compiler the test says so and is skipped.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilePreload, type PreloadLibrary } from './preload-library.ts';

/**
 * `sync`: a flush fails; `stall`: it does not end; `write`: all pages but the two first ones, `meta`: only these, `mark`: only
 * where these say what was flushed, cannot be written; `kill`: the process is killed when it comes to its `killPoint`.
 */
export type DiskFault = 'sync' | 'stall' | 'write' | 'meta' | 'mark' | 'kill';

/** Where a process is to be killed: the `count`th of these calls on paths of this pattern, in which `*` stands for anything. */
export interface KillPoint {
  call: 'write' | 'sync' | 'rename' | 'renamed' | 'unlink';
  path: string;
  count?: number;
}

export class FailingDisk {
  /** What the process needs in its environment. */
  readonly env: Record<string, string>;
  readonly #dir: string;

  private constructor({ dir, library }: PreloadLibrary) {
    this.#dir = dir;
    this.env = { LD_PRELOAD: library, FAULT_DIR: dir };
  }

  /** A disk without a fault, or why there is none. The caller removes it. */
  static build(): FailingDisk | string {
    const compiled = compilePreload(join(import.meta.dirname, 'failing-disk.c'));
    return typeof compiled === 'string' ? compiled : new FailingDisk(compiled);
  }

  /** The environment of a process that is killed there, once `fail('kill')` was called. */
  envToDieAt({ call, path, count = 1 }: KillPoint): Record<string, string> {
    return { ...this.env, KILL_AT: `${call} ${path} ${count}` };
  }

  /** The file whose being there is the fault. */
  pathOf(fault: DiskFault): string {
    return join(this.#dir, fault);
  }

  fail(fault: DiskFault): void {
    writeFileSync(this.pathOf(fault), '');
  }

  mend(fault: DiskFault): void {
    rmSync(this.pathOf(fault), { force: true });
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
