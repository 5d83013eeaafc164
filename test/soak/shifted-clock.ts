/** A wall clock that jumps when it is told to, for one process; compiled here, as `shifted-clock.c`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class ShiftedClock {
  /** What the process needs in its environment. */
  readonly env: Record<string, string>;
  readonly #dir: string;
  readonly #file: string;

  private constructor(dir: string, library: string) {
    this.#dir = dir;
    this.#file = join(dir, 'shift');
    this.env = { LD_PRELOAD: library, CLOCK_SHIFT_FILE: this.#file };
    this.set(0);
  }

  /** A clock that is right, or why there is none. The caller removes it. */
  static build(): ShiftedClock | string {
    if (process.platform !== 'linux') return 'the clock is stood in for on Linux only';
    const dir = mkdtempSync(join(tmpdir(), 'readback-clock-'));
    const library = join(dir, 'shifted-clock.so');
    const source = join(import.meta.dirname, 'shifted-clock.c');
    const { status, error, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], {
      encoding: 'utf8',
    });
    if (status === 0) return new ShiftedClock(dir, library);
    rmSync(dir, { recursive: true });
    return `the library cannot be compiled here: ${error?.message ?? stderr.trim()}`;
  }

  /** From now on the clock is ahead by so many seconds. */
  set(seconds: number): void {
    writeFileSync(this.#file, String(seconds));
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
