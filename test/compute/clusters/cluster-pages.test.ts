import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partitionAgreement } from '../../../src/compute/agreement/partition-agreement.ts';
import { clusterPages } from '../../../src/compute/clusters/cluster-pages.ts';
import { findCommunities } from '../../../src/compute/clusters/find-communities.ts';
import { createKeywordTerms } from '../../../src/compute/clusters/keyword-terms.ts';
import { nearestNeighbours } from '../../../src/compute/clusters/nearest-neighbours.ts';
import { PageTable } from '../../../src/compute/clusters/page-table.ts';
import { dotOfRows, normalizeRow, type VectorTable } from '../../../src/compute/clusters/page-vectors.ts';
import { principalAxes, projectRow } from '../../../src/compute/clusters/principal-axes.ts';
import { projectPages } from '../../../src/compute/clusters/project-pages.ts';
import { companyOf, similarityGraph } from '../../../src/compute/clusters/similarity-graph.ts';
import { WordAxes } from '../../../src/compute/clusters/word-axes.ts';
import { seededRandom } from '../../../src/compute/seeded-random.ts';
import { porterStem } from '../../../src/compute/text/stemmers.ts';

const termsOf = createKeywordTerms(porterStem);
const dim = 32;
const monotonic = () => 0;

/** Pages around centres, and some that lie anywhere. */
function scattered(
  groups: number,
  perGroup: number,
  strays: number,
  seed = 1,
): { table: VectorTable; truth: number[] } {
  const random = seededRandom(seed);
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const count = groups * perGroup + strays;
  const rows = new Float32Array(count * dim);
  const centres = Array.from({ length: groups }, () => Array.from({ length: dim }, gauss));
  const truth = Array.from({ length: count }, (_, row) => (row < groups * perGroup ? row % groups : -1));
  truth.forEach((group, row) => {
    for (let i = 0; i < dim; i++)
      rows[row * dim + i] = (group < 0 ? 0 : centres[group][i]) + gauss() * (group < 0 ? 1 : 0.5);
    normalizeRow(rows, row * dim, dim);
  });
  return { table: { rows, count, dim }, truth };
}

test('groups are found, pages that fit nowhere are noise, and the same pages give the same answer', () => {
  const { table, truth } = scattered(6, 40, 12);
  const { clusters, probabilities, count, points, continued } = clusterPages(table, { resolution: 1, monotonic });
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
  assert.ok(points.every(Number.isFinite));
  assert.deepEqual(continued, [null, null, null, null, null, null]);
  assert.deepEqual(clusterPages(table, { resolution: 1, monotonic }).clusters, clusters);
  assert.deepEqual(clusterPages(table, { resolution: 1, monotonic }).points, points);
});

test('a higher resolution makes more communities', () => {
  const { table } = scattered(6, 40, 0);
  const neighbours = nearestNeighbours(table, 50);
  const graph = similarityGraph(neighbours, companyOf(neighbours, table.count));
  const countAt = (resolution: number) => new Set(findCommunities(graph, { resolution })).size;
  // Six groups apart from each other: chance would put a sixth of a page's edges into its group.
  assert.equal(countAt(1), 6);
  assert.ok(countAt(12) > 6);
});

test('clusters of a grown collection continue the earlier ones', () => {
  const grown = scattered(6, 60, 0);
  const part = { rows: grown.table.rows.subarray(0, 240 * dim), count: 240, dim };
  const first = clusterPages(part, { resolution: 1, monotonic });
  const ids = Uint32Array.from({ length: 360 }, (_, row) =>
    row < 240 && first.clusters[row] >= 0 ? first.clusters[row] + 10 : 0,
  );
  const { continued, clusters } = clusterPages(grown.table, { resolution: 1, earlier: ids, monotonic });
  assert.deepEqual([...continued].sort(), [10, 11, 12, 13, 14, 15]);
  const kept = [...ids].filter((id, row) => id !== 0 && continued[clusters[row]] === id).length;
  assert.ok(kept >= 0.97 * ids.filter((id) => id !== 0).length, `${kept}`);
});

test('few pages are no trouble', () => {
  for (const count of [1, 2, 5, 16, 17]) {
    const { table } = scattered(1, count, 0);
    const { clusters, points } = clusterPages(table, { resolution: 1, monotonic });
    assert.equal(clusters.length, count);
    assert.equal(points.length, 2 * count);
  }
});

test('neighbours are the nearest ones, best first, without the page itself', () => {
  const { table } = scattered(4, 20, 10);
  const { indices, cosines } = nearestNeighbours(table, 7);
  for (const row of [0, 33, 89]) {
    const exact = Array.from({ length: table.count }, (_, other) => ({
      other,
      cosine: dotOfRows(table.rows, row * dim, table.rows, other * dim, dim),
    }))
      .filter(({ other }) => other !== row)
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, 7);
    assert.deepEqual(
      [...indices.subarray(row * 7, row * 7 + 7)],
      exact.map(({ other }) => other),
    );
    assert.deepEqual(
      [...cosines.subarray(row * 7, row * 7 + 7)],
      exact.map(({ cosine }) => Math.fround(cosine)),
    );
  }
});

