import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeWordVectors } from '../../../scripts/word-vectors/encode.ts';
import {
  COARSE_LEVELS,
  openWordVectors,
  readLevels,
  WordVectorsFormatError,
} from '../../../src/compute/embedding/word-vectors.ts';
import { lookupTerm, termOf } from '../../../src/compute/structures/term-table.ts';
import { share } from './word-vectors-fixture.ts';

function encode(words: readonly string[], dim: number, fine: number, component: (id: number, k: number) => number) {
  const vectors = Float64Array.from({ length: words.length * dim }, (_, at) =>
    component(Math.floor(at / dim), at % dim),
  );
  return encodeWordVectors({ dim, words, vectors }, fine);
}

test('what was encoded is read back in place from shared memory', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: 'grapheme' }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 0, max: 40 }),
      (words, halfDim, fine) => {
        const dim = 2 * halfDim;
        const component = (id: number, k: number) => Math.sin(id * 7 + k * 3) * (id + 1);
        const shared = share(encode(words, dim, fine, component));
        const vectors = openWordVectors(shared);
        assert.deepEqual([vectors.dim, vectors.count], [dim, words.length]);
        const { mean, whitening, scales, fineRows, coarseRows, vocabulary } = vectors;
        for (const view of [mean, whitening, scales, fineRows, coarseRows, ...Object.values(vocabulary)]) {
          assert.equal(view.buffer, shared);
        }
        const levels = new Int8Array(dim);
        words.forEach((word, id) => {
          assert.equal(lookupTerm(vocabulary, word), id);
          assert.equal(termOf(vocabulary, id), word);
          readLevels(vectors, id, levels);
          for (let k = 0; k < dim; k++) {
            const error = (level: number) => Math.abs(level * scales[id] - component(id, k));
            if (id < fine) assert.ok(error(levels[k]) <= scales[id] * 0.501);
            else for (const other of COARSE_LEVELS) assert.ok(error(levels[k]) <= error(other) + 1e-6 * scales[id]);
          }
        });
      },
    ),
  );
});

test('with 4 bits a component the scale is that of least error for the levels chosen', () => {
  const dim = 100;
  const component = (_: number, k: number) => Math.tan(Math.sin(k * k));
  const vectors = openWordVectors(share(encode(['word'], dim, 0, component)));
  const levels = new Int8Array(dim);
  readLevels(vectors, 0, levels);
  const errorWith = (scale: number) =>
    levels.reduce((sum, level, k) => sum + (level * scale - component(0, k)) ** 2, 0);
  const [scale] = vectors.scales;
  for (const other of [0.98 * scale, 1.02 * scale]) assert.ok(errorWith(scale) < errorWith(other));
});

test('a vector of zeros has the scale 0', () => {
  const { scales } = openWordVectors(share(encode(['a', 'b'], 2, 1, () => 0)));
  assert.deepEqual([...scales], [0, 0]);
});

test('the mean is that of running text, the commonest word weighing most, however few bits a component has', () => {
  for (const fine of [0, 2]) {
    const file = encode(['common', 'rare'], 2, fine, (id, k) => (id === 0 ? 1 + k / 1000 : 0));
    const { mean } = openWordVectors(share(file));
    // Shares 1 / 2.7 and 1 / 3.7.
    assert.ok(Math.abs(mean[0] - 3.7 / 6.4) < 1e-6);
    assert.ok(Math.abs(mean[1] - (1.001 * 3.7) / 6.4) < 1e-6);
  }
});

test('the same input gives the same bytes', () => {
  const make = () => encode(['a', 'b', 'c'], 4, 1, (id, k) => Math.sin(id + k));
  assert.deepEqual(make(), make());
});

const refused = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof WordVectorsFormatError);
  assert.match(error.message, message);
  return true;
};

test('a file with any flipped bit is refused', () => {
  const file = encode(['a', 'b', 'c'], 4, 1, (id, k) => id - k);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: file.length * 8 - 1 }), (bit) => {
      const damaged = file.slice();
      damaged[bit >> 3] ^= 1 << (bit & 7);
      assert.throws(() => share(damaged), refused(/./));
    }),
  );
});

test('a file that is not of this format, or has not the length that it says, is refused with what is wrong', () => {
  const file = encode(['a', 'b', 'c'], 4, 1, (id, k) => id - k);
  const changed = (at: number, value: number) => {
    const copy = file.slice();
    new DataView(copy.buffer).setUint32(at, value, true);
    return copy;
  };
  const faults: [RegExp, Uint8Array][] = [
    [/not a word vector file/, file.slice(0, 0)],
    [/were expected/, file.slice(0, 40)],
    [/not a word vector file/, changed(0, 0)],
    [/format 99/, changed(8, 99)],
    [/of 5 dimensions/, changed(12, 5)],
    [/were expected/, changed(12, 4_000_000_000)],
    [/were expected/, changed(16, 1_000_000)],
    [/4 of them fine/, changed(20, 4)],
    [/were expected/, changed(24, 100)],
    [/were expected/, file.slice(0, -8)],
    [/were expected/, new Uint8Array([...file, 0])],
    [/wrong checksum/, changed(64, 1)],
  ];
  for (const [message, bytes] of faults) assert.throws(() => share(bytes), refused(message));
});
