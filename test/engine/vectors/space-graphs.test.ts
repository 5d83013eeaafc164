import assert from 'node:assert/strict';
import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type GraphTasks, VectorSpace, type VectorSpaceOptions } from '../../../src/engine/vectors/vector-space.ts';
import { openThreadPool } from '../../../src/threads/thread-pool.ts';
import {
  nearest,
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
  entry: new URL('../../../src/threads/graph-thread.ts', import.meta.url),
  name: 'graphs',
  threads: 1,
  maxQueue: 10,
  uninterrupted: true,
});
after(() => Promise.all([threads.close(), graphs.close()]));

const open = async (options: VectorSpaceOptions, live: Iterable<number> = []): Promise<VectorSpace> =>
  (await VectorSpace.open(options, setOf(live))).space;
const addAll = (space: VectorSpace, labels: Uint32Array) => space.add(labels, vectorsOf(labels));
const filesOf = async ({ options }: SpaceFixture) => (await readdir(options.dir)).sort();

test('a large space gets a graph in the background, keeps it over a restart, and grows it', async () => {
  await using made = await spaceFixture(threads, { graphs: { pool: graphs, from: 500 } });
  const space = await open(made.options);
  await addAll(space, range(0, 400));
  await space.settled();
  assert.deepEqual(await filesOf(made), ['manifest.json']);
  await addAll(space, range(400, 3000));
  await space.settled();
  assert.ok((await filesOf(made)).some((name) => name.endsWith('.graph')));
  const recallOf = async (searched: VectorSpace, labels: Uint32Array) => {
    let sum = 0;
    for (const label of range(90_000, 90_020)) {
      const { labels: found } = await searched.search(vectorOf(label), 10);
      assert.ok(found.every((each) => labels.includes(each)));
      sum += recall(found, nearest(vectorOf(label), labels, 10));
    }
    return sum / 20;
  };
  assert.ok((await recallOf(space, range(0, 3000))) >= 0.95);
  space.remove(range(0, 500));
  await addAll(space, range(5000, 5100));
  const live = Uint32Array.from([...range(500, 3000), ...range(5000, 5100)]);
  assert.ok((await recallOf(space, live)) >= 0.95);
  const graphOf = async () => (await filesOf(made)).find((name) => name.endsWith('.graph')) ?? '';
  const before = await graphOf();
  await space.purge();
  assert.notEqual(await graphOf(), before, 'a graph with removed vectors goes');
  await space.settled();
  assert.notEqual(await graphOf(), '', 'another is built');
  await space.close();
  const again = await open(made.options, live);
  await again.settled();
  assert.ok((await recallOf(again, live)) >= 0.95);
  assert.deepEqual(made.warnings, []);
  await again.close();
});

test('a damaged graph is set aside and built again, and without the package searches stay exact', async () => {
  await using made = await spaceFixture(threads, { graphs: { pool: graphs, from: 500 } });
  const first = await open(made.options);
  await addAll(first, range(0, 600));
  await first.settled();
  await first.close();
  const [graph] = (await filesOf(made)).filter((name) => name.endsWith('.graph'));
  await truncate(join(made.options.dir, graph), 100);
  const space = await open(made.options, range(0, 600));
  await space.settled();
  assert.equal(made.warnings.length, 1);
  const after = (await filesOf(made)).filter((name) => name.endsWith('.graph'));
  assert.deepEqual([after.length, after.includes(graph)], [1, false]);
  await space.close();

  const none = { ...graphs, run: async () => null as never };
  await using exact = await spaceFixture(threads, { graphs: { pool: none, from: 500 } });
  const without = await open(exact.options);
  await addAll(without, range(0, 600));
  await without.settled();
  assert.equal((await without.search(vectorOf(7), 1)).labels[0], 7);
  await without.close();
});

test('a label that gets another vector leaves a graph that has the old one, and closing stops a build', async () => {
  await using made = await spaceFixture(threads, { graphs: { pool: graphs, from: 500 } });
  const space = await open(made.options);
  await addAll(space, range(0, 600));
  await space.settled();
  space.remove([7]);
  await space.add(Uint32Array.of(7), vectorOf(70_000));
  assert.equal((await space.search(vectorOf(70_000), 1)).labels[0], 7);
  await space.settled();
  assert.equal((await space.search(vectorOf(70_000), 1)).labels[0], 7);
  await addAll(space, range(1000, 30_000));
  await space.close();
  assert.deepEqual(made.warnings, []);
});
