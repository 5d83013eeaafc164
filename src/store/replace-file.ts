/** Replaces the store's file by a copy of equal content, so that a crash leaves one complete store. */

import { chmodSync, fsyncSync, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from '../domain/errors.ts';
import { openedFile } from '../files/checked-file.ts';
import { syncFile } from '../files/durable-file.ts';

const DATA = 'data.mdb';
const LOCK = 'lock.mdb';
const spareBytes = 32 * 2 ** 20;

/** Errors: OperatorError `no_room` unless `bytes` more fit, because a full disk would stop the writer. */
export function roomFor(path: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize >= bytes + spareBytes) return;
  throw new OperatorError(
    'no_room',
    `the disk has ${bavail * bsize} bytes free, ${bytes + spareBytes} are needed to rewrite the store`,
  );
}

export async function copyInto(dir: string, copy: (dir: string) => Promise<unknown>): Promise<void> {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { mode: 0o700 });
  await copy(dir);
  chmodSync(join(dir, DATA), 0o600);
  await syncFile(join(dir, DATA));
}

/** Rename the copy over the store's file, atomically. Errors: file system errors; the old file then stays. */
export function putInPlace(copyDir: string, dir: string): void {
  renameSync(join(copyDir, LOCK), join(dir, LOCK));
  renameSync(join(copyDir, DATA), join(dir, DATA));
}

/** fsync the new name before any write, and clean up. Errors: file system errors. */
export function settleInPlace(copyDir: string, dir: string): void {
  syncNow(dir, 'r');
  rmSync(copyDir, { recursive: true, force: true });
}

export function putNewInPlace(made: string, dir: string): void {
  syncNow(join(made, DATA), 'r+');
  syncNow(made, 'r');
  rmSync(dir, { recursive: true, force: true });
  renameSync(made, dir);
  syncNow(dirname(dir), 'r');
}

function syncNow(path: string, flags: string): void {
  using file = openedFile(path, flags);
  fsyncSync(file.descriptor);
}
