/** Reads the word vectors that come with the program (models/README.md), at every start; the result is shared by all threads. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { shareWordVectors } from '../compute/embedding/word-vectors.ts';
import { errorMessage } from '../domain/error-message.ts';
import { OperatorError } from '../domain/errors.ts';
import { programDir } from '../files/program-files.ts';

const installedPath = join(programDir, 'models', 'word-vectors.bin');

/**
 * The word vectors, checksum verified: pass the buffer to threads and open it there with `openWordVectors`. Takes about 0.1 s and
 * waits for the disk: for starts, where nothing else is going on.
 * Errors: OperatorError `word_vectors` where the file is missing, unreadable or damaged.
 */
export function loadWordVectors(path = installedPath): SharedArrayBuffer {
  try {
    return readFile(path);
  } catch (error) {
    const reason = `the word vectors at ${path} cannot be used: ${errorMessage(error)}`;
    throw new OperatorError('word_vectors', `${reason}. They are a part of readback: install it again`, {
      cause: error,
    });
  }
}

function readFile(path: string): SharedArrayBuffer {
  const descriptor = openSync(path, 'r');
  try {
    return shareWordVectors(fstatSync(descriptor).size, (target) => readSync(descriptor, target, { position: 0 }));
  } finally {
    closeSync(descriptor);
  }
}
