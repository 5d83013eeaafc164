import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ndcg, recall, reciprocalRank } from '../../../src/compute/ranking/score-run.ts';

const grades = new Map([
  ['a', 1],
  ['b', 0],
  ['c', 1],
  ['d', 2],
]);

test('nDCG of a hand-worked ranking', () => {
  // Gains 1, 0, 3 at ranks 1, 2, 3; best order 3, 1, 1.
  const ideal = 3 + 1 / Math.log2(3) + 1 / 2;
  assert.equal(ndcg(['a', 'b', 'd'], grades, 10), (1 + 3 / 2) / ideal);
  assert.equal(ndcg(['a', 'b', 'd'], grades, 1), 1 / 3);
  assert.equal(ndcg(['d', 'a', 'c', 'b'], grades, 10), 1);
  assert.equal(ndcg([], grades, 10), 0);
  assert.equal(ndcg(['x'], new Map([['x', 0]]), 10), 0);
});

test('reciprocal rank and recall', () => {
  assert.equal(reciprocalRank(['x', 'b', 'c'], grades, 10), 1 / 3);
  assert.equal(reciprocalRank(['x', 'b', 'c'], grades, 2), 0);
  assert.equal(recall(['a', 'a', 'b', 'x'], grades), 1 / 3);
  assert.equal(recall(['a', 'c', 'd'], grades), 1);
  assert.equal(recall(['a'], new Map()), 0);
});

test('measures stay within 0 and 1, and moving a relevant page up never lowers nDCG', () => {
  const ranking = fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { minLength: 2, maxLength: 15 });
  const judged = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 3 })));
  fc.assert(
    fc.property(ranking, judged, fc.integer({ min: 1, max: 20 }), fc.nat(), (ranked, pairs, k, at) => {
      const grades = new Map(pairs);
      const value = ndcg(ranked, grades, k);
      assert.ok(value >= 0 && value <= 1 + 1e-12);
      const place = at % (ranked.length - 1);
      const swapped = ranked.toSpliced(place, 2, ranked[place + 1], ranked[place]);
      const rises = (grades.get(ranked[place + 1]) ?? 0) >= (grades.get(ranked[place]) ?? 0);
      if (rises) assert.ok(ndcg(swapped, grades, k) >= value - 1e-12);
    }),
  );
});
