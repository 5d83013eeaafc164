import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { nearestTo } from '../../../src/engine/vectors/row-search.ts';
import { NO_LABEL, VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { DIM, openSpaceThreads, range, vectorOf, vectorsOf } from './space-harness.ts';

const threads = openSpaceThreads();
after(() => threads.close());
const namespace = 'rows';

function append(rows: VectorRows, labels: Uint32Array): void {
  const vectors = vectorsOf(labels, rows.dim);
  labels.forEach((label, i) => {
    rows.append(label, vectors, i * rows.dim);
  });
}

test('rows are counted and found by label; an erased one keeps its place and is found no more', () => {
  const rows = VectorRows.create(DIM);
  append(rows, Uint32Array.of(5, 70_000, 3));
  assert.deepEqual([rows.count, rows.live, [...rows.liveLabels()]], [3, 3, [5, 70_000, 3]]);
  const places = [5, 70_000, 3, 4, 2 ** 31].map((label) => rows.rowOf(label));
  assert.deepEqual(places, [0, 1, 2, undefined, undefined]);
  assert.deepEqual([rows.erase(70_000), rows.erase(70_000), rows.erase(4)], [true, false, false]);
  assert.deepEqual([rows.count, rows.live, [...rows.liveLabels()]], [3, 2, [5, 3]]);
  assert.deepEqual([rows.has(70_000), rows.isLive(1), rows.rowOf(3)], [false, false, 2]);
  append(rows, Uint32Array.of(70_000));
  assert.equal(rows.rowOf(70_000), 3);
});

test('rows of impossible dimensions are refused, and so is a label that memory cannot have; the largest vectors are scored', () => {
  for (const dim of [0, -1, 1.5, Number.NaN, 8193])
    assert.throws(() => VectorRows.create(dim), RangeError, String(dim));
  const dim = 8192;
  const rows = VectorRows.create(dim);
  append(rows, range(0, 3));
  assert.throws(() => rows.append(NO_LABEL, vectorOf(1, dim), 0), RangeError);
  assert.deepEqual([rows.count, rows.live], [3, 3]);
  rows.setQuery(vectorOf(2, dim));
  const { labels, scores } = nearestTo(rows, { k: 1, minScore: -1 });
  assert.deepEqual([...labels], [2]);
  assert.ok(Math.abs(scores[0] - 1) < 0.001);
});

test('very small and very large components keep their direction', () => {
  const rows = VectorRows.create(4);
  rows.append(1, Float32Array.of(1e-45, 0, 0, 0), 0);
  rows.append(2, Float32Array.of(0, 3e38, 0, 0), 0);
  rows.setQuery(Float32Array.of(1e-40, 3e-40, 0, 0));
  const { labels, scores } = nearestTo(rows, { k: 2, minScore: -1 });
  assert.deepEqual([...labels], [2, 1]);
  assert.ok(Math.abs(scores[0] - Math.sqrt(0.9)) < 0.001);
  assert.ok(Math.abs(scores[1] - Math.sqrt(0.1)) < 0.001);
});

test('a reader in another thread sees rows that were added or erased after it opened, also after the memory grew', async () => {
  const [searcher] = threads.searchers;
  const rows = VectorRows.create(DIM);
  await searcher.run('openRows', { namespace, id: 1, shared: rows.shared, reader: 1, before: null });
  const found = async (label: number, k: number) => {
    const near = await searcher.run('nearest', { namespace, rows: 1, to: vectorOf(label), k, minScore: -1 });
    return near?.labels;
  };
  assert.deepEqual(await found(0, 1), new Uint32Array(0));
  let from = 0;
  const bytes = () => rows.shared.rows.buffer.byteLength + rows.shared.places.buffer.byteLength;
  const sizes = new Set([bytes()]);
  // Up to a label that lies far behind the others.
  for (const to of [1, 1000, 60_000]) {
    append(rows, range(from, to));
    from = to;
    assert.deepEqual(await found(to - 1, 1), Uint32Array.of(to - 1));
    sizes.add(bytes());
  }
  append(rows, Uint32Array.of(5_000_000));
  sizes.add(bytes());
  assert.ok(sizes.size >= 3, 'the memory has grown');
  assert.deepEqual(await found(5_000_000, 1), Uint32Array.of(5_000_000));
  const to = Uint32Array.of(5_000_000);
  const mean = await searcher.run('nearest', { namespace, rows: 1, to, k: 1, minScore: -1 });
  assert.deepEqual(mean?.labels, Uint32Array.of(5_000_000));
  rows.erase(59_999);
  assert.ok(!(await found(59_999, 100))?.includes(59_999));
});

test('searches while the memory grows find what was there when they began, with its score', async () => {
  const dim = 1024;
  const [searcher] = threads.searchers;
  const rows = VectorRows.create(dim);
  const unlike = new Float32Array(dim).fill(-1);
  const vector = vectorOf(1, dim);
  await searcher.run('openRows', { namespace, id: 2, shared: rows.shared, reader: 1, before: null });
  rows.append(0, vector, 0);
  const { buffer } = rows.shared.rows;
  const task = { namespace, rows: 2, to: vector, k: 1, minScore: -1 };
  for (let round = 0; round < 20; round++) {
    let answered = false;
    const answer = searcher.run('nearest', task).finally(() => {
      answered = true;
    });
    for (let step = 0; step < 100 && !answered; step++) {
      for (let i = 0; i < 20; i++) rows.append(rows.count, unlike, 0);
      await new Promise(setImmediate);
    }
    const found = await answer;
    assert.deepEqual([...(found?.labels ?? [])], [0]);
    assert.ok(Math.abs((found?.scores[0] ?? 0) - 1) < 0.001);
  }
  assert.ok(rows.shared.rows.buffer.byteLength > buffer.byteLength);
});
