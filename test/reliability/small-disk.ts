/**
 * A disk of a few megabytes for a test: a tmpfs of its own, or an ext4 in a file. Where one cannot be mounted the test says so and is
 * skipped.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDiskFull } from '../../src/domain/errors.ts';

export class SmallDisk {
  readonly path: string;
  readonly #filler: string;

  private constructor(path: string) {
    this.path = path;
    this.#filler = join(path, 'filler');
  }

  /** A disk, or why there is none. The caller unmounts it. */
  static mount(megabytes: number, kind: 'tmpfs' | 'ext4' = 'tmpfs'): SmallDisk | string {
    const path = mkdtempSync(join(tmpdir(), 'readback-disk-'));
    const fault =
      kind === 'ext4'
        ? mountImage(path, megabytes)
        : run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', path);
    if (fault === null) return new SmallDisk(path);
    rmdirSync(path);
    return `a small disk cannot be mounted here: ${fault}`;
  }

  /** Take all space but `leave` bytes. */
  fill(leave = 0): void {
    const file = openSync(this.#filler, 'w');
    const block = Buffer.alloc(4096, 1);
    try {
      while (this.free() > leave) writeSync(file, block);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
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

/** Null, or why it failed. */
function run(command: string, ...args: string[]): string | null {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? null : (error?.message ?? stderr.trim());
}

/** The mount holds the image's file, whose name is not needed any more. */
function mountImage(path: string, megabytes: number): string | null {
  const image = `${path}.ext4`;
  try {
    writeFileSync(image, '');
    truncateSync(image, megabytes * 2 ** 20);
    return run('mkfs.ext4', '-q', '-m', '0', image) ?? run('mount', '-o', 'loop', image, path);
  } finally {
    rmSync(image, { force: true });
  }
}
