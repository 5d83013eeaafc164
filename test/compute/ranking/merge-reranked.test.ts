import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeReranked } from '../../../src/compute/ranking/fuse-rrf.ts';

const hits = (...pairs: [number, number][]) => pairs.map(([label, score]) => ({ label, score }));

test('scores give the order of what was sent; the rest stays below in its own', () => {
  const sent = hits([7, 0.03], [3, 0.02], [5, 0.01]);
  const rest = hits([9, 0.008], [1, 0.004]);
  const merged = mergeReranked(sent, Float64Array.of(0, 1, 0), rest);
  assert.deepEqual(
    merged.map(({ label, score }) => [label, Math.round(score * 1e6) / 1e6]),
    [
      [3, 1],
      [5, 0.01],
      [7, 0.01],
      [9, 0.0099],
      [1, 0.00495],
    ],
  );
});

test('logits become shares; nothing sent and no rest is no order', () => {
  const [first, second] = mergeReranked(hits([1, 1], [2, 1]), Float64Array.of(-4, 0), []);
  assert.deepEqual([first, second.label], [{ label: 2, score: 0.01 + 0.99 / 2 }, 1]);
  assert.deepEqual(mergeReranked([], new Float64Array(0), []), []);
});

test('every candidate is there once, in 0..1, what was sent above the rest, in the order of its scores', () => {
  const score = fc.integer({ min: -2000, max: 2000 }).map((hundredths) => hundredths / 100);
  const positive = fc.double({ min: 1e-6, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(score, { maxLength: 20 }), fc.array(positive, { maxLength: 20 }), (scores, rest) => {
      const sent = scores.map((_, label) => ({ label, score: 1 }));
      const last = rest.sort((a, b) => b - a).map((each, at) => ({ label: 100 + at, score: each }));
      const merged = mergeReranked(sent, Float64Array.from(scores), last);
      assert.equal(new Set(merged.map(({ label }) => label)).size, scores.length + rest.length);
      assert.ok(merged.every((hit) => hit.score >= 0 && hit.score <= 1));
      const labels = merged.map(({ label }) => label);
      assert.ok(labels.slice(0, scores.length).every((label) => label < 100));
      const inOrder = labels.slice(0, scores.length).map((label) => scores[label]);
      assert.deepEqual(
        inOrder,
        [...scores].sort((a, b) => b - a),
      );
    }),
  );
});
