import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWordVectors, readLevels } from '../../src/compute/embedding/word-vectors.ts';
import { lookupTerm, termOf } from '../../src/compute/structures/term-table.ts';
import { isOperatorError } from '../../src/domain/errors.ts';
import { loadWordVectors } from '../../src/engine/load-word-vectors.ts';
import { temporaryFolder } from '../scope.ts';

const installed = openWordVectors(loadWordVectors());

test('the word vectors that come with the program are whole, by frequency', () => {
  const { dim, count, vocabulary, scales } = installed;
  assert.deepEqual([dim, count], [100, 341_479]);
  assert.deepEqual([termOf(vocabulary, 0), termOf(vocabulary, count - 1)], ['the', 'sandberger']);
  assert.equal(lookupTerm(vocabulary, 'heron'), 27_507);
  assert.ok(scales.every((scale) => scale > 0));
});

test('words that mean alike are near, with 8 bits a component and with 4', () => {
  const vectorOf = (word: string) => {
    const levels = new Int8Array(installed.dim);
    readLevels(installed, lookupTerm(installed.vocabulary, word), levels);
    return [...levels];
  };
  const dot = (a: number[], b: number[]) => a.reduce((sum, x, k) => sum + x * b[k], 0);
  const cosine = (one: string, other: string) => {
    const [a, b] = [vectorOf(one), vectorOf(other)];
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  };
  assert.ok(cosine('heron', 'egret') > 0.6);
  assert.ok(cosine('cormorant', 'egret') > 0.5);
  assert.ok(cosine('heron', 'mortgage') < 0.2);
});

test('a file that is missing or damaged is refused with its path, the reason and what to do', (t) => {
  const folder = temporaryFolder(t);
  const written = (name: string, bytes: Uint8Array) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const whole = readFileSync(join(import.meta.dirname, '../../models/word-vectors.bin'));
  const damaged = Uint8Array.from(whole);
  damaged[damaged.length / 2] ^= 1;
  const faults: [string, RegExp][] = [
    [join(folder, 'missing'), /missing cannot be used: ENOENT.*install it again$/],
    [folder, /cannot be used: EISDIR.*install it again$/],
    [written('other', Buffer.from('a pointer')), /other cannot be used: not a word vector file.*install it again$/],
    [written('short', whole.subarray(0, -8)), /short cannot be used: \d+ bytes where \d+ were expected.*again$/],
    [written('damaged', damaged), /damaged cannot be used: wrong checksum.*install it again$/],
  ];
  for (const [path, message] of faults) {
    assert.throws(
      () => loadWordVectors(path),
      (error) => {
        assert.ok(isOperatorError(error, 'word_vectors'));
        assert.match(error.message, message);
        return true;
      },
    );
  }
});