test('of large collections nearly all of the nearest neighbours are found', () => {
  const { table } = scattered(60, 210, 0);
  assert.ok(table.count > 12_000);
  const { indices } = nearestNeighbours(table, 10);
  let found = 0;
  for (let row = 0; row < table.count; row += 500) {
    const exact = Array.from({ length: table.count }, (_, other) => ({
      other,
      cosine: other === row ? -2 : dotOfRows(table.rows, row * dim, table.rows, other * dim, dim),
    })).sort((a, b) => b.cosine - a.cosine);
    const mine = new Set(indices.subarray(row * 10, row * 10 + 10));
    found += exact.slice(0, 10).filter(({ other }) => mine.has(other)).length / 10;
  }
  assert.ok(found / Math.ceil(table.count / 500) > 0.95, `${found / Math.ceil(table.count / 500)}`);
});

test('a map of more pages than are laid out has every page, near its own kind', () => {
  const { table, truth } = scattered(4, 100, 0);
  const points = projectPages(table, nearestNeighbours(table, 30), 200);
  assert.equal(points.length, 2 * table.count);
  const middles = [0, 1, 2, 3].map((group) => {
    const mine = truth.flatMap((each, row) => (each === group ? [row] : []));
    const mean = (axis: number) => mine.reduce((sum, row) => sum + points[2 * row + axis], 0) / mine.length;
    return [mean(0), mean(1)];
  });
  const nearest = truth.map((_, row) => {
    const far = middles.map(([x, y]) => Math.hypot(points[2 * row] - x, points[2 * row + 1] - y));
    return far.indexOf(Math.min(...far));
  });
  const right = truth.filter((group, row) => nearest[row] === group).length;
  assert.ok(right >= 0.97 * table.count, `${right} of ${table.count}`);
});

test('principal axes are orthonormal and keep what differs', () => {
  const { table } = scattered(3, 30, 0);
  const axes = principalAxes(table, 4);
  for (let a = 0; a < 4; a++) {
    for (let b = 0; b <= a; b++) {
      const dot = dotOfRows(axes.axes, a * dim, axes.axes, b * dim, dim);
      assert.ok(Math.abs(dot - (a === b ? 1 : 0)) < 1e-3, `${a} ${b} ${dot}`);
    }
  }
  const target = new Float32Array(4);
  assert.equal(projectRow(axes, table.rows.subarray(0, dim), target, 0), true);
  assert.ok(Math.abs(Math.hypot(...target) - 1) < 1e-3);
  assert.equal(projectRow(axes, axes.mean, target, 0), false);
});

test('copies of one page are a cluster, and a single page is noise', () => {
  const row = Float32Array.from({ length: dim }, (_, i) => Math.sin(i + 1));
  normalizeRow(row, 0, dim);
  for (const [copies, count] of [
    [60, 1],
    [1, 0],
  ]) {
    const openings = Array(copies).fill('');
    const sample = { counts: Array(copies).fill(1), rows: new Float32Array(copies * dim), openings };
    for (let copy = 0; copy < copies; copy++) sample.rows.set(row, copy * dim);
    const table = new PageTable([sample], dim, termsOf);
    assert.ok(
      table.add(sample).every((isIn) => isIn),
      `${copies}`,
    );
    const found = clusterPages(table.vectors, { resolution: 1, monotonic });
    assert.deepEqual([found.clusters.length, found.count], [copies, count]);
    assert.ok(found.points.every(Number.isFinite));
  }
});

test('a topic is of one language, and what vectors tell of the language above all makes no topics', () => {
  const openings = [
    'The engine of the mill was driven by the water of the river.',
    'Das Wasser des Flusses trieb die Maschine der Mühle an.',
  ];
  const random = seededRandom(3);
  const topicOf = (page: number) => page % 3;
  const languageOf = (page: number) => Math.floor(page / 60);
  const pages = { counts: Array(120).fill(1), rows: new Float32Array(120 * dim), openings: [] as string[] };
  for (let page = 0; page < 120; page++) {
    const at = page * dim;
    pages.openings.push(openings[languageOf(page)]);
    pages.rows[at + languageOf(page)] = 3;
    pages.rows[at + 2 + topicOf(page)] = 1;
    for (let i = 0; i < dim; i++) pages.rows[at + i] += 0.1 * (random() - 0.5);
    normalizeRow(pages.rows, at, dim);
  }
  const table = new PageTable([pages], dim, termsOf);
  table.add(pages);
  const { clusters, count } = clusterPages(table.vectors, { resolution: 1, monotonic });
  assert.equal(count, 6);
  const kindOf = (page: number) => 3 * languageOf(page) + topicOf(page);
  assert.equal(partitionAgreement(clusters, Array.from(clusters.keys(), kindOf)).ari, 1);
});

