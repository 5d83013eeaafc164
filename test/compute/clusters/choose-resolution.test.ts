import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modularity, suitability } from '../../../src/compute/clusters/choose-resolution.ts';
import type { SimilarityGraph } from '../../../src/compute/clusters/similarity-graph.ts';

function graphOf(nodes: number, edges: readonly (readonly [number, number, number])[]): SimilarityGraph {
  const graph: SimilarityGraph = { nodes, firsts: [0], neighbours: [], weights: [] };
  for (let node = 0; node < nodes; node++) {
    for (const [a, b, weight] of edges) {
      if (a !== node && b !== node) continue;
      graph.neighbours.push(a === node ? b : a);
      graph.weights.push(weight);
    }
    graph.firsts.push(graph.neighbours.length);
  }
  return graph;
}

/** Two triangles with one edge between them. */
const triangles = graphOf(6, [
  [0, 1, 1],
  [0, 2, 1],
  [1, 2, 1],
  [2, 3, 1],
  [3, 4, 1],
  [3, 5, 1],
  [4, 5, 1],
]);

test('modularity is the share of edges inside less what chance puts there', () => {
  // 7 edges, 14 ends: 6 of 7 edges inside, each triangle with half of the ends.
  assert.ok(Math.abs(modularity(triangles, [0, 0, 0, 1, 1, 1]) - (6 / 7 - 2 * (7 / 14) ** 2)) < 1e-12);
  assert.equal(modularity(triangles, [0, 0, 0, 0, 0, 0]), 0);
  // A node of no cluster takes its edges out: 5 of 7 inside, 7 and 5 ends.
  assert.ok(Math.abs(modularity(triangles, [0, 0, 0, 1, 1, -1]) - (4 / 7 - (7 / 14) ** 2 - (5 / 14) ** 2)) < 1e-12);
  assert.equal(modularity(graphOf(3, []), [0, 1, 2]), 0);
});

test('weights count, not edges', () => {
  const graph = graphOf(4, [
    [0, 1, 3],
    [1, 2, 1],
    [2, 3, 3],
  ]);
  assert.ok(Math.abs(modularity(graph, [0, 0, 1, 1]) - (6 / 7 - 2 * 0.5 ** 2)) < 1e-12);
});

test('the clustering that stays what it is while the resolution changes suits best', () => {
  const one = [0, 0, 0, 0, 0, 0];
  const two = [0, 0, 0, 1, 1, 1];
  const pairs = [0, 0, 1, 1, 2, 2];
  const crossed = [0, 1, 0, 1, 0, 1];
  const clusterings = [one, one, two, two, two, pairs, crossed];
  const suits = suitability(triangles, clusterings);
  assert.equal(clusterings[suits.indexOf(Math.max(...suits))], two);
  assert.equal(suits[0], 0);
  assert.equal(suits[6], 0);
});

test('a clustering is compared with three on either side', () => {
  const two = [0, 0, 0, 1, 1, 1];
  const alone = [0, 1, 2, 3, 4, 5];
  // Agreement with itself is 1, with single nodes 0; modularity of the triangles is 6/7 - 1/2.
  const [first, , third] = suitability(triangles, [two, two, two, two, alone, alone]);
  assert.ok(Math.abs(first - (6 / 7 - 1 / 2) ** 2) < 1e-12);
  assert.ok(Math.abs(third - ((6 / 7 - 1 / 2) ** 2 * 3) / 5) < 1e-12);
});

test('one page, and none connected, suit no better at any resolution', () => {
  assert.deepEqual(suitability(graphOf(1, []), [[-1], [0]]), [0, 0]);
  assert.deepEqual(
    suitability(graphOf(3, []), [
      [0, 1, 2],
      [-1, -1, -1],
    ]),
    [0, 0],
  );
});
