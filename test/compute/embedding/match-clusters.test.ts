import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchClusters } from '../../../src/compute/embedding/page-graph.ts';

const times = (value: number, count: number): number[] => new Array(count).fill(value);

test('a cluster continues the one with which it has most pages in common', () => {
  assert.deepEqual(matchClusters([...times(0, 10), ...times(1, 8)], 2, [...times(7, 8), ...times(5, 10)]), [7, 5]);
});

test('of a cluster that was split the larger part keeps the id', () => {
  assert.deepEqual(matchClusters([...times(0, 6), ...times(1, 4)], 2, times(3, 10)), [3, null]);
});

test('of clusters that became one the larger gives its id', () => {
  assert.deepEqual(matchClusters(times(0, 10), 1, [...times(3, 4), ...times(4, 6)]), [4]);
});

test('a little in common is another topic; noise and new pages say nothing', () => {
  const clusters = [...times(0, 20), ...times(1, 5), -1];
  const earlier = [...times(0, 19), 9, ...times(0, 5), 9];
  assert.deepEqual(matchClusters(clusters, 2, earlier), [9, null]);
  assert.deepEqual(matchClusters(times(0, 30), 1, [...times(1, 3), ...times(2, 3), ...times(3, 24)]), [3]);
  assert.deepEqual(matchClusters([...times(0, 3), ...times(1, 27)], 2, times(8, 30)), [null, 8]);
});
