/**
 * How far the index files may go: a label in the file `labels` of the index folder, brought to the disk before any file that goes further.
 * A store whose own labels end before it was set back (somebody put an older copy of its file in its place) and will give the labels in
 * between again, to other texts. No manifest could tell the two apart then, so the files are deleted and built again.
 *
 * The store of a cluster may have been set back and gone on by another host, beyond that label. So a second line has the last commit that the
 * files may know; the library's history tells whether it has that commit.
 */
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { errorCode } from '../domain/error-code.ts';
import type { IndexLog } from '../engine/index-log.ts';
import { replaceText } from '../files/durable-file.ts';
import type { CommitHistory } from '../store/stored-rows.ts';

const FILE = 'labels';
/** The folders of the sides, in the index folder. */
const sides = ['sparse', 'dense', 'pages'];

export interface HighWaterMarkOptions {
  /** The index folder. */
  dir: string;
  /** Which the store gives next. */
  nextLabel: number;
  /** Null where the store's own file is the only one. */
  history: CommitHistory | null;
  log: IndexLog;
}

interface Mark {
  label: number;
  commit: string;
}

const none: Mark = { label: 0, commit: '' };

export class HighWaterMark {
  readonly #path: string;
  readonly #history: CommitHistory | null;
  #marked: Mark;
  readonly #writes = pLimit(1);

  private constructor(path: string, history: CommitHistory | null, marked: Mark) {
    this.#path = path;
    this.#history = history;
    this.#marked = marked;
  }

  /** Read the mark of the index folder. Where it is beyond the store, or its commit is not known to the history, every index file is deleted first. Errors: those of the history. */
  static async open({ dir, nextLabel, history, log }: HighWaterMarkOptions): Promise<HighWaterMark> {
    const path = join(dir, FILE);
    const marked = await readMark(path, log);
    const isKnown = history === null || (await history.has(marked.commit));
    if (isKnown && marked.label <= nextLabel) return new HighWaterMark(path, history, marked);
    if (sides.some((side) => existsSync(join(dir, side))))
      log.warn({ marked, next_label: nextLabel }, 'the store may be older than its index files: they are built again');
    for (const name of [...sides, FILE]) await rm(join(dir, name), { recursive: true, force: true });
    return new HighWaterMark(path, history, none);
  }

  /** Files with labels below `labelEnd` are about to become valid. Errors: those of the file system; they must not then. */
  raise(labelEnd: number): Promise<void> {
    return this.#writes(async () => {
      const label = Math.max(labelEnd, this.#marked.label);
      const commit = this.#history?.last() ?? '';
      if (label === this.#marked.label && commit === this.#marked.commit) return;
      await replaceText(this.#path, commit === '' ? String(label) : `${label}\n${commit}`);
      this.#marked = { label, commit };
    });
  }
}

/**
 * `none` where there is none, or none that can be read: nothing is known then, as of files of versions that had no mark. What cannot be read
 * as a file is deleted, so that the next mark has its place.
 */
async function readMark(path: string, log: IndexLog): Promise<Mark> {
  try {
    const [label, commit = ''] = (await readFile(path, 'utf8')).split('\n');
    return { label: Number.parseInt(label, 10) || 0, commit };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return none;
    log.warn({ err: error }, 'how far the labels of the index files go cannot be read: it is noted again');
    await rm(path, { recursive: true, force: true });
    return none;
  }
}
