/**
 * A file that is there whole or not at all, also after a power cut: written under a temporary name, fsynced, renamed, and the
 * folder fsynced. Whoever opens a folder deletes the temporary names (`*.new`) that a crash left.
 */
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export const TEMPORARY_SUFFIX = '.new';

/**
 * Have `write` write the temporary path it is given, then put that file in the place of `path`. Gives what `write` gave. Where several
 * may write at once, each has a temporary path of its own.
 * Errors: those of `write` and of the file system (a full disk); `path` is then as it was, the temporary file removed.
 */
export async function replaceFile<Result>(
  path: string,
  write: (temporary: string) => Promise<Result>,
  temporary = path + TEMPORARY_SUFFIX,
): Promise<Result> {
  try {
    const result = await write(temporary);
    await syncFile(temporary);
    await rename(temporary, path);
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Put a text in the place of a file that only its owner may read. Errors: as of `replaceFile`. */
export function replaceText(path: string, text: string): Promise<void> {
  return replaceFile(path, (temporary) => writeFile(temporary, text, { mode: 0o600 }));
}

/** Bring a file's bytes to the disk. */
export function syncFile(path: string): Promise<void> {
  return sync(path, 'r+');
}

/** Bring to the disk which names a folder has. */
export function syncFolder(path: string): Promise<void> {
  return sync(path, 'r');
}

async function sync(path: string, flags: string): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
