/**
 * A file that exists completely or not at all, also after a power cut: it is written under a temporary name, fsynced
 * and renamed, then the folder is fsynced. After a crash the temporary file stays until the same file is written again or
 * the folder's owner deletes it.
 */
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export const TEMPORARY_SUFFIX = '.new';

/**
 * If several may write at once, each passes its own `temporary` path. Errors: those of `write` and of the file system;
 * `path` is then unchanged, unless fsync of the folder failed: then a power cut may undo the change.
 */
export function replaceFile<Result>(
  path: string,
  write: (temporary: string) => Promise<Result>,
  temporary = path + TEMPORARY_SUFFIX,
): Promise<Result> {
  return placeFile(path, write, temporary, rename);
}

/** Like `replaceFile`, for a new name. Errors: EEXIST if the name exists; else as of `replaceFile`. */
export function createFile<Result>(
  path: string,
  write: (temporary: string) => Promise<Result>,
  temporary: string,
): Promise<Result> {
  return placeFile(path, write, temporary, renameToNew);
}

/** A rename would replace, so an empty file claims the name first. A link needs no claim, but exFAT has no links. */
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

/** Replace the text of a file that only its owner may read. Errors: as of `replaceFile`. */
export function replaceText(path: string, text: string): Promise<void> {
  return replaceFile(path, (temporary) => writeFile(temporary, text, { mode: 0o600 }));
}

export function syncFile(path: string): Promise<void> {
  return sync(path, 'r+');
}

export function syncFolder(path: string): Promise<void> {
  return sync(path, 'r');
}

async function sync(path: string, flags: string): Promise<void> {
  await using file = await open(path, flags);
  await file.sync();
}
