import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bitsNotIn } from '../../../src/compute/structures/bitmap.ts';
import { growGraph } from '../../../src/engine/vectors/graph-file.ts';
import { nearest, RowGraph, relatedRows, type SearchedRows } from '../../../src/engine/vectors/row-graph.ts';
import { isIntact } from '../../../src/engine/vectors/row-tasks.ts';
import { VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { temporaryFolder } from '../../scope.ts';
import { DIM, needsGraphs, range, setOf, vectorOf } from './space-harness.ts';

const dir = temporaryFolder({ after });

const query = vectorOf(70_000);
let files = 0;

function rowsOf(labels: Iterable<number>): VectorRows {
  const rows = VectorRows.create(DIM);
  for (const label of labels) rows.append(label, vectorOf(label), 0);
  return rows;
}

async function grown(rows: VectorRows, from: string | null = null) {
  const path = join(dir, `${++files}.graph`);
  const made = await growGraph({ shared: rows.shared, from, to: path, flags: new SharedArrayBuffer(8) });
  assert.ok(made !== null, 'hnswlib-node is installed');
  return { path, ...made, count: bitsNotIn(made.labels, new Uint32Array(0)).length };
}

async function searchedBy(rows: VectorRows, path: string): Promise<SearchedRows> {
  const graph = await RowGraph.read(path, DIM);
  assert.ok(graph !== null);
  return { rows, graph };
}

/** Share of what looking at all rows finds, for some queries, of a search and of the graph by itself. */
function recall(searched: SearchedRows, wanted: Omit<Parameters<typeof nearest>[2], 'minScore'>): number {
  const options = { minScore: -1, ...wanted };
  const shares: number[] = [];
  const asked = [...range(90_000, 90_040)].map((label) => vectorOf(label));
  for (const each of asked) {
    const truth = nearest({ rows: searched.rows, graph: null }, each, options);
    const byGraph = searched.graph?.nearest(searched.rows, each, options) ?? truth;
    for (const found of [nearest(searched, each, options), byGraph]) {
      assert.equal(found.labels.length, truth.labels.length);
      assert.equal(new Set(found.labels).size, found.labels.length);
      const both = found.labels.filter((label) => truth.labels.includes(label)).length;
      shares.push(truth.labels.length === 0 ? 1 : both / truth.labels.length);
    }
  }
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

type Change = {
  name: string;
  added?: Uint32Array;
  erased?: Uint32Array;
  allow?: (label: number) => boolean;
  k?: number;
};
const cases: Change[] = [
  { name: 'all rows' },
  { name: 'many results', k: 100 },
  { name: 'more results than rows', k: 5000 },
  { name: 'half of the rows allowed', allow: (label) => label % 2 === 0 },
  { name: 'few rows allowed', allow: (label) => label % 100 === 0 },
  { name: 'no row allowed', allow: () => false },
  { name: 'rows added since', added: range(5000, 5300) },
  { name: 'rows erased since', erased: range(0, 1500) },
  { name: 'nearly all rows erased since', erased: range(0, 1995) },
];
for (const { name, added = [], erased = [], allow, k = 10 } of cases) {
  test(`a graph finds what looking at all rows finds: ${name}`, needsGraphs, async () => {
    const rows = rowsOf(range(0, 2000));
    const searched = await searchedBy(rows, (await grown(rows)).path);
    for (const label of added) rows.append(label, vectorOf(label), 0);
    for (const label of erased) rows.erase(label);
    const allowed = allow && setOf([...rows.liveLabels()].filter(allow));
    const share = recall(searched, { k, allow: allowed });
    assert.ok(share >= 0.98, `recall ${share}`);
  });
}

test('a graph keeps the floor and gives the scores of the rows', needsGraphs, async () => {
  const rows = rowsOf(range(0, 1000));
  const searched = await searchedBy(rows, (await grown(rows)).path);
  const all = nearest({ rows, graph: null }, query, { k: 30, minScore: -1 });
  const above = nearest(searched, query, { k: 30, minScore: all.scores[9] });
  assert.deepEqual(above, { labels: all.labels.slice(0, 10), scores: all.scores.slice(0, 10) });
});

test('a graph that grows has the rows of both, and those of the first build may be gone', needsGraphs, async () => {
  const rows = rowsOf(range(0, 1000));
  const first = await grown(rows);
  for (const label of range(0, 200)) rows.erase(label);
  for (const label of range(2000, 2600)) rows.append(label, vectorOf(label), 0);
  const second = await grown(rows, first.path);
  assert.deepEqual([first.count, second.count], [1000, 1600]);
  const searched = await searchedBy(rows, second.path);
  const share = recall(searched, { k: 10 });
  assert.ok(share >= 0.98, `recall ${share}`);
});

test('of many equal vectors most stay out of the graph, and all are found', needsGraphs, async () => {
  const rows = rowsOf(range(0, 500));
  for (const label of range(1000, 1400)) rows.append(label, vectorOf(7), 0);
  const { path, count, left } = await grown(rows);
  assert.deepEqual([count, left], [502, 398]);
  const { labels } = nearest(await searchedBy(rows, path), vectorOf(7), { k: 401, minScore: -1 });
  assert.deepEqual(labels, Uint32Array.of(7, ...range(1000, 1400)));
});

test('related rows are the same by the graph as without', needsGraphs, async () => {
  const rows = rowsOf(range(0, 1500));
  const searched = await searchedBy(rows, (await grown(rows)).path);
  const task = { to: Uint32Array.of(3, 4), k: 3, few: 8, minScore: -1, except: new Set([3, 4]) };
  assert.deepEqual(relatedRows(searched, task), relatedRows({ rows, graph: null }, task));
});

test('a build that is stopped gives nothing, and a damaged file is told from a whole one', needsGraphs, async () => {
  const rows = rowsOf(range(0, 500));
  const flags = new SharedArrayBuffer(8);
  new Int32Array(flags)[0] = 1;
  assert.equal(await growGraph({ shared: rows.shared, from: null, to: join(dir, 'stopped'), flags }), null);
  assert.equal(new Int32Array(flags)[1], 0, 'its file is left alone');
  const made = await grown(rows);
  assert.equal(await isIntact(made), true);
  truncateSync(made.path, 1000);
  assert.equal(await isIntact(made), false);
  assert.equal(await isIntact({ ...made, path: join(dir, 'missing') }), false);
});
