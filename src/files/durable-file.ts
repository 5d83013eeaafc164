/**
 * A file that is there whole or not at all, also after a power cut: written under a temporary name, fsynced, renamed, and the
 * folder fsynced. A crash may leave the temporary file: who opens a folder of the index deletes those
 * there; elsewhere one stays until the same file is written again, or where its name was used once (an export), until its owner
 * deletes it.
 */
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export const TEMPORARY_SUFFIX = '.new';

/**
 * Have `write` write the temporary path it is given, then put that file in the place of `path`. Gives what `write` gave. Where several
 * may write at once, or the folder is not the service's own, each has a temporary path of its own.
 * Errors: those of `write` and of the file system (a full disk); the temporary file is removed, and `path` is as it was, unless it was
 * syncing the folder that failed: then it is the new file, which a power cut may take back.
 */
export function replaceFile<Result>(
  path: string,
  write: (temporary: string) => Promise<Result>,
  temporary = path + TEMPORARY_SUFFIX,
): Promise<Result> {
  return placeFile(path, write, temporary, rename);
}

/**
 * Like `replaceFile`, for a new name.
 * Errors: EEXIST when something has, which stays as it is; else as of `replaceFile`.
 */
export function createFile<Result>(
  path: string,
  write: (temporary: string) => Promise<Result>,
  temporary: string,
): Promise<Result> {
  return placeFile(path, write, temporary, renameToNew);
}

/** A rename replaces, so an empty file claims the name first. A link would do without, but not every disk has links (exFAT). */
async function renameToNew(from: string, to: string): Promise<void> {
  await (await open(to, 'wx', 0o600)).close();
  try {
    await rename(from, to);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

async function placeFile<Result>(
  path: string,
  write: (temporary: string) => Promise<Result>,
  temporary: string,
  place: (from: string, to: string) => Promise<void>,
): Promise<Result> {
  try {
    const result = await write(temporary);
    await syncFile(temporary);
    await place(temporary, path);
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
  await using file = await open(path, flags);
  await file.sync();
}
