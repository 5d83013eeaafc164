/** A wall clock that jumps when it is told to, for one process; compiled here, as `shifted-clock.c`. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilePreload, type PreloadLibrary } from '../reliability/preload-library.ts';

export class ShiftedClock {
  /** What the process needs in its environment. */
  readonly env: Record<string, string>;
  readonly #dir: string;
  readonly #file: string;

  private constructor({ dir, library }: PreloadLibrary) {
    this.#dir = dir;
    this.#file = join(dir, 'shift');
    this.env = { LD_PRELOAD: library, CLOCK_SHIFT_FILE: this.#file };
    this.set(0);
  }

  /** A clock that is right, or why there is none. The caller removes it. */
  static build(): ShiftedClock | string {
    const compiled = compilePreload(join(import.meta.dirname, 'shifted-clock.c'));
    return typeof compiled === 'string' ? compiled : new ShiftedClock(compiled);
  }

  /** From now on the clock is ahead by so many seconds. */
  set(seconds: number): void {
    writeFileSync(this.#file, String(seconds));
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
