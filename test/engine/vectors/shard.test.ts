import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shard } from '../../../src/engine/vectors/shard.ts';
import { needsGraphs } from './needs-graphs.ts';
import { DIM, range, vectorsOf } from './space-harness.ts';

function grown(count: number): Shard {
  const shard = new Shard({ dim: DIM, graphFromRows: 500, rowsPerGraph: 1000, now: () => performance.now() });
  shard.add(range(0, count), vectorsOf(range(0, count)));
  while (shard.maintain(1000).behind > 0);
  return shard;
}

test(
  'deleted rows are dropped when they are many for one graph, however few they are for the shard',
  needsGraphs,
  () => {
    const shard = grown(2500);
    shard.remove(range(0, 300));
    shard.maintain(0);
    assert.equal(shard.stats().deleted, 300, 'as many as a graph may have');
    shard.remove(range(1000, 1300));
    shard.maintain(0);
    assert.equal(shard.stats().deleted, 600, 'as many in each of two');
    shard.remove(range(300, 301));
    while (shard.maintain(1000).behind > 0);
    const { live, deleted, nodes } = shard.stats();
    assert.deepEqual({ live, deleted, nodes }, { live: 1899, deleted: 0, nodes: 1899 });
  },
);

test('where no graph can be made every row is compared, nothing waits, and the reason is told', () => {
  const reason = 'hnswlib-node cannot be loaded: not found';
  const shard = new Shard({
    dim: DIM,
    graphFromRows: 500,
    rowsPerGraph: 1000,
    now: () => 0,
    libraryFault: () => reason,
  });
  shard.add(range(0, 499), vectorsOf(range(0, 499)));
  assert.equal(shard.graphFault, null, 'too few rows for a graph');
  shard.add(range(499, 1500), vectorsOf(range(499, 1500)));
  const { behind, nodes } = shard.stats();
  assert.deepEqual([shard.graphFault, behind, nodes], [reason, 0, 0]);
  assert.deepEqual(shard.maintain(1000), { behind: 0, worked: false });
  for (const label of [0, 498, 499, 1499]) {
    const { labels } = shard.search({ vector: vectorsOf(Uint32Array.of(label)), k: 1, minScore: -1 });
    assert.deepEqual([...labels], [label]);
  }
});
