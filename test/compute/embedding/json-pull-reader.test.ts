import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createJsonPullReader, JsonLayoutError } from '../../../src/compute/embedding/json-pull-reader.ts';

/** A reader over `text` that gets `step` bytes at a time. */
function readerOf(text: string, step: number) {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return createJsonPullReader((target) => {
    const piece = bytes.subarray(at, at + Math.min(step, target.length));
    target.set(piece);
    at += piece.length;
    return piece.length;
  }, 16);
}

test('keys and numbers read the same as with JSON.parse, however the bytes are cut', () => {
  const numbers = fc.array(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()), {
    maxLength: 5,
  });
  const document = fc.dictionary(fc.string({ unit: 'grapheme' }), numbers);
  fc.assert(
    fc.property(document, fc.integer({ min: 1, max: 16 }), fc.boolean(), (value, step, spaced) => {
      const reader = readerOf(JSON.stringify(value, null, spaced ? 2 : undefined), step);
      const read: [string, number[]][] = [];
      const row = new Float64Array(5);
      reader.readObject((key) => read.push([key, [...row.slice(0, reader.readNumbers(row))]]));
      const wanted = Object.entries(value);
      assert.deepEqual(
        read.map(([key]) => key),
        wanted.map(([key]) => key),
      );
      wanted.forEach(([, list], i) => {
        list.forEach((number, k) => {
          assert.ok(Math.abs(read[i][1][k] - number) <= Math.abs(number) * 1e-14 || Math.abs(number) < 1e-280);
        });
        assert.equal(read[i][1].length, list.length);
      });
    }),
  );
});

test('values of any kind are skipped, whatever looks like structure inside their strings', () => {
  const skipped = fc.jsonValue();
  fc.assert(
    fc.property(skipped, fc.integer({ min: 1, max: 16 }), (value, step) => {
      const reader = readerOf(`{"skip": ${JSON.stringify({ a: value, '"}],': '\\"]}' })}, "keep": 7}`, step);
      let kept = 0;
      reader.readObject((key) => {
        if (key === 'keep') kept = reader.readNumber();
        else reader.skipValue();
      });
      assert.equal(kept, 7);
    }),
  );
});

test('a document cut anywhere is refused', () => {
  const text = '{"a\\"b": [1.5, -2e-3], "c": null}';
  for (let length = 0; length < text.length; length++) {
    const reader = readerOf(text.slice(0, length), 3);
    assert.throws(() => reader.readObject(() => reader.skipValue()), JsonLayoutError, `cut at ${length}`);
  }
});

test('more numbers than the caller has room for are refused', () => {
  assert.throws(() => readerOf('[1,2,3]', 4).readNumbers(new Float64Array(2)), /more than 2/);
});
