/**
 * Copies of libraries that this host has not served for long. They take room, and what was forgotten elsewhere since, or deleted with its library, is
 * still in them: so they go.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../domain/error-code.ts';

/** A copy is kept for so long after it was closed, ms. */
export const keptCopyMs = 24 * 3_600_000;

/** `dir`: has a folder for each library. `now`: ms. Gives the names of those that went. Errors: those of the file system. */
export function sweepCopies(
  dir: string,
  { isOpen, now }: { isOpen: (name: string) => boolean; now: number },
): string[] {
  const closed = foldersIn(dir).filter((name) => !isOpen(name));
  const unused = closed.filter((name) => now - lastUseOf(join(dir, name)) > keptCopyMs);
  for (const name of unused) rmSync(join(dir, name), { recursive: true, force: true });
  return unused;
}

function foldersIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []; // none was ever open
    throw error;
  }
}

/** Opening and closing a folder change its lock, ms. */
const lastUseOf = (path: string): number => statSync(path).mtimeMs;
