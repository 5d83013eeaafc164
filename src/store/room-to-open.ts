/**
 * Room on the disk for what a start makes in a store. LMDB maps its lock file, which it makes without taking the disk's space for it,
 * and a process that touches a mapped page for which there is no room is ended (SIGBUS); a data file that it could not write whole ends
 * the next one. Both are there for good once they were written, so that a store that was open before needs no room, unless another version
 * of readback was the last to open it: what this one adds is small, and LMDB tells that it does not fit by a line of its own and a stack trace.
 */
import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull } from '../domain/error-code.ts';
import { OperatorError } from '../domain/errors.ts';

/** A new store with its databases and its first commits, rounded up generously: 176 KiB with ten pages. */
const newStoreBytes = 2 ** 20;
/** LMDB's lock file for the readers that a store may have: 4304 bytes. */
const lockFileBytes = 8192;
/**
 * All databases of a store added to the first one: 20 KiB, or 384 where another process reads meanwhile, so that no page is used twice.
 * Rows of models that are renewed take less.
 */
const upgradeBytes = 2 ** 19;
/** What a transaction of a migration (`migrations.ts`) may add to the file; a smaller store has no more to rewrite than its size. */
const migrationBytes = 2 ** 24;

/** Errors: OperatorError `disk_full`, before anything is made, where the store below `dataDir` has files still to be made that do not fit. */
export function requireRoomToOpen(dataDir: string): void {
  if (isUnwritten(join(dataDir, 'store', 'data.mdb'))) requireRoom(dataDir, newStoreBytes, 'make a new store');
  else if (isUnwritten(join(dataDir, 'store', 'lock.mdb'))) requireRoom(dataDir, lockFileBytes, 'open the store');
}

/** Errors: OperatorError `disk_full`, before anything is made, where there is no room for what this version adds to the store below `dataDir`. */
export function requireRoomToUpgrade(dataDir: string): void {
  requireRoom(dataDir, upgradeBytes, 'bring the store to this version');
}

/** Errors: OperatorError `disk_full`, before anything is written, where there is no room for a migration's next transaction. */
export function requireRoomToMigrate(dataDir: string): void {
  const { size } = statSync(join(dataDir, 'store', 'data.mdb'));
  requireRoom(dataDir, Math.min(size, migrationBytes), 'bring the store to this version');
}

/** Missing, empty, or all hole. */
function isUnwritten(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) === 0;
}

/** What a file system says of its free space leaves quotas out, so that it is tried. */
function requireRoom(dataDir: string, bytes: number, what: string): void {
  const trial = join(dataDir, 'room');
  try {
    writeFileSync(trial, Buffer.alloc(bytes), { mode: 0o600 });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    rmSync(trial, { force: true });
    const { bavail, bsize } = statfsSync(dataDir);
    const free = bavail * bsize;
    throw new OperatorError(
      'disk_full',
      `the disk of ${dataDir} is full: ${bytes} bytes are needed to ${what}, ${free} are free`,
      {
        cause: error,
      },
    );
  } finally {
    rmSync(trial, { force: true });
  }
}
