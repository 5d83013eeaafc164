/**
 * The data folder: one process, one user. Opening it makes it if need be, checks that it is this user's own plain folder with
 * mode 0700, and takes its lock. LMDB itself lets many processes in, and two servers would run the same jobs.
 *
 * The lock is a file that names its holder by process id and start time, so that a file left by a killed process (or by a
 * process whose id was given to another since) is recognised as stale and taken over.
 */
import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class DataFolderError extends Error {
  readonly code = 'data_folder';
}

export interface DataFolder {
  path: string;
  /** Let go of the lock. */
  release(): void;
}

interface Holder {
  pid: number;
  /** Start of the process in clock ticks since boot, where the system tells. */
  started: string | null;
  nonce: string;
}

/** Open the folder for this process. Errors: DataFolderError with one line for the person who started it. */
export function openDataFolder(path: string, nonce: string): DataFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const entry = lstatSync(path);
  if (!entry.isDirectory()) throw new DataFolderError(`${path} is not a plain folder (a link or a file)`);
  if (process.getuid !== undefined && entry.uid !== process.getuid()) {
    throw new DataFolderError(`${path} belongs to another user`);
  }
  chmodSync(path, 0o700);
  const lockPath = join(path, 'lock');
  takeLock(lockPath, { pid: process.pid, started: startOf(process.pid), nonce });
  return { path, release: () => releaseLock(lockPath, nonce) };
}

/** Attempts at a lock that others take over at the same moment. */
const maxAttempts = 10;

function takeLock(path: string, self: Holder): void {
  const own = `${path}.${self.pid}.${self.nonce}`;
  writeFileSync(own, JSON.stringify(self), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (linkIfFree(own, path)) return;
      const holder = readHolder(path);
      if (holder === 'gone') continue;
      if (holder !== 'unreadable' && isAlive(holder)) {
        throw new DataFolderError(
          `another readback (process ${holder.pid}) is using ${path.slice(0, -'/lock'.length)}`,
        );
      }
      setAside(path, `${own}.stale`, holder === 'unreadable' ? null : holder.nonce);
    }
    throw new DataFolderError(`the lock ${path} could not be taken: others keep taking it`);
  } finally {
    rmSync(own, { force: true });
  }
}

/** A hard link appears with its whole content or not at all, and never over another. */
function linkIfFree(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Take a stale lock away; if somebody replaced it by a live one in between, put that back. */
function setAside(path: string, aside: string, staleNonce: string | null): void {
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const taken = readHolder(aside);
  if (typeof taken === 'object' && taken.nonce !== staleNonce) linkIfFree(aside, path);
  rmSync(aside, { force: true });
}

function releaseLock(path: string, nonce: string): void {
  const holder = readHolder(path);
  if (typeof holder === 'object' && holder.nonce === nonce) rmSync(path, { force: true });
}

function readHolder(path: string): Holder | 'gone' | 'unreadable' {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8'));
    return Number.isInteger(holder?.pid) && typeof holder.nonce === 'string' ? holder : 'unreadable';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'gone';
    if (error instanceof SyntaxError) return 'unreadable';
    throw error;
  }
}

function isAlive({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  return started === null || startOf(pid) === started;
}

/** Field 22 of /proc/PID/stat, counted after the command's name, which may hold anything; null where there is no /proc. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null); // a zombie holds nothing any more
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return null;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