test('pages whose vectors are alike are told apart by their words', () => {
  const subjects = ['heron river reed wading marsh beak', 'ledger invoice audit tax budget fiscal'].map((each) =>
    each.split(' '),
  );
  const random = seededRandom(9);
  const pick = (words: string[]) => words[Math.floor(random() * words.length)];
  const own = Array.from(
    { length: 40 },
    (_, no) => `w${String.fromCharCode(97 + (no % 26), 97 + Math.floor(no / 26))}x`,
  );
  const subjectOf = (page: number) => page % 2;
  const pages = { counts: Array(80).fill(1), rows: new Float32Array(80 * dim), openings: [] as string[] };
  for (let page = 0; page < 80; page++) {
    const words = Array.from({ length: 30 }, (_, at) =>
      pick(at % 3 === 0 ? own : subjects[subjectOf(page)].slice(at % 2)),
    );
    pages.openings.push(`The ${words.join(' and the ')} were there.`);
    for (let i = 0; i < dim; i++) pages.rows[page * dim + i] = random() - 0.5;
    normalizeRow(pages.rows, page * dim, dim);
  }
  // Words on half of the pages are as good as everywhere: pages about nothing in common are beside them.
  const others = { counts: Array(240).fill(1), rows: new Float32Array(240 * dim), openings: [] as string[] };
  for (let page = 0; page < 240; page++) {
    others.openings.push(`The ${Array.from({ length: 8 }, () => pick(own)).join(' and the ')} were there.`);
    for (let i = 0; i < dim; i++) others.rows[page * dim + i] = random() - 0.5;
    normalizeRow(others.rows, page * dim, dim);
  }
  const table = new PageTable([pages, others], dim, termsOf);
  table.add(pages);
  const { clusters } = clusterPages(table.vectors, { resolution: 1, monotonic });
  assert.ok(partitionAgreement(clusters, Array.from(clusters.keys(), subjectOf)).ari > 0.9);
});

test('along all axes of words pages are as alike as by their words, and a page without a known word has none', () => {
  const said = (text: string) => ({ language: 'en', terms: new Map(text.split(' ').map((term) => [term, 1])) });
  const sample = Array.from({ length: 40 }, (_, no) => said(`a${no % 7} b${no % 6} only${no}`));
  const axes = new WordAxes(sample, 8);
  const row = new Float32Array(axes.count + 2).fill(5);
  assert.equal(axes.project(said('a1 b2 nothing'), row, 1), 2);
  assert.ok(Math.abs(Math.hypot(...row.subarray(1, 1 + axes.count)) - 1) < 1e-5);
  assert.deepEqual([row[0], row[axes.count + 1]], [5, 5]);
  assert.equal(axes.project(said('nothing'), row, 1), 0);
  assert.ok(row.subarray(1, 1 + axes.count).every((value) => value === 0));
  // Without pages of one word the sums of both kinds would be a direction that no page has.
  const alone = Array.from({ length: 14 }, (_, no) => said(`a${no % 7}`));
  const whole = new WordAxes([...sample, ...alone], 100);
  assert.equal(whole.count, 13, 'as many as words on three pages and more');
  const along = (text: string) => {
    const target = new Float32Array(whole.count);
    whole.project(said(text), target, 0);
    return target;
  };
  const cosine = (a: string, b: string) => dotOfRows(along(a), 0, along(b), 0, whole.count);
  assert.ok(Math.abs(cosine('a1 b1', 'a2 b2')) < 1e-3);
  assert.ok(Math.abs(cosine('a1', 'a1 b2') ** 2 + cosine('b2', 'a1 b2') ** 2 - 1) < 1e-3);
  assert.equal(new WordAxes([], 8).count, 0);
  assert.equal(new WordAxes([said('x'), said('y')], 8).count, 0, 'no word on three pages');
});

test('the words of one language are not those of another, however few pages that has', () => {
  const words = (language: string, ...terms: string[]) => ({
    language,
    terms: new Map(terms.map((term) => [`${language} ${term}`, 1])),
  });
  const english = Array.from({ length: 100 }, (_, no) => words('en', no % 10 === 0 ? 'python' : `a${no % 9}`));
  const german = Array.from({ length: 15 }, () => words('de', 'python', 'linux'));
  const axes = new WordAxes([...english, ...german], 100);
  const target = new Float32Array(axes.count);
  assert.equal(axes.project(words('en', 'python'), target, 0), 1);
  assert.equal(axes.project(words('de', 'python'), target, 0), 0);
});
