import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lookupTerm, termOf } from '../../../src/compute/structures/term-table.ts';
import { isOperatorError } from '../../../src/domain/errors.ts';
import { loadWordList, openWordList } from '../../../src/engine/words/word-list.ts';
import { temporaryFolder } from '../../scope.ts';

test('the words that come with the program are whole, by frequency', () => {
  const list = openWordList(loadWordList());
  const last = list.offsets.length - 2;
  for (const [rank, word] of [
    [0, 'the'],
    [27_507, 'heron'],
    [last, 'sandberger'],
  ] as const) {
    assert.deepEqual([termOf(list, rank), lookupTerm(list, word)], [word, rank]);
  }
  assert.equal(lookupTerm(list, 'herron-like'), -1);
});

test('a file that is missing or damaged is refused with its path, the reason and what to do', (t) => {
  const folder = temporaryFolder(t);
  const written = (name: string, bytes: Uint8Array) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const whole = readFileSync(join(import.meta.dirname, '../../../models/words.txt'));
  for (const [path, message] of [
    [join(folder, 'missing'), /missing cannot be used: ENOENT.*install it again$/],
    [folder, /cannot be used: EISDIR.*install it again$/],
    [written('short', whole.subarray(0, -8)), /short cannot be used: wrong checksum.*install it again$/],
  ] as const) {
    assert.throws(
      () => loadWordList(path),
      (error) => isOperatorError(error, 'word_list') && message.test(error.message),
    );
  }
});
