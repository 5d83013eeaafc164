import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildTermTable, lookupTerm, type TermTable } from '../../compute/structures/term-table.ts';
import { errorMessage, OperatorError } from '../../domain/errors.ts';
import { programDir } from '../../files/program-files.ts';

const installedPath = join(programDir, 'models', 'words.txt');
const sha256 = '4efc9e0c6180e70139fdbb619ff89151ae50a5161bb305271ab98e89b309a8ae';

export type WordList = ReturnType<typeof openWordList>;

/** The file's bytes, for `openWordList`. Blocks on the disk. Errors: OperatorError `word_list` for other files. */
export function loadWordList(path = installedPath): SharedArrayBuffer {
  try {
    const file = readFileSync(path);
    if (createHash('sha256').update(file).digest('hex') !== sha256) throw new Error('wrong checksum');
    const buffer = new SharedArrayBuffer(file.length);
    new Uint8Array(buffer).set(file);
    return buffer;
  } catch (error) {
    const reason = `the word list at ${path} cannot be used: ${errorMessage(error)}`;
    throw new OperatorError('word_list', `${reason}. It is part of readback: reinstall readback`, { cause: error });
  }
}

/** The first look-up takes about 0.1 s. */
export function openWordList(buffer: SharedArrayBuffer) {
  let table: TermTable | undefined;
  return {
    has(word: string): boolean {
      table ??= buildTermTable(wordsOf(buffer));
      return lookupTerm(table, word) >= 0;
    },
  };
}

/** All words, most frequent first. */
export const wordsOf = (buffer: SharedArrayBuffer): string[] => Buffer.from(buffer).toString().trimEnd().split('\n');
