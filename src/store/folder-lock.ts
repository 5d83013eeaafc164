/**
 * A lock on a folder for one process, as a file that the system does not let go of by itself when the process is killed.
 *
 * Locks have generations, `lock.1`, `lock.2`, …: the newest one names the holder by process id and start time, so that a file
 * left by a killed process (or by one whose id was given to another since) is recognised. It is never taken away, only
 * followed: whoever finds it stale links the next generation, which appears with its whole content or not at all, and never
 * over another. A released lock is the newest one marked as released. So the newest never goes away, and two can never both
 * follow it.
 *
 * Whether a process lives is known of those that this one sees: not of one in another container that has the same folder. It is followed as if
 * it were dead, and finds out (`isLost`) before it writes again.
 *
 * A full disk has no block for a file's content. A generation is a symbolic link then, whose target says the same: a target this short
 * needs none (ext4, with the least room, keeps up to 59 bytes in the inode).
 */
import {
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode, isDiskFull } from '../domain/error-code.ts';

export interface FolderLock {
  /** Whether somebody had it before and let go of it in order. */
  wasReleased: boolean;
  /** Whether somebody else has it now. */
  isLost: () => boolean;
  release(): void;
}

interface Holder {
  pid: number;
  /** Start of the process in clock ticks since boot, where the system tells. */
  started: string | null;
  nonce: string;
  released: boolean;
}

/** Attempts at a lock that others take at the same moment. */
const maxAttempts = 10;

/** Take the folder's lock; `nonce` is unique to this call. Where a living process holds it, its process id. */
export function takeFolderLock(folder: string, nonce: string): FolderLock | { heldBy: number } {
  const self: Holder = { pid: process.pid, started: startOf(process.pid), nonce, released: false };
  const own = join(folder, `lock.${self.pid}.${nonce}`);
  try {
    const isFile = writeIfRoom(own, self);
    let holder: Holder | 'gone' | 'unreadable' = 'gone';
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const newest = newestGeneration(folder);
      if (newest > 0) {
        holder = readHolder(generationPath(folder, newest));
        if (holder === 'gone') continue; // followed by another meanwhile
        if (holder !== 'unreadable' && isHeld(holder)) return { heldBy: holder.pid };
      }
      const next = generationPath(folder, newest + 1);
      if (!ifFree(() => (isFile ? linkSync(own, next) : symlinkSync(targetOf(self), next)))) continue;
      if (newestGeneration(folder) > newest + 1) {
        rmSync(next, { force: true }); // an old number that had been tidied away: the lock is further on
        continue;
      }
      for (const old of generations(folder)) if (old <= newest) rmSync(generationPath(folder, old), { force: true });
      const wasReleased = newest > 0 && typeof holder === 'object' && holder.released;
      return { wasReleased, isLost: () => isLost(folder, next, self), release: () => releaseLock(next, self, own) };
    }
    return { heldBy: typeof holder === 'object' ? holder.pid : 0 };
  } finally {
    rmSync(own, { force: true });
  }
}

/** A lock that was only deleted is not lost yet. */
function isLost(folder: string, path: string, { nonce }: Holder): boolean {
  const own = readHolder(path);
  if (typeof own === 'object' && own.nonce === nonce) return false;
  const newest = newestGeneration(folder);
  if (newest === 0) return false;
  const holder = readHolder(generationPath(folder, newest));
  return typeof holder === 'object' && holder.nonce !== nonce;
}

function releaseLock(path: string, self: Holder, own: string): void {
  const holder = readHolder(path);
  if (typeof holder !== 'object' || holder.nonce !== self.nonce) return;
  const released = { ...self, released: true };
  try {
    if (!writeIfRoom(own, released)) symlinkSync(targetOf(released), own);
    renameSync(own, path);
  } catch (error) {
    rmSync(own, { force: true });
    // Where not even that fits the lock stays as it is; when this process has ended, it is stale and is followed.
    if (!isDiskFull(error)) throw error;
  }
}

/** Whether there was room for the holder's file; where there was not, none is left. */
function writeIfRoom(path: string, holder: Holder): boolean {
  try {
    writeFileSync(path, JSON.stringify(holder), { mode: 0o600 });
    return true;
  } catch (error) {
    rmSync(path, { force: true });
    if (!isDiskFull(error)) throw error;
    return false;
  }
}

/** The holder as the target of a link that leads nowhere. */
function targetOf({ pid, started, nonce, released }: Holder): string {
  return [pid, started ?? '', released ? 'r' : '', nonce].join(':');
}

function holderOfTarget(target: string): Holder | 'unreadable' {
  const [, pid, started, released, nonce] = /^(\d+):(\d*):(r?):(.+)$/.exec(target) ?? [];
  if (nonce === undefined) return 'unreadable';
  return { pid: Number(pid), started: started === '' ? null : started, nonce, released: released === 'r' };
}

function generationPath(folder: string, generation: number): string {
  return join(folder, `lock.${generation}`);
}

function generations(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => {
    const number = /^lock\.(\d+)$/.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

function newestGeneration(folder: string): number {
  return Math.max(0, ...generations(folder));
}

/** False where something has the name already. */
function ifFree(place: () => void): boolean {
  try {
    place();
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string): Holder | 'gone' | 'unreadable' {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8'));
    return Number.isInteger(holder?.pid) && typeof holder.nonce === 'string' ? holder : 'unreadable';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return readLinkedHolder(path);
    if (error instanceof SyntaxError) return 'unreadable';
    throw error;
  }
}

function readLinkedHolder(path: string): Holder | 'gone' | 'unreadable' {
  try {
    return holderOfTarget(readlinkSync(path));
  } catch (error) {
    // EINVAL: it is no link, so that a file was put here since.
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EINVAL') return 'gone';
    throw error;
  }
}

function isHeld({ pid, started, released }: Holder): boolean {
  if (released) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
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
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return null;
    throw error;
  }
}
