import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBitmap } from '../../../src/compute/structures/bitmap.ts';
import { relatedRows as relatedIn } from '../../../src/engine/vectors/row-graph.ts';
import { cosinesWith, meanOfRows, nearestTo } from '../../../src/engine/vectors/row-search.ts';
import { CALL_ROWS, VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { DIM, nearest, range, recall, setOf, vectorOf } from './space-harness.ts';

const relatedRows = (rows: VectorRows, options: Parameters<typeof relatedIn>[1]) =>
  relatedIn({ rows, graph: null }, options);

function rowsOf(labels: Iterable<number>, dim = DIM): VectorRows {
  const rows = VectorRows.create(dim);
  for (const label of labels) rows.append(label, vectorOf(label, dim), 0);
  return rows;
}

for (const dim of [8, 100, 384, 1024]) {
  test(`a search of ${dim} dimensions finds the nearest of all rows, of allowed ones, and above a floor; erased rows do not come out`, () => {
    const count = dim > 384 ? CALL_ROWS + 1 : 2 * CALL_ROWS + 100; // the last block is not full
    const all = range(0, count);
    const rows = rowsOf(all, dim);
    const vector = vectorOf(count - 1, dim); // the last row is the nearest
    rows.setQuery(vector);
    const options = { k: 20, minScore: -1 };
    const third = all.filter((label) => label % 3 === 0);
    const cases = [
      { name: 'all', labels: all },
      { name: 'allowed', labels: third, allow: setOf(third) },
      { name: 'none allowed', labels: range(0, 0), allow: createBitmap(count) },
    ];
    for (const { name, labels, ...limits } of cases) {
      const truth = nearest(vector, labels, options.k);
      const found = nearestTo(rows, { ...options, ...limits });
      assert.equal(found.labels.length, truth.length, name);
      if (truth.length === 0) continue;
      assert.ok(recall(found.labels, truth) >= 0.9, `${name}: recall ${recall(found.labels, truth)}`);
      assert.ok(Math.abs(found.scores[0] - truth[0].score) < 0.005, name);
    }
    const { labels, scores } = nearestTo(rows, options);
    assert.equal(labels[0], count - 1);
    assert.deepEqual(nearestTo(rows, { ...options, minScore: scores[9] }).labels, labels.subarray(0, 10));
    assert.equal(nearestTo(rows, { ...options, k: 0 }).labels.length, 0);
    rows.erase(labels[0]);
    assert.deepEqual(nearestTo(rows, { ...options, k: 19 }).labels, labels.subarray(1));
  });
}

test('rows as near as each other come in the order of their labels', () => {
  const rows = VectorRows.create(DIM);
  for (const label of [9, 4, 7, 2]) rows.append(label, vectorOf(1), 0);
  rows.setQuery(vectorOf(1));
  assert.deepEqual([...nearestTo(rows, { k: 3, minScore: -1 }).labels], [2, 4, 7]);
});

test('labels have the cosines that a search gives them, and NaN without a row', () => {
  const count = CALL_ROWS + 10;
  const rows = rowsOf(range(0, count));
  rows.erase(7);
  rows.setQuery(vectorOf(9000));
  const { labels, scores } = nearestTo(rows, { k: count, minScore: -1 });
  assert.equal(labels.length, count - 1);
  assert.deepEqual(cosinesWith(rows, labels), scores);
  const cosines = [...cosinesWith(rows, [7, labels[3], 77_777, labels[0]])];
  assert.deepEqual(cosines, [Number.NaN, scores[3], Number.NaN, scores[0]]);
  assert.deepEqual(cosinesWith(rows, []), new Float32Array(0));
});

test('the mean of rows is that of their directions, null where none is there or they cancel out', () => {
  const rows = VectorRows.create(DIM);
  const unit = (at: number, length: number) => new Float32Array(DIM).fill(length, at, at + 1);
  for (const [label, vector] of [unit(0, 5), unit(1, 0.1), unit(0, -2)].entries()) rows.append(label, vector, 0);
  const mean = meanOfRows(rows, [0, 1, 99]);
  assert.ok(mean !== null);
  for (const [at, value] of mean.entries()) assert.ok(Math.abs(value - (at < 2 ? 1 : 0)) < 1e-6);
  for (const labels of [[], [99], [0, 2]]) assert.equal(meanOfRows(rows, labels), null);
  rows.erase(1);
  assert.deepEqual(meanOfRows(rows, [0, 1]), meanOfRows(rows, [0]));
});

/** Rows at these degrees of a circle, by label. */
function circleOf(degrees: Record<number, number>): VectorRows {
  const rows = VectorRows.create(2);
  for (const [label, angle] of Object.entries(degrees)) {
    const radians = (angle * Math.PI) / 180;
    rows.append(Number(label), Float32Array.of(Math.cos(radians), Math.sin(radians)), 0);
  }
  return rows;
}

test('related rows are among the nearest of each other, best first, and name the row they are nearest to', () => {
  // 3 is nearest to 2 and 4, 5 and 6 to each other; 1 is near to 2 alone.
  const rows = circleOf({ 1: 1, 2: 20, 3: 32, 4: 40, 5: 100, 6: 103, 7: 200 });
  const options = { k: 9, few: 1, minScore: 0, except: new Set<number>() };
  const related =
    (...to: number[]) =>
    (changes: Partial<Parameters<typeof relatedRows>[1]> = {}) => {
      const found = relatedRows(rows, { ...options, to: Uint32Array.from(to), ...changes });
      return found.map(({ label, to: of }) => `${label} to ${of}`).join();
    };
  const cases: [string, found: string, expected: string][] = [
    ['each other’s nearest', related(4)(), '3 to 4'],
    ['not nearest to it, as another is', related(1)(), ''],
    ['unless more of the nearest count', related(1)({ few: 2 }), '2 to 1'],
    ['of several, best first', related(4, 5)(), '6 to 5,3 to 4'],
    ['at most k', related(4, 5)({ k: 1 }), '6 to 5'],
    ['the row it is nearest to', related(2, 4)({ few: 2 }), '3 to 4,1 to 2'],
    ['none of these', related(4, 5)({ except: new Set([6]) }), '3 to 4'],
    ['only these, though others are nearer', related(5)({ allow: setOf([4, 7]), few: 4 }), '4 to 5'],
    ['above the floor', related(7)({ few: 6, minScore: 0.9 }), ''],
    ['of no row', related(99)(), ''],
  ];
  for (const [name, found, expected] of cases) assert.deepEqual(found, expected, name);
  const [{ score }] = relatedRows(rows, { ...options, to: Uint32Array.of(5) });
  assert.ok(Math.abs(score - Math.cos((3 * Math.PI) / 180)) < 0.001);
});

test('a row that is erased during a search is not found, and nothing is related to it', () => {
  /** As a reader may see it: label and vector are erased, that it is no live row is not seen yet. */
  class ErasedWhileScored extends VectorRows {
    override isLive(): boolean {
      return true;
    }

    override score(rows: Uint32Array, scores: Float32Array): void {
      super.score(rows, scores);
      this.erase(3);
    }
  }
  const searched = new ErasedWhileScored(rowsOf(range(0, 10)).shared);
  searched.setQuery(vectorOf(3));
  const found = nearestTo(searched, { k: 20, minScore: -1 }).labels;
  assert.deepEqual(found.toSorted(), Uint32Array.of(0, 1, 2, 4, 5, 6, 7, 8, 9));

  class ErasedWhenRead extends VectorRows {
    override vectorOf(row: number): Float32Array {
      this.erase(this.labelOf(row));
      return super.vectorOf(row);
    }
  }
  const related = new ErasedWhenRead(rowsOf(range(0, 10)).shared);
  const options = { to: Uint32Array.of(3), k: 9, few: 9, minScore: -1, except: new Set<number>() };
  assert.deepEqual(relatedRows(related, options), []);
});
