import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scratch } from '../../../src/engine/rerank/scratch.ts';
import { stemBags } from '../../../src/engine/rerank/stem-bags.ts';
import { FACT_WEIGHT, LENGTH_WITHOUT_BODY } from '../../../src/engine/words/bm25f.ts';

const given = {
  labels: Uint32Array.of(7, 3, 9),
  starts: Uint32Array.of(0, 3, 3, 5),
  // Words 0 and 2 share stem 1.
  words: Uint32Array.of(0, 1, 2, 2, 1),
  bodyCounts: Uint8Array.of(1, 2, 3, 0, 255),
  titleCounts: Uint8Array.of(1, 0, 0, 1, 0),
  table: { stems: Uint32Array.of(1, 0, 1), rows: new Int32Array(3).fill(-1), stemCount: 2 },
};
const counted = {
  starts: [0, 2, 2, 4],
  stems: [1, 0, 1, 0],
  times: [3 + 3, 2, 2, 255],
  lengths: [8, LENGTH_WITHOUT_BODY, 257],
  held: [2, 2],
};
const bagsBy = (room: Scratch) => {
  const { starts, stems, times, lengths, held } = stemBags(given, room);
  const end = starts[3];
  return {
    starts: [...starts],
    stems: [...stems.subarray(0, end)],
    times: [...times.subarray(0, end)],
    lengths: [...lengths],
    held: [...held],
  };
};

test('words of one stem count together, a title twice', () => {
  assert.deepEqual(bagsBy(new Scratch()), counted);
});

test('what another query has left in the scratch does not matter', () => {
  const room = new Scratch();
  const longer = { ...given, labels: Uint32Array.of(1), starts: Uint32Array.of(0, 5) };
  stemBags({ ...longer, words: Uint32Array.of(2, 1, 2, 2, 2), bodyCounts: new Uint8Array(5).fill(9) }, room);
  assert.deepEqual(bagsBy(room), counted);
});

test('a word of the facts counts less than one of the text, adds nothing to one, and is no part of the length', () => {
  const { times, lengths } = stemBags(
    {
      labels: Uint32Array.of(1, 2),
      starts: Uint32Array.of(0, 3, 4),
      // Words 0 and 2 share stem 1.
      words: Uint32Array.of(0, 1, 2, 0),
      bodyCounts: Uint8Array.of(1, 0, 0, 0),
      titleCounts: Uint8Array.of(0, 0, 0, 0),
      table: given.table,
    },
    new Scratch(),
  );
  assert.deepEqual([...times.subarray(0, 3)], [1, FACT_WEIGHT, FACT_WEIGHT]);
  assert.deepEqual([...lengths], [1, LENGTH_WITHOUT_BODY]);
});
