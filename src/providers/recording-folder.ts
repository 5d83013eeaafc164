/** Temporary files of recordings in the data folder. Opening the library deletes those of a killed process. */
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

export type RecordingFolder = ReturnType<typeof openRecordingFolder>;
export type RecordingFile = Awaited<ReturnType<RecordingFolder['create']>>;

/** `root` is created if missing. */
export function openRecordingFolder(root: string) {
  return {
    async create() {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const dir = await mkdtemp(join(root, 'r-'));
      const path = join(dir, 'recording');
      let file: FileHandle | null = await open(path, 'wx', 0o600);
      let writing: Promise<unknown> = Promise.resolve();
      const finish = async () => {
        await writing.catch(() => {}); // the writer reports the error
        const open = file;
        file = null;
        await open?.close();
      };
      return {
        /** Its own folder, for derived files. */
        dir,
        path,
        async write(bytes: Uint8Array) {
          if (file === null) throw new Error('the recording is closed');
          writing = file.writeFile(bytes);
          await writing;
        },
        finish,
        /** Waits for a pending write, then deletes the folder. */
        async remove() {
          await finish();
          await rm(dir, { recursive: true, force: true });
        },
      };
    },
  };
}
