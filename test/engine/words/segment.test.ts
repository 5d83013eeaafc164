import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  labelSegment,
  openSegment,
  ordinalOf,
  SegmentFormatError,
  seekPosting,
} from '../../../src/engine/words/segment.ts';
import { buildSegment } from './small-corpus.ts';

const documents = [
  { title: ['ant'], section: [], body: ['bee', 'ant'] },
  { title: [], section: ['cat'], body: [] },
];

function copyOf(buffer: SharedArrayBuffer, bytes = buffer.byteLength): SharedArrayBuffer {
  const copy = new SharedArrayBuffer(bytes);
  new Uint8Array(copy).set(new Uint8Array(buffer, 0, Math.min(bytes, buffer.byteLength)));
  return copy;
}

test('opening the bytes of a segment gives the segment', () => {
  const segment = buildSegment(documents);
  const { buffer: _, ...arrays } = segment;
  const { buffer: __, ...opened } = openSegment(copyOf(segment.buffer));
  assert.deepEqual(opened, arrays);
});

test('bytes of another size, magic or version are refused', () => {
  const { buffer } = buildSegment(documents);
  for (const bytes of [0, 63, 64, buffer.byteLength - 1, buffer.byteLength + 1]) {
    assert.throws(() => openSegment(copyOf(buffer, bytes)), SegmentFormatError);
  }
  for (const word of [0, 1]) {
    const other = copyOf(buffer);
    new Uint32Array(other, 0, 16)[word] ^= 2;
    assert.throws(() => openSegment(other), SegmentFormatError);
  }
});

test('labels must be as many as the documents and ascend', () => {
  const segment = buildSegment(documents);
  for (const labels of [[1], [1, 2, 3], [2, 1], [1, 1]]) {
    assert.throws(() => labelSegment(segment, Uint32Array.from(labels)), RangeError);
  }
  labelSegment(segment, Uint32Array.of(5, 0xffffffff));
  const ordinals = [4, 5, 6, 0xffffffff].map((label) => ordinalOf(segment, label));
  assert.deepEqual(ordinals, [-1, 0, -1, 1]);
});

test('seeking finds the first posting of an ordinal or a later one', () => {
  const someOrdinals = fc.uniqueArray(fc.integer({ min: 0, max: 65_535 }), { maxLength: 60 });
  fc.assert(
    fc.property(someOrdinals, fc.integer({ min: 0, max: 65_535 }), fc.nat(), (ordinals, sought, from) => {
      ordinals.sort((a, b) => a - b);
      const postings = Uint32Array.from(ordinals, (ordinal) => ((ordinal << 16) | 7) >>> 0);
      const start = ordinals.length === 0 ? 0 : from % ordinals.length;
      const found = ordinals.findIndex((ordinal, i) => i >= start && ordinal >= sought);
      assert.equal(seekPosting(postings, start, postings.length, sought), found < 0 ? postings.length : found);
    }),
  );
});
