import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lexicon } from '../../../src/compute/lexicon.ts';
import { buildForwardIndex, type ForwardDocument } from '../../../src/compute/rerank/forward-index.ts';
import { gatherCandidates } from '../../../src/compute/rerank/gather-candidates.ts';

const ROWS = new Map([
  ['wing', 3],
  ['wings', 5],
  ['heat', 8],
]);
const lexicon = new Lexicon();
const terms = (...pairs: [word: string, stem: string][]) =>
  Uint32Array.from(pairs, ([word, stem]) => lexicon.term(word, stem));
/** A part whose dictionary numbers stems in the given order. */
function part(dictionary: string[], documents: ForwardDocument[]) {
  const index = buildForwardIndex(
    lexicon,
    documents,
    (stem) => dictionary.indexOf(stem),
    (word) => ROWS.get(word) ?? -1,
  );
  return { index, stemText: (stem: number) => dictionary[stem] };
}
const first = part(
  ['wing', 'heat', 'x1'],
  [
    {
      title: terms(['wing', 'wing']),
      body: terms(['wings', 'wing'], ['', ''], ['heat', 'heat'], ['wings', 'wing'], ['wing', 'wing']),
    },
    { title: terms(), body: terms(['x1', 'x1']) },
  ],
);
const second = part(['x1', 'wing'], [{ title: terms(), body: terms(['wings', 'wing'], ['x1', 'x1']) }]);

test('a forward index counts forms by field', () => {
  assert.deepEqual(first.index, {
    starts: Uint32Array.of(0, 3, 4),
    words: Uint32Array.of(0, 1, 2, 3),
    bodyCounts: Uint8Array.of(1, 2, 1, 1),
    titleCounts: Uint8Array.of(1, 0, 0, 0),
    wordStems: Uint32Array.of(0, 0, 1, 2),
    wordRows: Int32Array.of(3, 5, 8, -1),
  });
});

test('counts saturate instead of starting anew', () => {
  const many = part(
    ['x1'],
    [{ title: terms(), body: terms(...Array.from({ length: 300 }, () => ['x1', 'x1'] as [string, string])) }],
  );
  assert.deepEqual([...many.index.bodyCounts], [255]);
});

test('words and stems of several parts are numbered as one', () => {
  const gathered = gatherCandidates(
    [first, second],
    Uint32Array.of(40, 10),
    [
      { part: 1, chunk: 0 },
      { part: 0, chunk: 0 },
    ],
    [
      { stem: 'wing', row: 5 },
      { stem: 'wing', row: 5 },
      { stem: 'heat', row: 77 },
      { stem: 'x1', row: -1 },
      { stem: 'nowhere', row: -1 },
    ],
  );
  assert.deepEqual(gathered, {
    stemTexts: ['wing', 'x1', 'heat'],
    words: {
      labels: Uint32Array.of(40, 10),
      starts: Uint32Array.of(0, 2, 5),
      words: Uint32Array.of(0, 1, 2, 0, 3),
      bodyCounts: Uint8Array.of(1, 1, 1, 2, 1),
      titleCounts: Uint8Array.of(0, 0, 1, 0, 0),
      table: { stems: Uint32Array.of(0, 1, 0, 2), rows: Int32Array.of(5, -1, 3, 8), stemCount: 3 },
    },
    query: [
      { word: 0, stem: 0, row: 5, count: 2 },
      { word: -1, stem: 2, row: 77, count: 1 },
      { word: 1, stem: 1, row: -1, count: 1 },
      { word: -1, stem: -1, row: -1, count: 1 },
    ],
  });
});

test('no candidates and no words are an empty result', () => {
  const { query, words } = gatherCandidates([], new Uint32Array(0), [], []);
  assert.deepEqual(query, []);
  assert.deepEqual([...words.starts], [0]);
});
