/**
 * The upper bound of labels in index files: the file `labels` of the index folder, fsynced before any file that exceeds it. A store
 * whose labels end below it was reset (replaced by an older copy) and will reassign labels to other texts. Manifests cannot detect that,
 * so the files are deleted and rebuilt.
 *
 * A cluster's store may have been reset and continued by another host, past that label. So a second line has the last commit that the
 * files may know; the library's history knows whether it exists.
 */
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { errorCode } from '../../domain/errors.ts';
import type { IndexLog } from '../../engine/index-log.ts';
import { replaceText } from '../../files/durable-file.ts';
import type { CommitHistory } from '../../store/stored-rows.ts';

const FILE = 'labels';
const sides = ['sparse', 'dense', 'pages'];

export interface HighWaterMarkOptions {
  dir: string;
  nextLabel: number;
  /** Null for a standalone store. */
  history: CommitHistory | null;
  log: IndexLog;
}

interface Mark {
  label: number;
  commit: string;
}

const none: Mark = { label: 0, commit: '' };

/**
 * Read the mark. If it is beyond the store, or the history lacks its commit, every index file is deleted first. Errors: those of the
 * history.
 */
export async function openHighWaterMark({ dir, nextLabel, history, log }: HighWaterMarkOptions) {
  const path = join(dir, FILE);
  let marked = await readMark(path, log);
  const isKnown = history === null || (await history.has(marked.commit));
  if (!isKnown || marked.label > nextLabel) {
    if (sides.some((side) => existsSync(join(dir, side))))
      log.warn({ marked, next_label: nextLabel }, 'the store may be older than its index files: they are built again');
    for (const name of [...sides, FILE]) await rm(join(dir, name), { recursive: true, force: true });
    marked = none;
  }
  const writes = pLimit(1);
  return {
    /** Call before files with labels below `labelEnd` become valid. Errors: file system errors; then they must not. */
    raise: (labelEnd: number): Promise<void> =>
      writes(async () => {
        const label = Math.max(labelEnd, marked.label);
        const commit = history?.last() ?? '';
        if (label === marked.label && commit === marked.commit) return;
        await replaceText(path, commit === '' ? String(label) : `${label}\n${commit}`);
        marked = { label, commit };
      }),
  };
}

/** `none` if missing or unreadable, as for versions without a mark. What is no readable file is deleted, to make room for the next mark. */
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
