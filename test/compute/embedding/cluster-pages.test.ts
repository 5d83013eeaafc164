import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { partitionAgreement } from '../../../bench/quality/partition-agreement.ts';
import { clusterPages, graphOf, type Neighbours } from '../../../src/compute/embedding/page-graph.ts';
import { PageVectors, type VectorTable } from '../../../src/compute/embedding/page-vectors.ts';
import { projectPages } from '../../../src/compute/embedding/project-pages.ts';
import { seededRandom } from '../../../src/compute/seeded-random.ts';
import { nearestRows } from '../../../src/engine/vectors/nearest-rows.ts';

const dim = 32;
const k = 20;

/** Pages around centres, and some that lie anywhere: one chunk each, with an offset that all have in common. */
function scattered(groups: number, perGroup: number, strays: number) {
  const random = seededRandom(1);
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const count = groups * perGroup + strays;
  const rows = new Float32Array(count * dim);
  const centres = Array.from({ length: groups }, () => Array.from({ length: dim }, gauss));
  const truth = Array.from({ length: count }, (_, row) => (row < groups * perGroup ? row % groups : -1));
  for (const [row, group] of truth.entries())
    for (let i = 0; i < dim; i++)
      rows[row * dim + i] = 4 + (group < 0 ? 0 : centres[group][i]) + gauss() * (group < 0 ? 1 : 0.5);
  return { rows, truth };
}

function centred(rows: Float32Array, languages = new Array<string>(rows.length / dim).fill('en')): VectorTable {
  const vectors = new PageVectors(dim);
  const taken = vectors.add({ counts: languages.map(() => 1), rows, languages });
  assert.ok(taken.every((isIn) => isIn));
  return vectors.centred();
}

const neighboursOf = (table: VectorTable) => nearestRows(table, Math.min(k, Math.max(1, table.count - 1)));
const amongOf = (table: VectorTable) => (pages: readonly number[]) => {
  const some = Float32Array.from(pages.flatMap((page) => [...table.rows.subarray(page * dim, (page + 1) * dim)]));
  return nearestRows({ rows: some, count: pages.length, dim }, k);
};
const none = () => assert.fail('so few pages are all laid out');

test('groups are found, pages that fit nowhere are noise, and the same pages give the same answer', () => {
  const { rows, truth } = scattered(6, 40, 12);
  const near = neighboursOf(centred(rows));
  const { clusters, probabilities, count } = clusterPages(near, { resolution: 1 });
  assert.equal(count, 6);
  const members = truth.map((group, row) => ({ group, cluster: clusters[row] })).filter(({ group }) => group >= 0);
  const { nmi } = partitionAgreement(
    members.map(({ group }) => group),
    members.map(({ cluster }) => cluster),
  );
  assert.ok(nmi > 0.97, `${nmi}`);
  const strays = truth.flatMap((group, row) => (group < 0 ? [clusters[row]] : []));
  assert.ok(strays.filter((cluster) => cluster < 0).length >= 9, strays.join());
  assert.ok(probabilities.every((share, row) => (clusters[row] < 0 ? share === 0 : share > 0 && share <= 1)));
  assert.deepEqual(clusterPages(near, { resolution: 1 }).clusters, clusters);
  const points = projectPages(near, none);
  assert.ok(points.every(Number.isFinite));
  assert.deepEqual(projectPages(near, none), points);
  assert.ok(clusterPages(near, { resolution: 20 }).count > 6, 'a higher resolution makes more clusters');
});

test('what ran before is continued when pages come', () => {
  const { rows } = scattered(6, 60, 0);
  const first = clusterPages(neighboursOf(centred(rows.slice(0, 240 * dim))), { resolution: 1 });
  const earlier = Uint32Array.from({ length: 360 }, (_, row) => (row < 240 ? first.clusters[row] + 10 : 0));
  const { clusters, count } = clusterPages(neighboursOf(centred(rows)), { resolution: 1, earlier });
  assert.equal(count, 6);
  assert.equal(partitionAgreement(clusters.slice(0, 240), first.clusters).nmi, 1);
});

test('the topics of more pages than are laid out, of which some have no neighbour', () => {
  const perGroup = 40;
  const { rows, truth } = scattered(28, perGroup, 60);
  const table = centred(rows);
  const near = neighboursOf(table);
  const alone = 30;
  near.indices.fill(-1, 0, alone * k);
  near.cosines.fill(0, 0, alone * k);
  const { clusters, count } = clusterPages(near, { resolution: 1 });
  const isMember = (row: number) => row >= alone && truth[row] >= 0 && clusters[row] >= 0;
  const members = [...truth.keys()].filter(isMember);
  assert.ok(members.length > 0.9 * 28 * perGroup, `${members.length} pages have a topic`);
  const { nmi } = partitionAgreement(
    members.map((row) => truth[row]),
    members.map((row) => clusters[row]),
  );
  assert.ok(nmi > 0.95, `${count} topics, NMI ${nmi}`);
  const points = projectPages(near, amongOf(table), 400);
  assert.ok(points.every(Number.isFinite));
});

