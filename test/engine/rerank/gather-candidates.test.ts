import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildTermTable } from '../../../src/compute/structures/term-table.ts';
import { Lexicon } from '../../../src/compute/text/lexicon.ts';
import { createCandidateGatherer } from '../../../src/engine/rerank/gather-candidates.ts';
import { WordNumbers } from '../../../src/engine/rerank/word-numbers.ts';
import type { QueryPlan } from '../../../src/engine/words/corpus.ts';
import {
  buildForwardIndex,
  entryBodyCount,
  entryTitleCount,
  entryWord,
  type ForwardDocument,
  ForwardWords,
  MAX_WORDS,
  packEntry,
  withWord,
} from '../../../src/engine/words/forward-index.ts';

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
  return { index, terms: buildTermTable(dictionary) };
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
    entries: Uint32Array.of(packEntry(0, 1, 1), packEntry(1, 2, 0), packEntry(2, 1, 0), packEntry(3, 1, 0)),
    wordStems: Uint32Array.of(0, 0, 1, 2),
    wordRows: Int32Array.of(3, 5, 8, -1),
  });
});

test('counts saturate instead of starting anew', () => {
  const times = (count: number) => terms(...Array.from({ length: count }, () => ['x1', 'x1'] as [string, string]));
  const many = part(['x1'], [{ title: times(70), body: times(300) }]);
  assert.deepEqual([...many.index.entries], [packEntry(0, 63, 7)]);
});

test('an entry gives what it was made of, for every word that there is room for', () => {
  const word = fc.integer({ min: 0, max: MAX_WORDS - 1 });
  fc.assert(
    fc.property(word, fc.integer({ min: 0, max: 63 }), fc.integer({ min: 0, max: 7 }), (...made) => {
      const [entry] = Uint32Array.of(packEntry(...made));
      assert.deepEqual([entryWord(entry), entryBodyCount(entry), entryTitleCount(entry)], made);
      assert.equal(withWord(packEntry(MAX_WORDS - 1, made[1], made[2]), made[0]), entry);
    }),
  );
  const words = new ForwardWords(2);
  assert.deepEqual(
    [words.numberOf(5, 1), words.numberOf(6, 1), words.numberOf(7, 1), words.numberOf(5, 1)],
    [0, 1, -1, 0],
  );
});

/** Of a query whose words the corpus holds. */
const plan: QueryPlan = {
  terms: ['wing', 'heat', 'x1'].map((term) => ({ term, of: 0, weight: 1 })),
  norm: { base: 1, slope: 0 },
  frequencies: new Map([
    ['wing', 2],
    ['heat', 2],
    ['x1', 1],
    ['nowhere', 0],
  ]),
  words: new Map([[0, 1]]),
  known: 3,
};

test('words and stems of several parts are numbered as one, whatever was gathered before', () => {
  const numbers = new WordNumbers();
  const gather = createCandidateGatherer(numbers);
  const both = () =>
    gather(
      [first, second],
      Uint32Array.of(40, 10),
      [
        { part: 1, chunk: 0 },
        { part: 0, chunk: 0 },
      ],
      [
        { stem: 'wing', of: 0, row: 5 },
        { stem: 'wing', of: 0, row: 5 },
        { stem: 'heat', of: 1, row: 77 },
        { stem: 'x1', of: 2, row: -1 },
        { stem: 'nowhere', of: 3, row: -1 },
      ],
      plan,
    );
  const expected = {
    words: {
      labels: Uint32Array.of(40, 10),
      starts: Uint32Array.of(0, 2, 5),
      words: Uint32Array.of(0, 1, 2, 0, 3),
      bodyCounts: Uint8Array.of(1, 1, 1, 2, 1),
      titleCounts: Uint8Array.of(0, 0, 1, 0, 0),
      table: { stems: Uint32Array.of(0, 1, 0, 2), rows: Int32Array.of(5, -1, 3, 8), stemCount: 3 },
    },
    query: [
      { word: 0, stem: 0, row: 5, count: 2, share: 1, frequency: 2 },
      { word: -1, stem: 2, row: 77, count: 1, share: 1, frequency: 2 },
      { word: 1, stem: 1, row: -1, count: 1, share: 1, frequency: 1 },
      { word: -1, stem: -1, row: -1, count: 1, share: 1, frequency: 0 },
    ],
  };
  const withoutNumbers = ({ query, words }: ReturnType<typeof both>) => ({ query, words });
  const { stemNumbers, ...gathered } = both();
  assert.deepEqual(gathered, expected);
  assert.deepEqual(
    Array.from(stemNumbers, (stem) => numbers.stems.text(stem)),
    ['wing', 'x1', 'heat'],
  );
  gather([first], Uint32Array.of(9), [{ part: 0, chunk: 1 }], [{ stem: 'heat', of: 0, row: 8 }], plan);
  assert.deepEqual(withoutNumbers(both()), expected);
});

test('a word of the query that only other candidates hold is in none', () => {
  const gather = createCandidateGatherer(new WordNumbers());
  gather([first], Uint32Array.of(1), [{ part: 0, chunk: 0 }], [], plan);
  const { query } = gather(
    [first],
    Uint32Array.of(2),
    [{ part: 0, chunk: 1 }],
    [{ stem: 'wing', of: 0, row: 3 }],
    plan,
  );
  assert.deepEqual(query, [{ word: -1, stem: -1, row: 3, count: 1, share: 1, frequency: 2 }]);
});

test('many words keep their numbers', () => {
  const dictionary = Array.from({ length: 5000 }, (_, id) => `term-${id}`);
  const all = terms(...dictionary.map((term) => [term, term] as [string, string]));
  const index = buildForwardIndex(
    lexicon,
    [{ title: terms(), body: all }],
    (stem) => dictionary.indexOf(stem),
    () => -1,
  );
  const numbers = new WordNumbers();
  const gather = createCandidateGatherer(numbers);
  for (let round = 0; round < 2; round++) {
    const { words, stemNumbers } = gather(
      [{ index, terms: buildTermTable(dictionary) }],
      Uint32Array.of(1),
      [{ part: 0, chunk: 0 }],
      [],
      plan,
    );
    const texts = Array.from(words.words, (word) => numbers.stems.text(stemNumbers[words.table.stems[word]]));
    assert.deepEqual(texts, dictionary);
  }
  assert.equal(numbers.size, dictionary.length);
});

test('no candidates and no words are an empty result', () => {
  const { query, words } = createCandidateGatherer(new WordNumbers())([], new Uint32Array(0), [], [], plan);
  assert.deepEqual(query, []);
  assert.deepEqual([...words.starts], [0]);
});

test('of the stems that a word has in several languages those count that occur, and its vector once', () => {
  const gather = createCandidateGatherer(new WordNumbers());
  const forms = [
    { stem: 'nowhere', of: 0, row: 5 },
    { stem: 'wing', of: 0, row: 5 },
    { stem: 'heat', of: 0, row: 5 },
    { stem: 'lost', of: 1, row: 7 },
    { stem: 'gone', of: 1, row: 7 },
  ];
  const { query } = gather([first], Uint32Array.of(1), [{ part: 0, chunk: 0 }], forms, plan);
  assert.deepEqual(
    query.map(({ row, frequency }) => [row, frequency]),
    [
      [5, 2],
      [-1, 2],
      [7, 0],
    ],
  );
});
