import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shard } from '../../../src/engine/vectors/shard.ts';
import { DIM, range, vectorsOf } from './space-harness.ts';

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
