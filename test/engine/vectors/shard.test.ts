import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shard } from '../../../src/engine/vectors/shard.ts';
import { CALL_ROWS } from '../../../src/engine/vectors/vector-rows.ts';
import { DIM, nearest, range, recall, setOf, vectorOf, vectorsOf } from './space-harness.ts';

test('deleted rows are dropped when they are many, and not before', () => {
  const shard = new Shard(DIM);
  shard.add(range(0, 2500), vectorsOf(range(0, 2500)));
  shard.remove(range(0, 750));
  assert.equal(shard.tidy(), false);
  assert.equal(shard.stats().deleted, 750, 'as many as there may be');
  shard.remove(range(750, 751));
  assert.equal(shard.tidy(), true);
  const { live, deleted } = shard.stats();
  assert.deepEqual({ live, deleted }, { live: 1749, deleted: 0 });
  for (const label of [751, 2499]) {
    const { labels } = shard.search({ vector: vectorsOf(Uint32Array.of(label)), k: 1, minScore: -1 });
    assert.deepEqual([...labels], [label]);
  }
});

for (const dim of [8, 100, 384, 1024]) {
  test(`a search of ${dim} dimensions finds the nearest of all rows, of allowed ones, and above a floor; removed rows do not come out`, () => {
    const rows = dim > 384 ? CALL_ROWS + 1 : 2 * CALL_ROWS + 100; // the last block is not full
    const shard = new Shard(dim);
    for (const label of range(0, rows)) shard.add(Uint32Array.of(label), vectorOf(label, dim));
    const vector = vectorOf(rows - 1, dim); // the last row is the nearest
    const search = { vector, k: 20, minScore: -1 };
    const cases = [
      { name: 'all', labels: range(0, rows), isFiltered: false },
      { name: 'allowed', labels: range(0, rows).filter((label) => label % 3 === 0), isFiltered: true },
      { name: 'none', labels: range(0, 0), isFiltered: true },
    ];
    for (const { name, labels, isFiltered } of cases) {
      const truth = nearest(vector, labels, search.k);
      const found = shard.search({ ...search, ...(isFiltered && { allow: setOf(labels) }) });
      assert.equal(found.labels.length, truth.length, name);
      if (truth.length === 0) continue;
      assert.ok(recall(found.labels, truth) >= 0.9, `${name}: recall ${recall(found.labels, truth)}`);
      assert.ok(Math.abs(found.scores[0] - truth[0].score) < 0.005, name);
    }
    const { labels, scores } = shard.search(search);
    assert.equal(labels[0], rows - 1);
    const above = shard.search({ ...search, minScore: scores[9] });
    assert.deepEqual([...above.labels], [...labels.subarray(0, 10)]);
    shard.remove(Uint32Array.of(labels[0]));
    assert.deepEqual([...shard.search({ ...search, k: 19 }).labels], [...labels.subarray(1)]);
  });
}
