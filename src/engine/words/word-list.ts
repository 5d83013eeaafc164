/**
 * The words of English, the commonest first, that come with the program (models/README.md). None of them is
 * taken for misspelt. Threads share one table of them: u32 offsets, u32 slots (term-table.ts), and the words' text.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillSlots, slotCount, type TermTable } from '../../compute/structures/term-table.ts';
import { errorMessage } from '../../domain/error-message.ts';
import { OperatorError } from '../../domain/errors.ts';
import { programDir } from '../../files/program-files.ts';

const installedPath = join(programDir, 'models', 'words.txt');
const sha256 = '4efc9e0c6180e70139fdbb619ff89151ae50a5161bb305271ab98e89b309a8ae';
const count = 341_479;

const newline = 0x0a;
const offsetBytes = 4 * (count + 1);
const textAt = offsetBytes + 4 * slotCount(count);

/**
 * The list in memory: pass the buffer to threads and open it there with `openWordList`. Takes about 0.1 s and waits for the disk: for starts.
 * Errors: OperatorError `word_list` for a file that is missing, unreadable or not this list.
 */
export function loadWordList(path = installedPath): SharedArrayBuffer {
  try {
    const file = readFileSync(path);
    if (createHash('sha256').update(file).digest('hex') !== sha256) throw new Error('wrong checksum');
    const buffer = new SharedArrayBuffer(textAt + file.length - count);
    const table = openWordList(buffer);
    let [id, to] = [0, 0];
    for (let at = 0; at < file.length; at++) {
      if (file[at] === newline) table.offsets[++id] = to;
      else table.bytes[to++] = file[at];
    }
    fillSlots(table);
    return buffer;
  } catch (error) {
    const reason = `the word list at ${path} cannot be used: ${errorMessage(error)}`;
    throw new OperatorError('word_list', `${reason}. It is a part of readback: install it again`, { cause: error });
  }
}

export function openWordList(buffer: SharedArrayBuffer): TermTable {
  return {
    offsets: new Uint32Array(buffer, 0, count + 1),
    slots: new Uint32Array(buffer, offsetBytes, slotCount(count)),
    bytes: new Uint8Array(buffer, textAt),
  };
}
