/**
 * How far the labels of the index files may go: a number in the file `labels` of the index folder, brought to the disk before any file that
 * goes further. A store whose own labels end before it was set back (somebody put an older copy of its file in its place) and will give the
 * labels in between again, to other texts. No manifest could tell the two apart then, so the files are deleted and built again.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { errorCode } from '../domain/error-code.ts';
import type { IndexLog } from '../engine/index-log.ts';
import { replaceText } from '../files/durable-file.ts';

const FILE = 'labels';
/** The folders of the sides, in the index folder. */
const sides = ['sparse', 'dense', 'pages'];

export class HighWaterMark {
  readonly #path: string;
  #marked: number;
  readonly #writes = pLimit(1);

  private constructor(path: string, marked: number) {
    this.#path = path;
    this.#marked = marked;
  }

  /** Read the mark of the index folder. Where it is above `nextLabel`, which the store gives next, every index file is deleted first. */
  static async open(dir: string, nextLabel: number, log: IndexLog): Promise<HighWaterMark> {
    const path = join(dir, FILE);
    const marked = await readMark(path, log);
    if (marked <= nextLabel) return new HighWaterMark(path, marked);
    log.warn({ marked, next_label: nextLabel }, 'the store is older than its index files: they are built again');
    for (const side of sides) await rm(join(dir, side), { recursive: true, force: true });
    await rm(path);
    return new HighWaterMark(path, 0);
  }

  /** Files with labels below `labelEnd` are about to become valid. Errors: those of the file system; they must not then. */
  raise(labelEnd: number): Promise<void> {
    return this.#writes(async () => {
      if (labelEnd <= this.#marked) return;
      await replaceText(this.#path, String(labelEnd));
      this.#marked = labelEnd;
    });
  }
}

/**
 * 0 where there is none, or none that can be read: nothing is known then, as of files of versions that had no mark. What cannot be read as a
 * file is deleted, so that the next mark has its place.
 */
async function readMark(path: string, log: IndexLog): Promise<number> {
  try {
    return Number.parseInt(await readFile(path, 'utf8'), 10) || 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    log.warn({ err: error }, 'how far the labels of the index files go cannot be read: it is noted again');
    await rm(path, { recursive: true, force: true });
    return 0;
  }
}
