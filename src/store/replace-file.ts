/**
 * The file system's part in replacing the store's file by a compact copy, and in putting a new store in its place. Until the renaming the
 * old file counts, from then on the new one; both say the same, so a crash at any point leaves a whole store, or none yet.
 */
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from '../domain/errors.ts';
import { syncFile } from '../files/durable-file.ts';

const DATA = 'data.mdb';
const LOCK = 'lock.mdb';
/** Left free beside the copy, for what is written at the same time. */
const spareBytes = 32 * 2 ** 20;

/** Errors: OperatorError `no_room` unless `bytes` more fit on the disk: filling it would stop those who write pages. */
export function roomFor(path: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize >= bytes + spareBytes) return;
  throw new OperatorError(
    'no_room',
    `the disk has ${bavail * bsize} bytes free, ${bytes + spareBytes} are needed to rewrite the store`,
  );
}

/** Have `copy` write the store into the folder it is given, and bring that to the disk. */
export async function copyInto(dir: string, copy: (dir: string) => Promise<unknown>): Promise<void> {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { mode: 0o700 });
  await copy(dir);
  chmodSync(join(dir, DATA), 0o600);
  await syncFile(join(dir, DATA));
}

/**
 * Put the copy in the place of the store's file. The last step is the one that counts, and all at once: whoever opens the store later,
 * opens the copy. Errors: those of the file system; the old file then still is in its place.
 */
export function putInPlace(copyDir: string, dir: string): void {
  renameSync(join(copyDir, LOCK), join(dir, LOCK));
  renameSync(join(copyDir, DATA), join(dir, DATA));
}

/** Bring the new place to the disk, before anything is written to the file, and clear up. Errors: those of the file system. */
export function settleInPlace(copyDir: string, dir: string): void {
  syncNow(dir, 'r');
  rmSync(copyDir, { recursive: true, force: true });
}

/** Bring a new store to the disk, then put its folder where there is none, or one without a store's data. */
export function putNewInPlace(made: string, dir: string): void {
  syncNow(join(made, DATA), 'r+');
  syncNow(made, 'r');
  rmSync(dir, { recursive: true, force: true });
  renameSync(made, dir);
  syncNow(dirname(dir), 'r');
}

function syncNow(path: string, flags: string): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
