import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TopHits } from '../../../src/compute/bm25/top-hits.ts';

test('the k best are kept in order, equal scores by label, whatever the order of the offers', () => {
  const someHits = fc.uniqueArray(fc.record({ label: fc.nat(), score: fc.integer({ min: 1, max: 9 }) }), {
    selector: ({ label }) => label,
    maxLength: 60,
  });
  fc.assert(
    fc.property(someHits, fc.integer({ min: 1, max: 20 }), (hits, k) => {
      const top = new TopHits(k);
      for (const { label, score } of hits) top.offer(label, score);
      const sorted = [...hits].sort((a, b) => b.score - a.score || a.label - b.label).slice(0, k);
      assert.equal(top.threshold, hits.length < k ? 0 : sorted[k - 1].score);
      assert.deepEqual(top.drain(), {
        labels: Uint32Array.from(sorted, ({ label }) => label),
        scores: Float64Array.from(sorted, ({ score }) => score),
      });
    }),
  );
});
