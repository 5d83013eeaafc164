/** Files of the index that failed a check are kept under another name, for whoever wants to look at them. */
import { rename, rm } from 'node:fs/promises';
import { errorCode } from '../domain/error-code.ts';

/** Give what is at `path`, a folder included, the name `aside`, in the place of an earlier one; what is missing is no trouble. */
export async function quarantine(path: string, aside: string): Promise<void> {
  await rm(aside, { recursive: true, force: true });
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
