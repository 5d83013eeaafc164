/** Deletes copies of libraries that this host has not served for long: they take space and contain data that was deleted elsewhere. */
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { errorCode } from '../domain/error-code.ts';
import { takeFolderLock } from '../store/folder-lock.ts';

/** Since the copy was last written, opened or closed, ms. */
export const keptCopyMs = 24 * 3_600_000;

export interface SweepOptions {
  isOpen: (name: string) => boolean;
  now: number;
  log: Pick<Logger, 'warn'>;
}

/** `dir` has a folder per library. Returns the deleted names; failures are logged. */
export async function sweepCopies(dir: string, { isOpen, now, log }: SweepOptions): Promise<string[]> {
  const gone: string[] = [];
  for (const name of await entriesOf(dir)) {
    if (isOpen(name)) continue;
    try {
      if (now - (await lastUseOf(join(dir, name))) > keptCopyMs && (await removeCopy(join(dir, name)))) gone.push(name);
    } catch (err) {
      log.warn({ err, library: name }, 'a copy that is not used any more could not be removed');
    }
  }
  return gone;
}

async function removeCopy(path: string): Promise<boolean> {
  const lock = takeFolderLock(path, randomUUID());
  if ('heldBy' in lock) return false;
  try {
    for (const entry of await readdir(path))
      if (!entry.startsWith('lock.')) await rm(join(path, entry), { recursive: true, force: true });
    await rm(path, { recursive: true, force: true }); // the lock last, so that nobody opens a part of a copy
    return true;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Opening and closing changes the folder, a commit its file, the index its folder; ms. */
async function lastUseOf(path: string): Promise<number> {
  const parts = [path, join(path, 'store', 'data.mdb'), join(path, 'index')];
  return Math.max(...(await Promise.all(parts.map(changedAt))));
}

async function changedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

async function entriesOf(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []; // none was ever open
    throw error;
  }
}
