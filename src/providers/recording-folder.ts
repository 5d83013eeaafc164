/**
 * Temporary files of recordings: one folder each in the data folder, so on a disk meant for data and private to its owner. Leftovers of
 * a killed process are deleted when the library opens.
 */
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface RecordingFile {
  /** Its own folder, for derived files. */
  dir: string;
  path: string;
  write(bytes: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  /** Deletes the folder after a pending write. */
  remove(): Promise<void>;
}

export interface RecordingFolder {
  create(): Promise<RecordingFile>;
}

/** `root` is created if missing. */
export function openRecordingFolder(root: string): RecordingFolder {
  return {
    async create() {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const dir = await mkdtemp(join(root, 'r-'));
      const path = join(dir, 'recording');
      let file: FileHandle | null = await open(path, 'wx', 0o600);
      let writing: Promise<unknown> = Promise.resolve();
      const finish = async () => {
        await writing.catch(() => {}); // who wrote has the error
        const open = file;
        file = null;
        await open?.close();
      };
      return {
        dir,
        path,
        async write(bytes) {
          if (file === null) throw new Error('the recording is closed');
          writing = file.writeFile(bytes);
          await writing;
        },
        finish,
        async remove() {
          await finish();
          await rm(dir, { recursive: true, force: true });
        },
      };
    },
  };
}
