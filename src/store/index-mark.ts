/**
 * Which commits the index files of a copy may know of (docs/cluster.md): the last one that PostgreSQL had when files were saved, in the file `commit` of
 * the index folder, brought to the disk before files that know it. A database that was set back may lack that commit, and give its labels again to other texts.
 * The copy's own position does not tell: the copy may be gone, or of a later time than the files.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { errorCode } from '../domain/error-code.ts';
import { replaceText } from '../files/durable-file.ts';
import type { Position } from './stored-rows.ts';

/** A commit of a library's history. */
export type Commit = Pick<Position, 'library' | 'epoch' | 'run' | 'seq'>;

const marked = z.strictObject({ library: z.string(), epoch: z.int(), run: z.string(), seq: z.int() });
const fileOf = (path: string) => join(path, 'index', 'commit');

/** The mark of the copy below `path`; null where there is none, or none that can be read. Errors: those of the file system. */
export function readIndexMark(path: string): Commit | null {
  try {
    return marked.parse(JSON.parse(readFileSync(fileOf(path), 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

export class IndexMark {
  readonly #path: string;
  readonly #acknowledged: () => Commit;
  #seq = -1;
  readonly #writes = pLimit(1);

  /** `acknowledged`: the last commit that PostgreSQL is known to have. */
  constructor(path: string, acknowledged: () => Commit) {
    this.#path = path;
    this.#acknowledged = acknowledged;
  }

  /** Files are about to become valid that know what is acknowledged now. Errors: those of the file system; they must not then. */
  raise(): Promise<void> {
    return this.#writes(async () => {
      const { library, epoch, run, seq } = this.#acknowledged();
      if (seq === this.#seq) return;
      await replaceText(fileOf(this.#path), JSON.stringify({ library, epoch, run, seq }));
      this.#seq = seq;
    });
  }
}
