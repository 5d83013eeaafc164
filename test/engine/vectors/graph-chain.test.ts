import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { GraphChain } from '../../../src/engine/vectors/graph-chain.ts';
import { ShardGraph } from '../../../src/engine/vectors/shard-graph.ts';
import { VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { needsGraphs } from './needs-graphs.ts';
import { DIM, nearest, range, recall, vectorOf } from './space-harness.ts';

const dir = mkdtempSync(join(tmpdir(), 'readback-chain-'));
after(() => rmSync(dir, { recursive: true }));

/** Rows whose numbers are their labels. */
function rowsOf(count: number): VectorRows {
  const rows = new VectorRows(DIM);
  for (let label = 0; label < count; label++) rows.append(label, vectorOf(label), 0);
  return rows;
}

function cover(chain: GraphChain, rows: VectorRows): void {
  while (chain.covered < rows.count) chain.coverNext(rows);
}

function unitOf(rows: VectorRows, label: number): number[] {
  rows.setQuery(vectorOf(label));
  return rows.queryUnit();
}

const runsOf = (chain: GraphChain) => chain.graphs.map(({ first, covered }) => [first, covered]);

test('a new graph is begun when the last one has its rows, deleted ones included', needsGraphs, () => {
  const rows = rowsOf(250);
  const chain = new GraphChain(DIM, 100);
  assert.equal(chain.covered, 0);
  rows.erase(7);
  rows.erase(120);
  cover(chain, rows);
  assert.deepEqual(runsOf(chain), [
    [0, 100],
    [100, 200],
    [200, 250],
  ]);
  assert.equal(chain.nodes, 248);
  chain.dispose();
});

test('the best rows of every graph are found, and no removed row of any of them', needsGraphs, () => {
  const rows = rowsOf(250);
  const chain = new GraphChain(DIM, 100);
  cover(chain, rows);
  const gone = [3, 99, 100, 150, 199, 200, 249];
  for (const label of gone) {
    rows.erase(label);
    chain.remove(label);
  }
  const live = range(0, 250).filter((label) => !gone.includes(label));
  for (const query of [1000, 2000, 3000]) {
    const found = chain.near(unitOf(rows, query), [100, 100, 50], 40);
    assert.equal(new Set(found).size, 120);
    assert.ok(found.every((row) => live.includes(row)));
    assert.ok(recall(Uint32Array.from(found), nearest(vectorOf(query), live, 40)) >= 0.975);
  }
  assert.deepEqual(
    chain.near(unitOf(rows, 1000), [500, 500, 500], 500).sort((a, b) => a - b),
    [...live],
  );
  chain.dispose();
});

test('a graph that is larger than graphs are now stays, and the next begins after it', needsGraphs, () => {
  const rows = rowsOf(250);
  const large = ShardGraph.create(DIM, 10);
  while (large.covered < 180) large.coverNext(rows);
  const chain = new GraphChain(DIM, 100, [large]);
  assert.equal(chain.covered, 180);
  cover(chain, rows);
  assert.deepEqual(runsOf(chain), [
    [0, 180],
    [180, 250],
  ]);
  assert.equal(chain.near(unitOf(rows, 5), [180, 70], 1)[0], 5);
  assert.equal(chain.near(unitOf(rows, 245), [180, 70], 1)[1], 245);
  chain.dispose();
});

test(
  'a graph that holds nearly all rows is searched nearly as wide as one alone, and each at least two thirds as wide',
  needsGraphs,
  () => {
    const rows = rowsOf(250);
    const chain = new GraphChain(DIM, 200);
    assert.deepEqual(chain.widths(300), []);
    while (chain.covered < 200) chain.coverNext(rows);
    assert.deepEqual(chain.widths(300), [300]);
    chain.coverNext(rows);
    assert.deepEqual(chain.widths(300), [Math.ceil((300 * 200) / 201), 200]);
    cover(chain, rows);
    assert.deepEqual(chain.widths(300), [240, 200]);
    for (let row = 0; row < 200; row++) {
      rows.erase(row);
      chain.remove(row);
    }
    assert.deepEqual(chain.widths(300), [200, 300]);
    assert.equal(chain.near(unitOf(rows, 5), [200, 300], 40).length, 40);
    chain.dispose();
  },
);

test(
  'how many nodes are deleted in the graph with most of them is known, after it was loaded, too',
  needsGraphs,
  () => {
    const rows = rowsOf(250);
    rows.erase(4);
    const chain = new GraphChain(DIM, 100);
    cover(chain, rows);
    assert.equal(chain.mostDeleted, 0);
    for (const row of [3, 101, 102, 103, 249]) {
      rows.erase(row);
      chain.remove(row);
    }
    assert.equal(chain.mostDeleted, 3);
    const path = join(dir, 'middle.graph');
    const [, middle] = chain.graphs;
    middle.save(path);
    const loaded = ShardGraph.load(path, rows, middle.covered, middle.first);
    assert.deepEqual([loaded.nodes, loaded.live], [100, 97]);
    loaded.dispose();
    chain.dispose();
  },
);
