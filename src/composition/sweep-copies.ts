/**
 * Copies of libraries that this host has not served for long. They take room, and what was forgotten elsewhere since, or deleted with its library, is
 * still in them: so they go.
 */
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { errorCode } from '../domain/error-code.ts';
import { takeFolderLock } from '../store/folder-lock.ts';

/** A copy is kept for so long after it was last written, opened or closed, ms. */
export const keptCopyMs = 24 * 3_600_000;

export interface SweepOptions {
  isOpen: (name: string) => boolean;
  /** Wall clock, ms. */
  now: number;
  log: Pick<Logger, 'warn'>;
}

/** `dir`: has a folder for each library. Gives the names of those that went; one that cannot go is told, and the others go. */
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

/** False where it is in use: by another process, or by one that is still closing it. */
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

/** The lock changes the folder where it is opened or closed, a commit its file, the index its folder; ms. */
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
