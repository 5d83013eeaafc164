import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addLabel, createLabelSet } from '../../src/compute/label-set.ts';
import { type ShardTasks, VectorSpace, type VectorSpaceOptions } from '../../src/index/vector-space.ts';
import { openThreadPool } from '../../src/threads/thread-pool.ts';

const DIM = 24;
const entry = new URL('../../src/threads/shard-thread', import.meta.url);
const pools = [0, 1].map((thread) =>
  openThreadPool<ShardTasks>({ entry, name: `shard-${thread}`, threads: 1, maxQueue: 1000 }),
);
const folders: string[] = [];
let models = 0;

after(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});

interface Fixture {
  options: VectorSpaceOptions;
  warnings: object[];
  missing: Uint32Array[];
}

async function fixture(changes: Partial<VectorSpaceOptions> = {}): Promise<Fixture> {
  const dir = await mkdtemp(join(tmpdir(), 'readback-space-'));
  folders.push(dir);
  const warnings: object[] = [];
  const missing: Uint32Array[] = [];
  const warn = (fields: object) => warnings.push(fields);
  const options: VectorSpaceOptions = {
    modelId: `model-${models++}`,
    dim: DIM,
    dir,
    storeId: 'store-1',
    shards: pools,
    log: { info: () => undefined, warn, error: warn },
    onMissing: (labels) => missing.push(labels),
    graphFromRows: 50,
    ...changes,
  };
  return { options, warnings, missing };
}

function randomly(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

/** The vector of a label: the same in every test, as in the store. */
function vectorOf(label: number, dim = DIM): Float32Array {
  const random = randomly(label);
  return Float32Array.from({ length: dim }, () => random() + random());
}

function vectorsOf(labels: Iterable<number>, dim = DIM): Float32Array {
  return Float32Array.from([...labels].flatMap((label) => [...vectorOf(label, dim)]));
}

function range(from: number, to: number): Uint32Array {
  return Uint32Array.from({ length: to - from }, (_, i) => from + i);
}

function setOf(labels: Iterable<number>) {
  const all = [...labels];
  const set = createLabelSet(Math.max(0, ...all) + 1);
  for (const label of all) addLabel(set, label);
  return set;
}

/** Labels and cosines in double precision: the truth. */
function exactly(query: Float32Array, labels: Iterable<number>, k: number): { label: number; score: number }[] {
  const norm = (vector: Float32Array) => Math.hypot(...vector);
  return [...labels]
    .map((label) => {
      const vector = vectorOf(label, query.length);
      return { label, score: vector.reduce((sum, value, i) => sum + value * query[i], 0) / norm(vector) / norm(query) };
    })
    .sort((a, b) => b.score - a.score || a.label - b.label)
    .slice(0, k);
}

function recall(found: Uint32Array, truth: { label: number }[]): number {
  const labels = new Set(found);
  return truth.filter(({ label }) => labels.has(label)).length / truth.length;
}

async function catchUp(space: VectorSpace): Promise<void> {
  while ((await space.maintain()) > 0);
}

/** A saved space of labels 0..200 with graphs, closed. */
async function savedSpace(changes: Partial<VectorSpaceOptions> = {}): Promise<Fixture> {
  const made = await fixture(changes);
  const { space } = await VectorSpace.open(made.options, createLabelSet(0));
  await space.add(range(0, 200), vectorsOf(range(0, 200)));
  await catchUp(space);
  await space.close();
  return made;
}

test('what is added is found at once, best first, scored by cosine', async () => {
  const { options } = await fixture();
  const { space, missing } = await VectorSpace.open(options, createLabelSet(0));
  assert.deepEqual([...missing], []);
  const labels = range(10, 310);
  await space.add(labels, vectorsOf(labels));
  const query = vectorOf(5000);
  const truth = exactly(query, labels, 10);
  const { labels: found, scores } = await space.search(query, 10);
  assert.ok(recall(found, truth) >= 0.9);
  for (let i = 0; i < found.length; i++) assert.ok(Math.abs(scores[i] - truth[i].score) < 0.01);
  assert.deepEqual(
    [...scores],
    [...scores].sort((a, b) => b - a),
  );
  const [self] = (await space.search(vectorOf(42), 1)).labels;
  assert.equal(self, 42);
  await space.close();
});

test('a space that was closed comes back as it was', async () => {
  const { options, warnings } = await savedSpace();
  const { space, missing } = await VectorSpace.open(options, setOf(range(0, 200)));
  assert.deepEqual([...missing], []);
  assert.deepEqual(warnings, []);
  const { live, nodes, behind, generation, unsaved } = await space.stats();
  assert.deepEqual(
    { live, nodes, behind, generation, unsaved },
    { live: 200, nodes: 200, behind: 0, generation: 1, unsaved: 0 },
  );
  assert.equal((await space.search(vectorOf(7), 1)).labels[0], 7);
  await space.close();
});

test('removed labels are not found, before and after a restart', async () => {
  const { options } = await savedSpace();
  const { space } = await VectorSpace.open(options, setOf(range(0, 200)));
  await space.remove(range(0, 100));
  const { labels } = await space.search(vectorOf(3), 200);
  assert.deepEqual(
    [...labels].sort((a, b) => a - b),
    [...range(100, 200)],
  );
  await space.close();
  const { space: again, missing } = await VectorSpace.open(options, setOf(range(100, 200)));
  assert.deepEqual([...missing], []);
  assert.equal((await again.stats()).live, 100);
  await again.close();
});
