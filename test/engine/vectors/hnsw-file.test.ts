import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { faultOfHnswFile } from '../../../src/engine/vectors/hnsw-file.ts';
import { ShardGraph } from '../../../src/engine/vectors/shard-graph.ts';
import { VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { needsGraphs } from './needs-graphs.ts';

const dir = mkdtempSync(join(tmpdir(), 'readback-hnsw-'));
after(() => rmSync(dir, { recursive: true }));

function rowsOf(count: number, dim: number): VectorRows {
  const rows = new VectorRows(dim);
  for (let label = 0; label < count; label++) {
    rows.append(
      label,
      Float32Array.from({ length: dim }, (_, i) => Math.sin(label * 31 + i * 7)),
      0,
    );
  }
  return rows;
}

function savedGraph(count: number, dim: number): Buffer {
  const rows = rowsOf(count, dim);
  const graph = ShardGraph.create(dim, 10);
  while (graph.covered < count) graph.coverNext(rows);
  const path = join(dir, `${count}-${dim}.graph`);
  graph.save(path);
  graph.dispose();
  return readFileSync(path);
}

test('what the library wrote has no fault', needsGraphs, () => {
  for (const [count, dim] of [
    [0, 8],
    [1, 8],
    [700, 5],
    [300, 48],
  ]) {
    assert.equal(faultOfHnswFile(savedGraph(count, dim), dim, count), undefined);
  }
});

test(
  'a file that is cut, prolonged, of another dimension or with labels beyond the rows has a fault',
  needsGraphs,
  () => {
    const file = savedGraph(300, 16);
    for (let length = 0; length < file.length; length += 97) {
      assert.notEqual(faultOfHnswFile(file.subarray(0, length), 16, 300), undefined);
    }
    assert.equal(faultOfHnswFile(Buffer.concat([file, Buffer.alloc(4)]), 16, 300), 'longer than its content');
    assert.equal(faultOfHnswFile(file, 17, 300), 'another dimension');
    assert.equal(faultOfHnswFile(file, 16, 299), 'impossible count');
    assert.equal(faultOfHnswFile(file, 16, 400, 1), 'a label out of range');
  },
);

test('a file with a flipped bit has a fault or is loaded and searched without harm', needsGraphs, () => {
  const file = savedGraph(300, 4);
  const rows = rowsOf(300, 4);
  const path = join(dir, 'flipped.graph');
  let faults = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const bytes = Buffer.from(file);
    bytes[(Math.imul(seed, 0x9e3779b1) >>> 0) % bytes.length] ^= 1 << (seed % 8);
    if (faultOfHnswFile(bytes, 4, 300) !== undefined) {
      faults++;
      continue;
    }
    writeFileSync(path, bytes);
    const graph = ShardGraph.load(path, rows, 300);
    const found = graph.near([0.5, 0.5, 0.5, 0.5], 300, 300);
    assert.ok(found.every((row) => row < 300));
    graph.dispose();
  }
  assert.ok(faults > 30, `${faults} faults`);
});
