/**
 * Disk space that a start needs. LMDB maps a sparse lock file, and touching a page without space ends the process (SIGBUS); a partly
 * written data file ends the next one. Both files are permanent, so an existing store needs no room unless another version opened it
 * last.
 */
import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull, OperatorError } from '../domain/errors.ts';

/** A new store with its first commits, rounded up: 176 KiB with ten pages. */
const newStoreBytes = 2 ** 20;
/** LMDB's lock file for `maxReaders`: 4304 bytes. */
const lockFileBytes = 8192;
/** All databases added to an existing store: 20 KiB, or 384 with a concurrent reader, which prevents page reuse. */
const upgradeBytes = 2 ** 19;
/** Added by a transaction of a migration (`migrations.ts`); a smaller store rewrites at most its size. */
const migrationBytes = 2 ** 24;

/** Errors: OperatorError `disk_full`, before anything is created, if missing files of the store do not fit. */
export function requireRoomToOpen(dataDir: string): void {
  if (isUnwritten(join(dataDir, 'store', 'data.mdb'))) requireRoom(dataDir, newStoreBytes, 'make a new store');
  else if (isUnwritten(join(dataDir, 'store', 'lock.mdb'))) requireRoom(dataDir, lockFileBytes, 'open the store');
}

/** Errors: OperatorError `disk_full`, before anything is created, if this version's additions do not fit. */
export function requireRoomToUpgrade(dataDir: string): void {
  requireRoom(dataDir, upgradeBytes, 'bring the store to this version');
}

/** Errors: OperatorError `disk_full`, before anything is written, if a migration's next transaction does not fit. */
export function requireRoomToMigrate(dataDir: string): void {
  const { size } = statSync(join(dataDir, 'store', 'data.mdb'));
  requireRoom(dataDir, Math.min(size, migrationBytes), 'bring the store to this version');
}

/** Missing, empty or sparse. */
function isUnwritten(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) === 0;
}

/** statfs ignores quotas, so write to find out. */
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
