import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isOperatorError } from '../../../src/domain/errors.ts';
import { loadWordList, openWordList, wordsOf } from '../../../src/engine/words/word-list.ts';
import { temporaryFolder } from '../../scope.ts';

test('the words that come with the program are whole, by frequency', () => {
  const buffer = loadWordList();
  const list = openWordList(buffer);
  const words = wordsOf(buffer);
  assert.deepEqual([words.length, words[0], words[27_507], words.at(-1)], [341_479, 'the', 'heron', 'sandberger']);
  for (const word of ['the', 'heron', 'sandberger']) assert.ok(list.has(word), word);
  for (const word of ['herron-like', '']) assert.ok(!list.has(word), word);
});

test('a file that is missing or damaged is refused with its path, the reason and what to do', (t) => {
  const folder = temporaryFolder(t);
  const written = (name: string, bytes: Uint8Array) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const whole = readFileSync(join(import.meta.dirname, '../../../models/words.txt'));
  for (const [path, message] of [
    [join(folder, 'missing'), /missing cannot be used: ENOENT.*reinstall readback$/],
    [folder, /cannot be used: EISDIR.*reinstall readback$/],
    [written('short', whole.subarray(0, -8)), /short cannot be used: wrong checksum.*reinstall readback$/],
  ] as const) {
    assert.throws(
      () => loadWordList(path),
      (error) => isOperatorError(error, 'word_list') && message.test(error.message),
    );
  }
});
