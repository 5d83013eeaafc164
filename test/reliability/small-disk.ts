/** A disk of a few megabytes for a test: a tmpfs of its own. Where one cannot be mounted the test says so and is skipped. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class SmallDisk {
  readonly path: string;
  readonly #filler: string;

  private constructor(path: string) {
    this.path = path;
    this.#filler = join(path, 'filler');
  }

  /** A disk, or why there is none. The caller unmounts it. */
  static mount(megabytes: number): SmallDisk | string {
    const path = mkdtempSync(join(tmpdir(), 'readback-disk-'));
    const args = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', path];
    const { status, error, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
    if (status === 0) return new SmallDisk(path);
    rmdirSync(path);
    return `a small disk cannot be mounted here: ${error?.message ?? stderr.trim()}`;
  }

  /** Take all space but `leave` bytes. */
  fill(leave = 0): void {
    const file = openSync(this.#filler, 'w');
    const block = Buffer.alloc(4096, 1);
    try {
      while (this.free() > leave) writeSync(file, block);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Give back what `fill` took. */
  clear(): void {
    rmSync(this.#filler, { force: true });
  }

  free(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.path]);
    rmdirSync(this.path);
  }
}
