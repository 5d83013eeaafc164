import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TopK } from '../../../src/compute/structures/top-k.ts';

/** Distinct labels with few different scores, so that many are equal. */
const hits = fc.uniqueArray(fc.record({ label: fc.nat(1000), score: fc.integer({ min: -3, max: 3 }) }), {
  selector: ({ label }) => label,
  maxLength: 60,
});

const sorted = (all: { label: number; score: number }[], k: number) =>
  [...all].sort((a, b) => b.score - a.score || a.label - b.label).slice(0, k);

test('the list keeps the best k, equal scores by label, in whatever order they come', () => {
  fc.assert(
    fc.property(hits, fc.nat(70), (all, k) => {
      const top = new TopK(new Float32Array(k));
      for (const { label, score } of all) top.offer(label, score);
      const best = sorted(all, k);
      assert.equal(top.bar, k > 0 && all.length >= k ? best[k - 1].score : Number.NEGATIVE_INFINITY);
      assert.deepEqual(top.take(), {
        labels: Uint32Array.from(best, ({ label }) => label),
        scores: Float32Array.from(best, ({ score }) => score),
      });
    }),
  );
});

test('scores are kept as exactly as the array that was given', () => {
  const top = new TopK(new Float64Array(2));
  for (const [label, score] of [0.1, 0.1 + 1e-12, 0.1 - 1e-12].entries()) top.offer(label, score);
  assert.deepEqual(top.take(), { labels: Uint32Array.of(1, 0), scores: Float64Array.of(0.1 + 1e-12, 0.1) });
});

test('what scores less than the bar would not be kept, and what scores as much may be', () => {
  fc.assert(
    fc.property(hits, fc.nat(20), (all, k) => {
      const top = new TopK(new Float32Array(k));
      for (const { label, score } of all) if (score >= top.bar) top.offer(label, score);
      const labels = [...top.take().labels];
      assert.deepEqual(
        labels,
        sorted(all, k).map(({ label }) => label),
      );
    }),
  );
});
