import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { randomStream } from '../../../bench/workload.ts';
import { encodeWordVectors } from '../../../scripts/word-vectors/encode.ts';
import { openWordVectors } from '../../../src/compute/embedding/word-vectors.ts';
import { createWordCosines } from '../../../src/engine/rerank/word-cosines.ts';
import type { WordSimilarity } from '../../../src/engine/rerank/word-similarity.ts';
import { share } from '../../compute/embedding/word-vectors-fixture.ts';
import { plainWordSimilarity } from './plain-word-similarity.ts';

/** More rows than the first memory and than one block hold. */
const COUNT = 17_000;
const DIM = 12;

function randomVectors() {
  const random = randomStream(42, 0, 0);
  const vectors = Float64Array.from({ length: COUNT * DIM }, () => random() - 0.4);
  const words = Array.from({ length: COUNT }, (_, row) => `w${row}`);
  return openWordVectors(share(encodeWordVectors({ dim: DIM, words, vectors }, COUNT / 2)));
}

function pairsOf(similarity: WordSimilarity, rows: Int32Array, others: Int32Array): string[] {
  const pairs: string[] = [];
  similarity.pairs(rows, others, 0.4, (row, other, cosine) => pairs.push(`${row} ${other} ${cosine}`));
  return pairs.sort();
}

const vectors = randomVectors();
const plain = plainWordSimilarity(vectors);
const fast = createWordCosines(vectors);

test('the kernel gives the numbers of the plain loop, whatever was compared before', () => {
  const someRows = (maxLength: number) =>
    fc.array(fc.integer({ min: -1, max: COUNT - 1 }), { maxLength }).map((rows) => Int32Array.from(rows));
  fc.assert(
    fc.property(someRows(4), someRows(60), (rows, others) => {
      assert.deepEqual(pairsOf(fast, rows, others), pairsOf(plain, rows, others));
    }),
  );
});

test('more words than one block are all compared', () => {
  const others = Int32Array.from({ length: COUNT + 5 }, (_, place) => (place % 7 === 3 ? -1 : place % COUNT));
  const rows = Int32Array.of(16_999, -1, 5);
  const expected = pairsOf(plain, rows, others);
  assert.ok(expected.length > 1000);
  assert.deepEqual(pairsOf(fast, rows, others), expected);
});
