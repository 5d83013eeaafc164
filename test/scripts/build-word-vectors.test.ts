/** What the command that makes the file of word vectors takes and refuses. The file itself: test/providers/load-word-vectors.test.ts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { encodeWordVectors } from '../../scripts/word-vectors/encode.ts';
import { readEmbeddings } from '../../scripts/word-vectors/read-embeddings.ts';

const fixture = readFileSync(join(import.meta.dirname, '../fixtures/word-vectors/embeddings.json'), 'utf8');

test('words come in the order of their ranks with their rows', () => {
  const parsed = JSON.parse(fixture);
  const { dim, words, vectors } = readEmbeddings(fixture);
  assert.equal(dim, 8);
  assert.deepEqual(words, parsed.words);
  words.forEach((word, id) => {
    const row: number[] = Object.getOwnPropertyDescriptor(parsed.vectors, word)?.value;
    assert.deepEqual([...vectors.subarray(id * 8, id * 8 + 8)], row.slice(0, 8), word);
  });
});

test('embeddings that do not fit together are refused with what is wrong', () => {
  const faults: [RegExp, string][] = [
    [/1 vectors where 2/, '{"size":2,"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1,0]}}'],
    [/a has rank 5/, '{"size":1,"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1,5]}}'],
    [/b has rank 0/, '{"size":2,"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1,0],"b":[1,1,0]}}'],
    [/a has rank undefined/, '{"size":1,"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1]}}'],
    [/and 2 numbers/, '{"size":1,"dimensions":4,"wordIndex":1,"vectors":{"a":[1,0]}}'],
  ];
  for (const [message, json] of faults) assert.throws(() => readEmbeddings(json), message);
});

test('vectors and words that the file has no room for are refused', () => {
  const encode = (words: string[], dim: number, component: number) =>
    encodeWordVectors({ dim, words, vectors: new Float64Array(words.length * dim).fill(component) }, 1);
  assert.throws(() => encode(['a'], 3, 1), /must be even/);
  assert.throws(() => encode(['a'], 2, Number.NaN), /finite/);
  assert.throws(() => encode(['a'.repeat(256)], 2, 1), /256 bytes/);
});
