/** The data folder: one process, one user, mode 0700. It has its own lock: LMDB would admit a second process. */

import { chmodSync, lstatSync, mkdirSync, rmSync, type Stats, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorMessage, isDiskFull, isOperatorError, OperatorError } from '../domain/errors.ts';
import { takeFolderLock } from './folder-lock.ts';

export type DataFolder = ReturnType<typeof openDataFolder>;

/**
 * `wasUsed`: whether a process used it before and released it properly. `isLost`: whether another process took the folder, unable to see
 * this one; its errors: file system errors. Errors: OperatorError `data_folder`.
 */
export function openDataFolder(path: string, nonce: string) {
  const entry = statOf(path) ?? madeFolder(path);
  if (!entry.isDirectory()) throw new OperatorError('data_folder', `${path} is not a plain folder (a link or a file)`);
  if (process.getuid !== undefined && entry.uid !== process.getuid()) {
    throw new OperatorError('data_folder', `${path} belongs to another user`);
  }
  try {
    chmodSync(path, 0o700);
    const lock = takeFolderLock(path, nonce);
    if ('release' in lock) {
      const { wasReleased: wasUsed, isLost, release } = lock;
      return { path, wasUsed, isLost, release, [Symbol.dispose]: release };
    }
    throw new OperatorError('data_folder', `another readback (process ${lock.heldBy}) is using ${path}`);
  } catch (error) {
    if (isOperatorError(error, 'data_folder')) throw error;
    throw new OperatorError('data_folder', `${path} cannot be written: ${errorMessage(error)}`, { cause: error });
  }
}

function statOf(path: string): Stats | undefined {
  return ofFolder(path, () => lstatSync(path, { throwIfNoEntry: false }));
}

function madeFolder(path: string): Stats {
  return ofFolder(path, () => {
    makeFolders(path);
    return lstatSync(path);
  });
}

function ofFolder<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new OperatorError('data_folder', `${path} cannot be created: ${errorMessage(error)}`, { cause: error });
  }
}

/** Node's recursive mkdir never returns below /proc and reports another path on a read-only disk. */
function makeFolders(path: string): void {
  const parent = dirname(path);
  if (parent !== path && statOf(parent) === undefined) makeFolders(parent);
  mkdirSync(path, { mode: 0o700 });
}

/** Size of a new store with its first commits, rounded up: 176 KiB with ten pages. */
const newStoreBytes = 2 ** 20;
/** LMDB's lock file for `maxReaders`: 4304 bytes. */
const lockFileBytes = 8192;
/** All databases added to an existing store: 20 KiB, or 384 if a concurrent reader prevents the reuse of pages. */
const upgradeBytes = 2 ** 19;
/** Max size added by a transaction of a migration (`migrations.ts`). A smaller store rewrites at most its size. */
const migrationBytes = 2 ** 24;

/**
 * LMDB maps a sparse lock file, and touching a page without space ends the process (SIGBUS); a partly written data file ends the next
 * one. Both files are permanent, so an existing store needs no room unless another version opened it last. Errors: OperatorError
 * `disk_full`, before anything is created, if missing files of the store do not fit.
 */
export function requireRoomToOpen(dataDir: string): void {
  if (isUnwritten(join(dataDir, 'store', 'data.mdb'))) requireRoom(dataDir, newStoreBytes, 'create a new store');
  else if (isUnwritten(join(dataDir, 'store', 'lock.mdb'))) requireRoom(dataDir, lockFileBytes, 'open the store');
}

/** Errors: OperatorError `disk_full`, before anything is created, if this version's additions do not fit. */
export function requireRoomToUpgrade(dataDir: string): void {
  requireRoom(dataDir, upgradeBytes, 'upgrade the store');
}

/** Errors: OperatorError `disk_full`, before anything is written, if a migration's next transaction does not fit. */
export function requireRoomToMigrate(dataDir: string): void {
  const { size } = statSync(join(dataDir, 'store', 'data.mdb'));
  requireRoom(dataDir, Math.min(size, migrationBytes), 'upgrade the store');
}

function isUnwritten(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) === 0;
}

/** statfs ignores quotas, so this writes to find out. */
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
