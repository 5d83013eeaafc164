import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rollUpPages } from '../../../src/compute/ranking/roll-up-pages.ts';

/** Labels 10–19 belong to page 1, 20–29 to page 2, 30–39 to page 3; others to none. */
const pageOf = (label: number) => (label >= 10 && label < 40 ? Math.floor(label / 10) : 0);
const hitsOf = (scores: Record<number, number>) =>
  Object.entries(scores)
    .map(([label, score]) => ({ label: Number(label), score }))
    .sort((a, b) => b.score - a.score);
const hits = hitsOf({ 10: 0.5, 20: 0.45, 21: 0.4, 99: 0.35, 22: 0.3, 11: 0.1, 30: 0.05 });
const scores = (rollup: 'max' | 'mean_top_m' | 'sum_rrf', rollup_m: number) =>
  rollUpPages(hits, pageOf, { rollup, rollup_m })
    .map(({ page_no, score }) => `${page_no} ${Number(score.toFixed(6))}`)
    .join(', ');

test('max is the best chunk, whatever m is; mean_top_m and sum_rrf are of the best m, of as many as there are', () => {
  for (const m of [1, 20]) assert.equal(scores('max', m), '1 0.5, 2 0.45, 3 0.05');
  assert.equal(scores('mean_top_m', 2), '2 0.425, 1 0.3, 3 0.05');
  assert.equal(scores('mean_top_m', 3), '2 0.383333, 1 0.3, 3 0.05');
  assert.equal(scores('sum_rrf', 2), '2 0.85, 1 0.6, 3 0.05');
  assert.equal(scores('sum_rrf', 3), '2 1.15, 1 0.6, 3 0.05');
});

test('equal pages are ordered by number, and a page keeps its hits best first', () => {
  const [first, ...second] = [10, 20, 21].map((label) => ({ label, score: label === 21 ? 0.5 : 1 }));
  const ranked = rollUpPages([second[0], first, second[1]], pageOf, { rollup: 'max', rollup_m: 3 });
  assert.deepEqual(ranked, [
    { page_no: 1, score: 1, hits: [first] },
    { page_no: 2, score: 1, hits: second },
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
      const kept = rolled('sum_rrf', m).flatMap((page) => page.hits);
      assert.equal(kept.length, hits.length);
    }),
  );
});
