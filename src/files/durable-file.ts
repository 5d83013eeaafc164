/**
 * A file that is there whole or not at all, also after a power cut: written under a temporary name, fsynced, renamed, and the
 * folder fsynced. Whoever opens a folder deletes the temporary names (`*.new`) that a crash left.
 */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export const TEMPORARY_SUFFIX = '.new';

/**
 * Have `write` write the temporary path it is given, then put that file in the place of `path`. Gives what `write` gave.
 * Errors: those of `write` and of the file system (a full disk); `path` is then as it was, the temporary file removed.
 */
export async function replaceFile<Result>(
  path: string,
  write: (temporary: string) => Promise<Result>,
): Promise<Result> {
  const temporary = path + TEMPORARY_SUFFIX;
  try {
    const result = await write(temporary);
    await sync(temporary, 'r+');
    await rename(temporary, path);
    await sync(dirname(path), 'r');
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function sync(path: string, flags: string): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