test('all weights are finite and above zero, whatever the neighbours are', () => {
  const neighbour = fc.tuple(fc.integer({ min: -1, max: 11 }), fc.float({ min: -1, max: 1 }));
  const lists = fc.array(fc.uniqueArray(neighbour, { minLength: 4, maxLength: 4, selector: ([other]) => other }), {
    minLength: 12,
    maxLength: 12,
  });
  fc.assert(
    fc.property(lists, (rows) => {
      const indices = Int32Array.from(rows.flatMap((row, no) => row.map(([other]) => (other === no ? -1 : other))));
      const near: Neighbours = { k: 4, indices, cosines: Float32Array.from(rows.flat(), ([, cosine]) => cosine) };
      const { weights, neighbours, firsts } = graphOf(near);
      assert.ok(weights.every((weight) => weight > 0 && weight <= 1));
      assert.deepEqual([neighbours.length, firsts.length, firsts.at(-1)], [weights.length, 13, weights.length]);
    }),
  );
});

test('few pages, copies of one page and pages without a usable vector are no trouble', () => {
  for (const count of [1, 2, 5, 16, 17]) {
    const near = neighboursOf(centred(scattered(1, count, 0).rows));
    assert.equal(clusterPages(near, { resolution: 1 }).clusters.length, count);
    assert.ok(projectPages(near, none).every(Number.isFinite));
  }
  const row = Float32Array.from({ length: dim }, (_, i) => Math.sin(i + 1));
  for (const [copies, count] of [
    [60, 1],
    [1, 0],
  ]) {
    const near = neighboursOf(centred(Float32Array.from({ length: copies * dim }, (_, at) => row[at % dim])));
    assert.deepEqual(clusterPages(near, { resolution: 1 }).count, count);
    assert.ok(projectPages(near, none).every(Number.isFinite));
  }
  const vectors = new PageVectors(dim);
  const rows = new Float32Array(5 * dim);
  rows.fill(1, 0, dim); // a page of a chunk, then one of no chunk, one of zeros, one of NaN, and one that has a chunk of each kind
  rows.fill(Number.NaN, 2 * dim, 3 * dim);
  rows.fill(Number.POSITIVE_INFINITY, 3 * dim, 4 * dim);
  rows.fill(2, 4 * dim);
  const taken = vectors.add({ counts: [1, 0, 1, 1, 2], rows, languages: ['en', 'en', 'en', 'en', 'en'] });
  assert.deepEqual(taken, [true, false, false, false, true]);
  const { count, rows: made } = vectors.centred();
  assert.equal(count, 2);
  assert.ok(made.every(Number.isFinite));
});

test('pages in two languages on one subject are one topic', () => {
  const random = seededRandom(3);
  const rows = new Float32Array(120 * dim);
  for (let page = 0; page < 120; page++) {
    rows[page * dim + (page % 2)] = 3;
    rows[page * dim + 2 + (page % 3)] = 1;
    for (let i = 0; i < dim; i++) rows[page * dim + i] += 0.1 * (random() - 0.5);
  }
  const table = centred(
    rows,
    Array.from({ length: 120 }, (_, page) => ['en', 'de'][page % 2]),
  );
  const { clusters, count } = clusterPages(neighboursOf(table), { resolution: 1 });
  assert.equal(count, 3);
  assert.equal(
    partitionAgreement(
      clusters,
      Array.from(clusters.keys(), (page) => page % 3),
    ).ari,
    1,
  );
});

test('neighbours are the nearest rows, best first, without the row itself, across blocks of rows', () => {
  const table = centred(scattered(60, 40, 10).rows);
  const { indices, cosines } = nearestRows(table, 7);
  const cosine = (a: number, b: number) => {
    let sum = 0;
    for (let i = 0; i < dim; i++) sum += table.rows[a * dim + i] * table.rows[b * dim + i];
    return sum;
  };
  for (const row of [0, 33, 1023, 1024, 2409]) {
    const exact = Array.from({ length: table.count }, (_, other) => (other === row ? -2 : cosine(row, other)));
    const seventh = exact.toSorted((a, b) => b - a)[6];
    const mine = [...indices.subarray(row * 7, row * 7 + 7)];
    assert.ok(mine.every((other) => exact[other] > seventh - 0.01 && other !== row));
    assert.ok(mine.every((other, i) => Math.abs(cosines[row * 7 + i] - exact[other]) < 0.01));
    assert.equal(new Set(mine).size, 7);
  }
});

test('a map of more pages than are laid out has every page, near its own kind', () => {
  const { rows, truth } = scattered(4, 100, 0);
  const table = centred(rows);
  const points = projectPages(nearestRows(table, k), amongOf(table), 200);
  const middles = [0, 1, 2, 3].map((group) => {
    const mine = truth.flatMap((each, row) => (each === group ? [row] : []));
    return [0, 1].map((axis) => mine.reduce((sum, row) => sum + points[2 * row + axis], 0) / mine.length);
  });
  const right = truth.filter((group, row) => {
    const far = middles.map(([x, y]) => Math.hypot(points[2 * row] - x, points[2 * row + 1] - y));
    return far.indexOf(Math.min(...far)) === group;
  });
  assert.ok(right.length >= 0.97 * table.count, `${right.length} of ${table.count}`);
});
