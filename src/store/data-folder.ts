/**
 * The data folder: one process, one user. Opening creates it if needed, checks that it is the user's own plain folder with mode 0700,
 * and locks it. LMDB alone would admit a second server, which would run the same jobs.
 */
import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessage, isOperatorError, OperatorError } from '../domain/errors.ts';
import { takeFolderLock } from './folder-lock.ts';

export interface DataFolder {
  path: string;
  /** Whether a process used it before and released it properly. */
  wasUsed: boolean;
  /** Whether another process took the folder, unable to see this one. Errors: file system errors. */
  isLost: () => boolean;
  release(): void;
}

/** Errors: OperatorError `data_folder`. */
export function openDataFolder(path: string, nonce: string): DataFolder {
  const entry = statOf(path) ?? madeFolder(path);
  if (!entry.isDirectory()) throw new OperatorError('data_folder', `${path} is not a plain folder (a link or a file)`);
  if (process.getuid !== undefined && entry.uid !== process.getuid()) {
    throw new OperatorError('data_folder', `${path} belongs to another user`);
  }
  try {
    chmodSync(path, 0o700);
    const lock = takeFolderLock(path, nonce);
    if ('release' in lock) return { path, wasUsed: lock.wasReleased, isLost: lock.isLost, release: lock.release };
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
    throw new OperatorError('data_folder', `${path} cannot be made: ${errorMessage(error)}`, { cause: error });
  }
}

/** A recursive mkdir never returns below /proc and reports another path on a read-only disk. */
function makeFolders(path: string): void {
  const parent = dirname(path);
  if (parent !== path && statOf(parent) === undefined) makeFolders(parent);
  mkdirSync(path, { mode: 0o700 });
}
