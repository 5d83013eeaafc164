import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearnessOf, relevance } from '../../src/engine/relevance.ts';

test('nearness is the share of what there is above the floor', () => {
  for (const [cosine, floor, expected] of [
    [0.75, 0.75, 0],
    [0.875, 0.75, 0.5],
    [1, 0.75, 1],
    [0.2, 0.75, 0],
    [Number.NaN, 0.75, 0.1],
    [0.3, null, 0.3],
    [1, 1, 0],
  ] as const)
    assert.equal(nearnessOf(cosine, floor), expected, `${cosine} above ${floor}`);
});

test('relevance grows with the words and with the cosine, and either alone may do', () => {
  for (const [covered, nearness, isLikely] of [
    [0, 0, false],
    [0.2, 0.3, false],
    [0.5, 0.2, false],
    [0.5, 0.5, true],
    [1, 0.3, true],
    [0, 0.7, true],
  ] as const)
    assert.equal(relevance({ covered, nearness }) >= 0.5, isLikely, `${covered} ${nearness}`);
  const grid = [0, 0.25, 0.5, 0.75, 1];
  for (const more of grid.slice(1)) {
    for (const same of grid) {
      const by = relevance({ covered: more, nearness: same }) - relevance({ covered: more - 0.25, nearness: same });
      const near = relevance({ covered: same, nearness: more }) - relevance({ covered: same, nearness: more - 0.25 });
      assert.ok(by > 0 && near > 0, `${more} ${same}`);
    }
  }
});
