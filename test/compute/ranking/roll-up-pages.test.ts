import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rollUpPages } from '../../../src/compute/ranking/roll-up-pages.ts';

/** Labels 10–19 belong to page 1, 20–29 to page 2, 30–39 to page 3; others to none. */
const pageOf = (label: number) => (label >= 10 && label < 40 ? Math.floor(label / 10) : 0);
const hits = [
  { label: 10, score: 0.5 },
  { label: 20, score: 0.45 },
  { label: 21, score: 0.4 },
  { label: 99, score: 0.35 },
  { label: 22, score: 0.3 },
  { label: 11, score: 0.1 },
  { label: 30, score: 0.05 },
];
const scores = (rollup: 'max' | 'mean_top_m' | 'sum_rrf', rollup_m: number) =>
  rollUpPages(hits, pageOf, { rollup, rollup_m }).map(({ page_no, score }) => [page_no, Number(score.toFixed(6))]);

test('max is the best chunk, whatever m is', () => {
  const expected = [
    [1, 0.5],
    [2, 0.45],
    [3, 0.05],
  ];
  assert.deepEqual(scores('max', 1), expected);
  assert.deepEqual(scores('max', 20), expected);
});

test('mean_top_m is the mean of the best m chunks, of as many as there are', () => {
  assert.deepEqual(scores('mean_top_m', 2), [
    [2, 0.425],
    [1, 0.3],
    [3, 0.05],
  ]);
  assert.deepEqual(scores('mean_top_m', 3), [
    [2, 0.383333],
    [1, 0.3],
    [3, 0.05],
  ]);
});

test('sum_rrf is the sum of the best m chunks', () => {
  assert.deepEqual(scores('sum_rrf', 2), [
    [2, 0.85],
    [1, 0.6],
    [3, 0.05],
  ]);
  assert.deepEqual(scores('sum_rrf', 3), [
    [2, 1.15],
    [1, 0.6],
    [3, 0.05],
  ]);
});

test('equal pages are ordered by number, and a page keeps its hits best first', () => {
  const equal = [
    { label: 20, score: 1 },
    { label: 10, score: 1 },
    { label: 21, score: 0.5 },
  ];
  const ranked = rollUpPages(equal, pageOf, { rollup: 'max', rollup_m: 3 });
  assert.deepEqual(ranked, [
    { page_no: 1, score: 1, hits: [{ label: 10, score: 1 }] },
    {
      page_no: 2,
      score: 1,
      hits: [
        { label: 20, score: 1 },
        { label: 21, score: 0.5 },
      ],
    },
  ]);
});

test('with m = 1 all strategies agree; always mean ≤ max ≤ sum, and no page or hit is lost', () => {
  const ranking = fc
    .array(fc.record({ label: fc.integer({ min: 10, max: 39 }), score: fc.double({ min: 0, max: 1, noNaN: true }) }))
    .map((all) => [...new Map(all.map((hit) => [hit.label, hit])).values()].sort((a, b) => b.score - a.score));
  fc.assert(
    fc.property(ranking, fc.integer({ min: 1, max: 20 }), (hits, m) => {
      const rolled = (rollup: 'max' | 'mean_top_m' | 'sum_rrf', rollup_m: number) =>
        rollUpPages(hits, pageOf, { rollup, rollup_m });
      assert.deepEqual(rolled('mean_top_m', 1), rolled('max', m));
      assert.deepEqual(rolled('sum_rrf', 1), rolled('max', m));
      const scoreOf = (pages: ReturnType<typeof rolled>) => new Map(pages.map((page) => [page.page_no, page.score]));
      const [max, mean, sum] = [rolled('max', m), rolled('mean_top_m', m), rolled('sum_rrf', m)].map(scoreOf);
      for (const [page_no, score] of max) {
        assert.ok((mean.get(page_no) ?? 2) <= score + 1e-12);
        assert.ok((sum.get(page_no) ?? -1) >= score);
      }
      assert.equal(
        rolled('sum_rrf', m).reduce((count, page) => count + page.hits.length, 0),
        hits.length,
      );
    }),
  );
});
