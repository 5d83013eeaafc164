import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calibrateFloor, localFloor } from '../../../src/compute/embedding/calibrate-floor.ts';
import type { LocalEmbedder } from '../../../src/compute/embedding/embed-local.ts';

test('the floor falls from words alone to a wide sketch and never rises with the dimension', () => {
  const floors = [100, 200, 255, 256, 300, 384, 1024, 4096].map(localFloor);
  for (let i = 1; i < floors.length; i++) assert.ok(floors[i] <= floors[i - 1]);
  assert.ok(floors[0] < 0.5 && floors[floors.length - 1] > 0.05);
});

test('the floor is the cosine that one unrelated pair in twenty exceeds', () => {
  // An embedder whose vectors are one number per text: passages are 1, queries 1, 2, 3 … in turn; a pair's cosine is the query's.
  let query = 0;
  const embedder: LocalEmbedder = {
    dim: 1,
    embedTerms: () => false,
    embedDocument(_words, _stems, _from, _to, out, offset) {
      out[offset] = 1;
      return true;
    },
    embedQuery() {
      query++;
      return { vector: Float32Array.of(query), known: 1 };
    },
  };
  // 40 queries with 19 passages each, sorted: rank 722 of 760 is the first of query 39.
  assert.equal(
    calibrateFloor(embedder, () => ({ words: [], stems: [] })),
    39,
  );
});
