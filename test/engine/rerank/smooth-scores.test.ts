import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Candidates } from '../../../src/engine/rerank/rerank-input.ts';
import { Scratch } from '../../../src/engine/rerank/scratch.ts';
import { smoothScores } from '../../../src/engine/rerank/smooth-scores.ts';
import { stemBags } from '../../../src/engine/rerank/stem-bags.ts';

/** Candidates of [word, times in the text, times in the title]; words 0 and 1 share stem 0, word n has stem n − 1 from there on. */
function candidatesOf(bags: readonly (readonly [number, number, number])[][]): Candidates {
  const words = bags.flat();
  const stems = Uint32Array.from({ length: 60 }, (_, word) => Math.max(0, word - 1));
  return {
    labels: Uint32Array.from(bags, (_, i) => i + 1),
    starts: Uint32Array.from({ length: bags.length + 1 }, (_, i) => bags.slice(0, i).flat().length),
    words: Uint32Array.from(words, ([word]) => word),
    bodyCounts: Uint8Array.from(words, ([, body]) => body),
    titleCounts: Uint8Array.from(words, ([, , title]) => title),
    table: { stems, rows: new Int32Array(stems.length).fill(-1), stemCount: 59 },
    bm25f: bags.map(() => 0),
    cosine: null,
    wordCosine: null,
    outsideModel: false,
  };
}

const smoothed = (candidates: Candidates, scores: Float64Array, share: number) => {
  const room = new Scratch();
  return smoothScores(stemBags(candidates, room), scores, share, room);
};

const near = (actual: Float64Array, expected: readonly number[]) => {
  assert.equal(actual.length, expected.length);
  expected.forEach((value, i) => {
    assert.ok(Math.abs(actual[i] - value) < 1e-6, `${actual[i]} instead of ${value}`);
  });
};

test('each takes a part of the mean of those that share its words, by how alike they are', () => {
  const candidates = candidatesOf([
    [
      [0, 1, 0],
      [2, 3, 0],
    ],
    [
      [1, 1, 0],
      [3, 1, 0],
    ],
    [
      [2, 1, 1],
      [3, 1, 0],
    ],
    [[4, 1, 0]],
  ]);
  // Each of the stems 0, 1, 2 is in two of four, so their idf is one and the same; word 2 counts 3 in both of its texts.
  const heavy = 1 + Math.log(3);
  const alike01 = 1 / Math.hypot(1, heavy) / Math.SQRT2;
  const alike02 = heavy ** 2 / (1 + heavy ** 2);
  const alike12 = 1 / Math.SQRT2 / Math.hypot(1, heavy);
  const [a, b, c, d] = [1, 0.5, 0.2, 0.9];
  near(smoothed(candidates, Float64Array.of(a, b, c, d), 0.4), [
    a + (0.4 * (alike01 * b + alike02 * c)) / (alike01 + alike02),
    b + (0.4 * (alike01 * a + alike12 * c)) / (alike01 + alike12),
    c + (0.4 * (alike02 * a + alike12 * b)) / (alike02 + alike12),
    d,
  ]);
});

/** Candidates without words, so that the others are less than most. */
const empty = (count: number) => Array.from({ length: count }, () => []);

test('only the nearest five speak', () => {
  // The first shares ever fewer words with the others.
  const bags = Array.from({ length: 9 }, (_, i) =>
    Array.from({ length: 10 - i }, (_, word) => [2 + word, 1, 0] as const).concat(
      Array.from({ length: i }, (_, own) => [12 + own + 3 * (i % 9), 1, 0] as const),
    ),
  );
  const scores = new Float64Array(18).fill(1, 6, 9);
  assert.equal(smoothed(candidatesOf([...bags, ...empty(9)]), scores, 1)[0], 0);
  scores[5] = 1;
  assert.ok(smoothed(candidatesOf([...bags, ...empty(9)]), scores, 1)[0] > 0);
});

test('beyond the best thirty scores stay as they are', () => {
  const bags = Array.from({ length: 32 }, () => [[0, 1, 0] as const]);
  const scores = Float64Array.from({ length: 64 }, (_, i) => Math.max(0, 0.32 - i / 100));
  const after = smoothed(candidatesOf([...bags, ...empty(32)]), scores, 0.5);
  assert.deepEqual(
    Array.from(bags.keys()).filter((i) => after[i] === scores[i]),
    [30, 31],
  );
});

test('a word that more than half of the candidates have makes no two alike', () => {
  const shared = [[[0, 1, 0] as const], [[1, 1, 0] as const]];
  const scores = Float64Array.of(1, 0.5, 0.2);
  assert.deepEqual(smoothed(candidatesOf([...shared, ...empty(1)]), scores, 1), scores);
  assert.notDeepEqual(
    smoothed(candidatesOf([...shared, ...empty(2)]), Float64Array.of(1, 0.5, 0.2, 0), 1).slice(0, 3),
    scores,
  );
});

test('one candidate, or none, is left as it is', () => {
  assert.deepEqual(smoothed(candidatesOf([]), new Float64Array(0), 1), new Float64Array(0));
  assert.deepEqual(smoothed(candidatesOf([[[0, 1, 0]]]), Float64Array.of(0.3), 1), Float64Array.of(0.3));
  assert.deepEqual(smoothed(candidatesOf([[], []]), Float64Array.of(0.3, 0.2), 1), Float64Array.of(0.3, 0.2));
});
