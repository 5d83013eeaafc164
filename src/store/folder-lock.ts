/**
 * A lock on a folder for one process, as a file. Locks have generations, `lock.1`, `lock.2`, …. The newest names its
 * owner by process id and start time, so the file of a killed process or a reused id is recognised. A lock is never
 * deleted: a process that finds it stale or released links the next generation, which appears atomically and never
 * replaces another, so two processes cannot both succeed it.
 *
 * Processes in another container are not visible: they count as dead, and detect the loss (`isLost`) before the next
 * write. On a full disk a generation is a symbolic link with the owner as target: ext4 keeps 59 bytes in the inode.
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
import { errorCode, isDiskFull } from '../domain/errors.ts';

export interface FolderLock {
  /** Whether a former owner released it properly. */
  wasReleased: boolean;
  isLost: () => boolean;
  release(): void;
}

interface Holder {
  pid: number;
  /** Start of the process in clock ticks since boot, if known. */
  started: string | null;
  nonce: string;
  released: boolean;
}

const maxAttempts = 10;

/** Take the folder's lock; `nonce` is unique to this call. Returns the process id of a living owner instead. */
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
        if (holder === 'gone') continue; // another generation followed meanwhile
        if (holder !== 'unreadable' && isHeld(holder)) return { heldBy: holder.pid };
      }
      const next = generationPath(folder, newest + 1);
      if (!ifFree(() => (isFile ? linkSync(own, next) : symlinkSync(targetOf(self), next)))) continue;
      if (newestGeneration(folder) > newest + 1) {
        rmSync(next, { force: true }); // an old generation that was cleaned up: the current lock is newer
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

/** A deleted lock does not yet count as lost. */
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
    // If this does not fit either, the lock becomes stale when the process ends.
    if (!isDiskFull(error)) throw error;
  }
}

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
    // EINVAL: a file, not a link.
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

/** Field 22 of /proc/PID/stat, counted after the command name, which may contain anything; null without /proc. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null); // a zombie owns nothing any more
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return null;
    throw error;
  }
}
