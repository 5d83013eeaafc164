import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { kendallTauB, overlapAtK, rankBiasedOverlap, rankCorrelation } from '../../../src/compute/ranking/agree.ts';

const close = (actual: number | null, expected: number) =>
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);
const list = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 20 });

test('overlap at k looks at the first k of both, in any order', () => {
  assert.deepEqual(overlapAtK(['a', 'b', 'c'], ['c', 'a', 'd'], 3), { intersection_size: 2, jaccard_at_k: 0.5 });
  assert.deepEqual(overlapAtK(['a', 'b', 'c'], ['c', 'a', 'd'], 2), { intersection_size: 1, jaccard_at_k: 1 / 3 });
  assert.deepEqual(overlapAtK(['a'], [], 5), { intersection_size: 0, jaccard_at_k: 0 });
  assert.deepEqual(overlapAtK([], [], 5), { intersection_size: 0, jaccard_at_k: 1 });
});

test('rank-biased overlap of hand-worked lists', () => {
  // Nothing shared at depth 1, all at depth 2, p = 0.5: (1 − p)/p · p² + p²
  close(rankBiasedOverlap(['a', 'b'], ['b', 'a'], 0.5), 0.5);
  // (1 − p)/p · (p + p²/2) + p²/2 with p = 0.9: 0.1/0.9 · 1.305 + 0.405
  close(rankBiasedOverlap(['a', 'b'], ['a', 'c']), 0.55);
  // s = 1, l = 2, X1 = 1, X2 = 1: (1 − p)/p · (p + p²/2 + 1·(2 − 1)/(1·2)·p²) + ((1 − 1)/2 + 1/1)·p² = 1
  close(rankBiasedOverlap(['a'], ['a', 'b']), 1);
  // s = 1, l = 2, X1 = 0, X2 = 1, p = 0.5: 1 · (0 + 1/2 · 1/4) + (1/2) · 1/4
  close(rankBiasedOverlap(['b'], ['a', 'b'], 0.5), 0.25);
  close(rankBiasedOverlap(['a', 'b'], ['c', 'd']), 0);
  close(rankBiasedOverlap([], ['a']), 0);
  close(rankBiasedOverlap([], []), 1);
});

test('rank-biased overlap is symmetric, within 0 and 1, one for the same list and zero for disjoint ones', () => {
  fc.assert(
    fc.property(list, list, fc.double({ min: 0.05, max: 0.99, noNaN: true }), (a, b, p) => {
      const rbo = rankBiasedOverlap(a, b, p);
      assert.ok(rbo >= 0 && rbo <= 1);
      close(rankBiasedOverlap(b, a, p), rbo);
      close(rankBiasedOverlap(a, a, p), 1);
      if (a.length > 0) {
        close(
          rankBiasedOverlap(
            a,
            a.map((item) => item + 100),
            p,
          ),
          0,
        );
      }
    }),
  );
});

test('tau-b of hand-worked values, with ties', () => {
  close(kendallTauB([1, 2, 3, 4], [1, 2, 3, 4]), 1);
  close(kendallTauB([1, 2, 3, 4], [4, 3, 2, 1]), -1);
  close(kendallTauB([1, 2, 3], [1, 3, 2]), 1 / 3);
  // Of six pairs x ties one and y two; three agree, none disagree.
  close(kendallTauB([1, 2, 2, 3], [1, 1, 2, 2]), 3 / Math.sqrt(20));
  assert.equal(kendallTauB([1], [1]), null);
  assert.equal(kendallTauB([], []), null);
  assert.equal(kendallTauB([1, 1], [1, 2]), null);
});

test('the correlation of rankings looks at shared items only and is null below two', () => {
  assert.equal(rankCorrelation(['a', 'b'], ['b', 'c']), null);
  close(rankCorrelation(['a', 'x', 'b', 'c'], ['c', 'b', 'y', 'a']), -1);
  fc.assert(
    fc.property(list, list, (a, b) => {
      const tau = rankCorrelation(a, b);
      assert.equal(tau === null, a.filter((item) => b.includes(item)).length < 2);
      if (tau === null) return;
      assert.ok(tau >= -1 && tau <= 1);
      close(rankCorrelation(b, a), tau);
      close(rankCorrelation(a, b.toReversed()), -tau);
    }),
  );
});
