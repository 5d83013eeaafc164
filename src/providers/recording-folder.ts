/**
 * Temporary files of recordings: a folder for each in the data folder, so that they are on a disk that is meant for data, seen by their
 * owner only, and gone with it. What a killed process left behind is removed when the library is opened.
 */
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A recording that is loaded and read. */
export interface RecordingFile {
  /** Its own folder, for what is made of it meanwhile. */
  dir: string;
  path: string;
  write(bytes: Uint8Array): Promise<void>;
  /** Nothing more is written. */
  finish(): Promise<void>;
  /** With its folder. Waits for a write that is under way. */
  remove(): Promise<void>;
}

export interface RecordingFolder {
  create(): Promise<RecordingFile>;
}

/** `root` holds the recordings' folders; made where it is lacking. */
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
