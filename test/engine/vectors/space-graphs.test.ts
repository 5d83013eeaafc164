import assert from 'node:assert/strict';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { GraphTasks } from '../../../src/engine/vectors/space-graph.ts';
import { VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { VectorSpace, type VectorSpaceOptions } from '../../../src/engine/vectors/vector-space.ts';
import { programFile } from '../../../src/files/program-files.ts';
import { openThreadPool } from '../../../src/threads/thread-pool.ts';
import {
  DIM,
  nearest,
  needsGraphs,
  openSpaceThreads,
  range,
  recall,
  type SpaceFixture,
  setOf,
  spaceFixture,
  vectorOf,
  vectorsOf,
} from './space-harness.ts';

const threads = openSpaceThreads();
const graphs = openThreadPool<GraphTasks>({
  entry: programFile('threads/graph-thread'),
  name: 'graphs',
  threads: 1,
  maxQueue: 10,
  uninterrupted: true,
});
after(() => Promise.all([threads.close(), graphs.close()]));

const open = async (options: VectorSpaceOptions, live: Iterable<number> = []): Promise<VectorSpace> =>
  (await VectorSpace.open(options, setOf(live))).space;
const addAll = (space: VectorSpace, labels: Uint32Array) => space.add(labels, vectorsOf(labels));
const graphFiles = async ({ options }: SpaceFixture) =>
  (await readdir(join(options.dir, 'graph')).catch(() => [])).sort();
const graphOf = ({ options }: SpaceFixture) => join(options.dir, 'graph', 'graph.hnsw');
const whole = ['graph.hnsw', 'graph.json'];
const settings = { graphs: { pool: graphs, from: 500 } };

async function recallOf(searched: VectorSpace, labels: Uint32Array): Promise<number> {
  let sum = 0;
  for (const label of range(90_000, 90_020)) {
    const { labels: found } = await searched.search(vectorOf(label), 10);
    assert.ok(found.every((each) => labels.includes(each)));
    sum += recall(found, nearest(vectorOf(label), labels, 10));
  }
  return sum / 20;
}

/** The bytes of a row's vector as a graph has it. */
function floatsOf(label: number): Buffer {
  const rows = VectorRows.create(DIM);
  rows.append(label, vectorOf(label), 0);
  return Buffer.from(rows.vectorOf(0).buffer);
}

test('a large space gets a graph in the background, keeps it over a restart, and grows it', needsGraphs, async () => {
  await using made = await spaceFixture(threads, settings);
  const space = await open(made.options);
  await addAll(space, range(0, 400));
  await space.settled();
  assert.deepEqual(await graphFiles(made), []);
  await addAll(space, range(400, 1000));
  await space.settled();
  const first = await readFile(graphOf(made));
  await addAll(space, range(1000, 4000));
  await space.settled();
  assert.deepEqual(await graphFiles(made), whole);
  const second = await readFile(graphOf(made));
  assert.ok(second.length > 3 * first.length);
  assert.ok((await recallOf(space, range(0, 4000))) >= 0.95);
  space.remove(range(0, 500));
  await addAll(space, range(5000, 5100));
  const live = Uint32Array.from([...range(500, 4000), ...range(5000, 5100)]);
  assert.ok((await recallOf(space, live)) >= 0.95);
  await space.close();
  const again = await open(made.options, live);
  await again.settled();
  assert.deepEqual(await readFile(graphOf(made)), second);
  assert.ok((await recallOf(again, live)) >= 0.95);
  assert.deepEqual(made.warnings, []);
  await again.close();
});

const restarts: Record<string, Partial<VectorSpaceOptions> | null> = {
  'at once': null,
  'after a restart': {},
  'after a restart without graphs': { graphs: null },
  'after a crash that left the file without its labels, and a restart without graphs': { graphs: null },
  'while it grows': null,
};
for (const [name, restart] of Object.entries(restarts)) {
  test(`no graph has a removed vector after a purge: ${name}`, needsGraphs, async () => {
    await using made = await spaceFixture(threads, settings);
    const first = await open(made.options);
    await addAll(first, range(0, 1000));
    await first.settled();
    assert.ok((await readFile(graphOf(made))).includes(floatsOf(0)));
    first.remove([0]);
    if (name === 'while it grows') await addAll(first, range(5000, 9000));
    if (restart !== null) await first.close();
    if (name.includes('crash')) await rm(join(made.options.dir, 'graph', 'graph.json'));
    const space = restart === null ? first : await open({ ...made.options, ...restart }, range(1, 1000));
    await space.purge();
    for (const file of await graphFiles(made)) {
      const bytes = await readFile(join(made.options.dir, 'graph', file)).catch(() => Buffer.of());
      assert.ok(!bytes.includes(floatsOf(0)), file);
    }
    await space.settled();
    assert.equal((await space.search(vectorOf(0), 1)).labels.includes(0), false);
    await space.close();
    assert.deepEqual(made.warnings, []);
  });
}

test('a purge keeps a graph whose labels all have a row', needsGraphs, async () => {
  await using made = await spaceFixture(threads, settings);
  const space = await open(made.options);
  await addAll(space, range(0, 1000));
  await space.settled();
  await space.purge();
  assert.deepEqual(await graphFiles(made), whole);
  await space.close();
});

const damages: [name: string, damage: (made: SpaceFixture) => Promise<void>, warnings: number][] = [
  ['cut short', (made) => truncate(graphOf(made), 100), 1],
  ['without its labels', (made) => writeFile(join(made.options.dir, 'graph', 'graph.json'), '{'), 0],
];
for (const [name, damage, warnings] of damages) {
  test(`a graph that is ${name} is built again`, needsGraphs, async () => {
    await using made = await spaceFixture(threads, settings);
    const first = await open(made.options);
    await addAll(first, range(0, 600));
    await first.settled();
    await first.close();
    await damage(made);
    const space = await open(made.options, range(0, 600));
    await space.settled();
    assert.equal(made.warnings.length, warnings);
    assert.deepEqual(await graphFiles(made), whole);
    assert.ok((await recallOf(space, range(0, 600))) >= 0.95);
    await space.close();
  });
}

test('without the package searches stay exact', async () => {
  const none = { ...graphs, run: async () => null as never };
  await using made = await spaceFixture(threads, { graphs: { pool: none, from: 500 } });
  const space = await open(made.options);
  await addAll(space, range(0, 600));
  await space.settled();
  assert.equal((await space.search(vectorOf(7), 1)).labels[0], 7);
  assert.deepEqual(await graphFiles(made), []);
  await space.close();
});

test(
  'labels get other vectors once a graph of the former ones is left, and closing stops a build',
  needsGraphs,
  async () => {
    await using made = await spaceFixture(threads, settings);
    const space = await open(made.options);
    await addAll(space, range(0, 600));
    await space.settled();
    await space.leaveGraph();
    space.remove([7]);
    await space.add(Uint32Array.of(7), vectorOf(70_000));
    for (let round = 0; round < 2; round++) {
      assert.equal((await space.search(vectorOf(70_000), 1)).labels[0], 7);
      await space.settled();
    }
    assert.deepEqual(await graphFiles(made), whole);
    await addAll(space, range(1000, 30_000));
    await space.close();
    assert.deepEqual(made.warnings, []);
  },
);
