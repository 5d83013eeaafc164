import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createChecksum,
  encodeWordVectors,
  openWordVectors,
  quantizeRow,
  WordVectorsFormatError,
} from '../../../src/compute/embedding/word-vectors.ts';
import { lookupTerm, termOf } from '../../../src/compute/structures/term-table.ts';

function encode(
  words: readonly string[],
  dim: number,
  component: (id: number, k: number) => number,
): Uint8Array<ArrayBuffer> {
  const rows = new Int8Array(words.length * dim);
  const scales = Float32Array.from(words, (_, id) =>
    quantizeRow(
      Array.from({ length: dim }, (_, k) => component(id, k)),
      dim,
      rows,
      id * dim,
    ),
  );
  return encodeWordVectors({ packageVersion: '1.2.3-test', dim, words, rows, scales });
}

function matches(file: Uint8Array, pieceBytes: number): boolean {
  const checksum = createChecksum();
  for (let at = 0; at < file.length; at += pieceBytes) checksum.update(file.subarray(at, at + pieceBytes));
  return checksum.matches();
}

test('what was encoded is read back in place from shared memory', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: 'grapheme' }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 9 }),
      (words, dim) => {
        const component = (id: number, k: number) => Math.sin(id * 7 + k * 3) * (id + 1);
        const file = encode(words, dim, component);
        const shared = new SharedArrayBuffer(file.length);
        new Uint8Array(shared).set(file);
        const vectors = openWordVectors(shared);
        assert.deepEqual([vectors.packageVersion, vectors.dim, vectors.count], ['1.2.3-test', dim, words.length]);
        assert.equal(vectors.rows.buffer, shared);
        words.forEach((word, id) => {
          assert.equal(lookupTerm(vectors.vocabulary, word), id);
          assert.equal(termOf(vectors.vocabulary, id), word);
          for (let k = 0; k < dim; k++) {
            const read = vectors.rows[id * dim + k] * vectors.scales[id];
            assert.ok(Math.abs(read - component(id, k)) <= vectors.scales[id] * 0.501);
          }
        });
        assert.equal(matches(file, 512), true);
      },
    ),
  );
});

test('the mean is that of running text: the commonest word weighs most', () => {
  const { mean } = openWordVectors(encode(['common', 'rare'], 1, (id) => (id === 0 ? 1 : 0)).buffer);
  // Shares 1 / 2.7 and 1 / 3.7.
  assert.ok(Math.abs(mean[0] - 3.7 / 6.4) < 1e-6);
});

test('any flipped bit is seen by the checksum', () => {
  const file = encode(['a', 'b', 'c'], 3, (id, k) => id - k);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: file.length * 8 - 1 }), (bit) => {
      const damaged = file.slice();
      damaged[bit >> 3] ^= 1 << (bit & 7);
      assert.equal(matches(damaged, 128), false);
    }),
  );
});

test('a header that is not of this format, or does not fit the length, is refused', () => {
  const file = encode(['a', 'b', 'c'], 3, (id, k) => id - k);
  const changed = (at: number, value: number) => {
    const copy = file.slice();
    new DataView(copy.buffer).setUint32(at, value, true);
    return copy.buffer;
  };
  const faults: [RegExp, ArrayBuffer][] = [
    [/only 10 bytes/, file.slice(0, 10).buffer],
    [/not a word vector file/, changed(0, 0)],
    [/format 99/, changed(8, 99)],
    [/dimensions/, changed(12, 4_000_000_000)],
    [/dimensions/, changed(16, 1_000_000)],
    [/dimensions/, changed(20, 16)],
    [/dimensions/, file.slice(0, -8).buffer],
    [/dimensions/, new Uint8Array([...file, 0]).buffer],
  ];
  for (const [message, buffer] of faults) {
    assert.throws(
      () => openWordVectors(buffer),
      (error) => {
        assert.ok(error instanceof WordVectorsFormatError);
        assert.match(error.message, message);
        return true;
      },
    );
  }
});

test('repeated words, sizes that do not fit and components that are no numbers are refused', () => {
  assert.throws(() => encode(['a', 'a'], 2, () => 1), /given twice/);
  assert.throws(() => encode(['a'], 2, () => Number.NaN), /finite/);
  const source = { packageVersion: '1', dim: 2, words: ['a'], rows: new Int8Array(3), scales: new Float32Array(1) };
  assert.throws(() => encodeWordVectors(source), /3 components/);
});
