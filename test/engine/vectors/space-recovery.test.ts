import assert from 'node:assert/strict';
import { copyFile, cp, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { VectorSpace, type VectorSpaceOptions } from '../../../src/engine/vectors/vector-space.ts';
import {
  DIM,
  nearest,
  openMortalPools,
  openShardPools,
  range,
  recall,
  type SpaceFixture,
  savedSpace,
  setOf,
  spaceFixture,
  vectorOf,
  vectorsOf,
} from './space-harness.ts';

const pools = openShardPools();
after(() => Promise.all(pools.map((pool) => pool.close())));

const LABELS = range(0, 400);
const even = (labels: Uint32Array) => labels.filter((label) => label % 2 === 0);

/** Open again, expect `missing`, bring them back as the owner would, and expect a space as good as before. */
async function recoverFrom({ options }: SpaceFixture, missing: Uint32Array): Promise<void> {
  const opened = await VectorSpace.open(options, setOf(LABELS));
  assert.deepEqual(opened.missing, missing);
  const { space } = opened;
  await space.add(missing, vectorsOf(missing));
  assert.equal((await space.stats()).live, 400);
  const query = vectorOf(70_000);
  assert.ok(recall((await space.search(query, 50)).labels, nearest(query, LABELS, 50)) >= 0.96);
  await space.close();
  const again = await VectorSpace.open(options, setOf(LABELS));
  assert.equal(again.missing.length, 0);
  await again.space.close();
}

async function fileOf({ options }: SpaceFixture, shard: number): Promise<string> {
  const name = (await readdir(options.dir)).find((each) => each.startsWith(`shard-${shard}.`));
  assert.ok(name !== undefined);
  return join(options.dir, name);
}

test('a space that was closed comes back as it was', async () => {
  await using made = await savedSpace(pools, LABELS);
  const { space, missing } = await VectorSpace.open(made.options, setOf(LABELS));
  assert.equal(missing.length, 0);
  assert.deepEqual(made.warnings, []);
  const { live, generation } = await space.stats();
  assert.deepEqual({ live, generation }, { live: 400, generation: 1 });
  assert.equal((await space.search(vectorOf(7), 1)).labels[0], 7);
  await space.close();
});

test('files of manifests from when there were graphs are taken as they are, and the graphs deleted', async () => {
  for (const format of [1, 2]) {
    await using made = await savedSpace(pools, LABELS);
    const path = join(made.options.dir, 'manifest.json');
    const { shards, ...manifest } = JSON.parse(await readFile(path, 'utf8'));
    assert.equal(manifest.format, 3);
    const graph = { name: 'shard-0.1.graph', bytes: 4, sha256: 'a'.repeat(64), covered: 200 };
    const graphs = [graph, { ...graph, name: 'shard-0.1.graph.1' }];
    for (const { name } of graphs) await writeFile(join(made.options.dir, name), 'xxxx');
    const earlier = shards.map(({ rows }: { rows: object }) => ({ rows, ...(format === 1 ? { graph } : { graphs }) }));
    await writeFile(path, JSON.stringify({ ...manifest, format, shards: earlier }));
    await recoverFrom(made, range(0, 0));
    assert.deepEqual(made.warnings, []);
    assert.ok((await readdir(made.options.dir)).every((name) => !name.includes('graph')));
  }
});

test('labels that are no longer live are removed on opening, and live ones that are not there are named', async () => {
  await using made = await savedSpace(pools, LABELS);
  const { space, missing } = await VectorSpace.open(made.options, setOf(range(100, 450)));
  assert.deepEqual(missing, range(400, 450));
  const { labels } = await space.search(vectorOf(20), 400);
  assert.deepEqual(labels.sort(), range(100, 400));
  await space.close();
});

test('a space is saved while it is empty, and takes labels after it is loaded', async () => {
  await using made = await savedSpace(pools, range(0, 0));
  await recoverFrom(made, LABELS);
});

test('deleted files are added again from the store', async () => {
  await using rows = await savedSpace(pools, LABELS);
  await rm(await fileOf(rows, 0));
  await recoverFrom(rows, even(LABELS));
  assert.equal(rows.warnings.length, 1);

  await using manifest = await savedSpace(pools, LABELS);
  await rm(join(manifest.options.dir, 'manifest.json'));
  await recoverFrom(manifest, LABELS);
  assert.deepEqual(manifest.warnings, []);
});

/** The files that were set aside, which have gone since with a save. */
async function setAside({ warnings, options }: SpaceFixture): Promise<string[]> {
  assert.deepEqual(
    (await readdir(options.dir)).filter((name) => name.endsWith('.bad')),
    [],
  );
  return warnings.flatMap((fields) => ('files' in fields ? (fields.files as string[]) : []));
}

test('truncated and empty files are set aside', async () => {
  for (const keep of [0, 16, 2000]) {
    await using rows = await savedSpace(pools, LABELS);
    await truncate(await fileOf(rows, 0), keep);
    await recoverFrom(rows, even(LABELS));
    assert.deepEqual(await setAside(rows), ['shard-0.1.rows']);
  }
});

test('a file with any bit flipped is set aside', async () => {
  await using made = await savedSpace(pools, LABELS);
  const whole = await readFile(await fileOf(made, 0));
  for (let seed = 1; seed <= 50; seed++) {
    const damaged = Buffer.from(whole);
    damaged[(Math.imul(seed, 0x9e3779b1) >>> 0) % whole.length] ^= 1 << (seed % 8);
    assert.notDeepEqual(damaged, whole);
    await using copy = await copyOf(made);
    await writeFile(await fileOf(copy, 0), damaged);
    const { space, missing } = await VectorSpace.open(copy.options, setOf(LABELS));
    assert.deepEqual(missing, even(LABELS), `seed ${seed}`);
    assert.equal(copy.warnings.length, 1);
    assert.equal((await space.search(vectorOf(7), 1)).labels[0], 7);
    await space.drop();
  }
});

/** The same saved space in a folder of its own. */
async function copyOf(made: SpaceFixture): Promise<SpaceFixture> {
  const copy = await spaceFixture(pools, { modelId: made.options.modelId });
  await cp(made.options.dir, copy.options.dir, { recursive: true });
  return copy;
}

test('a manifest that is damaged, or of another store, model, dimension or number of shards, is set aside', async () => {
  const changes: Partial<VectorSpaceOptions>[] = [
    { storeId: 'store-2' },
    { modelId: 'another' },
    { dim: DIM + 1 },
    { shards: pools.slice(0, 1) },
  ];
  for (const change of changes) {
    await using made = await savedSpace(pools, LABELS);
    const { space, missing } = await VectorSpace.open({ ...made.options, ...change }, setOf(LABELS));
    assert.deepEqual(missing, LABELS, JSON.stringify(Object.keys(change)));
    assert.equal(made.warnings.length, 1);
    assert.deepEqual(await readdir(made.options.dir), ['manifest.json.bad']);
    await space.drop();
  }
  for (const text of ['', '{', '{"format": 2}', 'null']) {
    await using made = await savedSpace(pools, LABELS);
    await writeFile(join(made.options.dir, 'manifest.json'), text);
    await recoverFrom(made, LABELS);
    assert.equal(made.warnings.length, 1);
  }
});

test('files of another model or of an older generation in the place of the right ones are set aside', async () => {
  await using made = await savedSpace(pools, LABELS);
  await using other = await savedSpace(pools, range(1000, 1400));
  const old = join(made.options.dir, 'old');
  await copyFile(await fileOf(made, 1), old);
  const { space } = await VectorSpace.open(made.options, setOf(LABELS));
  await space.remove(range(0, 100));
  await space.add(range(400, 600), vectorsOf(range(400, 600)));
  await space.close();
  await copyFile(await fileOf(other, 0), await fileOf(made, 0));
  await rename(old, await fileOf(made, 1));
  const { space: again, missing } = await VectorSpace.open(made.options, setOf(range(100, 600)));
  assert.deepEqual(missing, range(100, 600));
  assert.equal(made.warnings.length, 2);
  await again.drop();
});

test('a whole folder of an older generation lacks what came later and loses what went', async () => {
  await using made = await savedSpace(pools, LABELS);
  await using older = await copyOf(made);
  const { space, missing } = await VectorSpace.open(older.options, setOf(range(50, 500)));
  assert.deepEqual(missing, range(400, 500));
  assert.equal((await space.stats()).live, 350);
  assert.deepEqual(older.warnings, []);
  await space.drop();
});

test('what a crash left beside the manifest is deleted', async () => {
  await using made = await savedSpace(pools, LABELS);
  const before = (await readdir(made.options.dir)).sort();
  for (const name of [
    'shard-0.2.rows.new',
    'shard-1.2.graph',
    'shard-1.2.graph.1',
    'shard-1.2.graph.new.1',
    'manifest.json.new',
  ]) {
    await writeFile(join(made.options.dir, name), 'half');
  }
  const { space, missing } = await VectorSpace.open(made.options, setOf(LABELS));
  assert.equal(missing.length, 0);
  assert.deepEqual((await readdir(made.options.dir)).sort(), before);
  await space.close();
});

test('a save that fails leaves the old generation valid, and a later one succeeds', async () => {
  await using made = await savedSpace(pools, LABELS);
  const { space } = await VectorSpace.open(made.options, setOf(LABELS));
  await space.add(range(400, 500), vectorsOf(range(400, 500)));
  // The name of a file to come is taken by a folder: the thread cannot write there.
  const inTheWay = join(made.options.dir, 'shard-1.2.rows.new');
  await mkdir(join(inTheWay, 'x'), { recursive: true });
  const before = await readFile(join(made.options.dir, 'manifest.json'));
  await assert.rejects(space.save());
  assert.deepEqual(await readFile(join(made.options.dir, 'manifest.json')), before);
  await using copy = await spaceFixture(pools, { modelId: `${made.options.modelId}-copy` });
  for (const name of await readdir(made.options.dir)) {
    if (!name.endsWith('.new')) await copyFile(join(made.options.dir, name), join(copy.options.dir, name));
  }
  const manifest = JSON.parse(before.toString());
  await writeFile(
    join(copy.options.dir, 'manifest.json'),
    JSON.stringify({ ...manifest, model_id: copy.options.modelId }),
  );
  const old = await VectorSpace.open(copy.options, setOf(LABELS));
  assert.equal(old.missing.length, 0);
  assert.deepEqual(copy.warnings, []);
  await old.space.drop();

  await rm(inTheWay, { recursive: true, force: true });
  await space.save();
  assert.equal((await space.stats()).unsaved, 0);
  await space.close();
  const { space: again, missing } = await VectorSpace.open(made.options, setOf(range(0, 500)));
  assert.equal(missing.length, 0);
  await again.close();
});

test('saves and adds at the same time give a generation that loads', async () => {
  await using made = await spaceFixture(pools);
  const { space } = await VectorSpace.open(made.options, setOf([]));
  const adds: Promise<void>[] = [];
  const saves: Promise<void>[] = [];
  for (let from = 0; from < 400; from += 20) {
    adds.push(space.add(range(from, from + 20), vectorsOf(range(from, from + 20))));
    saves.push(space.save());
  }
  await Promise.all([...adds, ...saves]);
  await space.close();
  const { space: again, missing } = await VectorSpace.open(made.options, setOf(LABELS));
  assert.equal(missing.length, 0);
  assert.deepEqual(made.warnings, []);
  await again.close();
});

test('after a purge no byte of a removed vector is in any file', async () => {
  await using made = await spaceFixture(pools);
  const { space } = await VectorSpace.open(made.options, setOf([]));
  await space.add(LABELS, vectorsOf(LABELS));
  const row = quantised(vectorOf(8));
  await space.save();
  assert.ok((await contents(made.options.dir)).some((file) => file.includes(row)));
  await writeFile(join(made.options.dir, 'shard-0.rows.bad'), row);
  await space.remove([8]);
  await space.purge();
  assert.ok((await contents(made.options.dir)).every((file) => !file.includes(row)));
  assert.equal((await space.stats()).deleted, 0);
  await space.close();
});

async function contents(dir: string): Promise<Buffer[]> {
  return Promise.all((await readdir(dir)).map((name) => readFile(join(dir, name))));
}

/** A vector as the rows file has it. */
function quantised(vector: Float32Array): Buffer {
  const scale = 127 / Math.max(...vector.map(Math.abs));
  return Buffer.from(Int8Array.from(vector, (value) => Math.round(value * scale)).buffer);
}

test('a shard whose thread was replaced is loaded again, what its files lack is named, and the task goes through', async () => {
  const own = openMortalPools();
  await using made = await spaceFixture(own);
  const { space } = await VectorSpace.open(made.options, setOf([]));
  await space.add(range(0, 300), vectorsOf(range(0, 300)));
  await space.save();
  await space.add(range(300, 400), vectorsOf(range(300, 400)));
  await space.remove(range(0, 20));
  await assert.rejects(own[0].run('end', undefined));
  const { labels } = await space.search(vectorOf(10), 400);
  assert.deepEqual(made.missing, [...even(range(300, 400))]);
  const expected = range(20, 400).filter((label) => !made.missing.includes(label));
  assert.deepEqual(labels.sort(), Uint32Array.from(expected));
  await space.add(Uint32Array.from(made.missing), vectorsOf(made.missing));
  assert.equal((await space.stats()).live, 380);
  await space.close();
  await Promise.all(own.map((pool) => pool.close()));
});

test('no search among many finds what was removed, while a lost shard is loaded from files that still have it', async () => {
  const own = openMortalPools();
  await using made = await spaceFixture(own);
  const { space } = await VectorSpace.open(made.options, setOf([]));
  await space.add(LABELS, vectorsOf(LABELS));
  await space.save();
  await space.remove(range(0, 100));
  for (let round = 0; round < 5; round++) {
    await assert.rejects(own[0].run('end', undefined));
    const searches: Promise<Uint32Array>[] = [];
    // Some are answered before the shard is there, some while it is loaded, some after.
    for (let turn = 0; turn < 50; turn++) {
      searches.push(space.search(vectorOf(10), 400).then(({ labels }) => labels));
      await new Promise(setImmediate);
    }
    for (const labels of await Promise.all(searches)) assert.ok(labels.every((label) => label >= 100));
  }
  await space.close();
  await Promise.all(own.map((pool) => pool.close()));
});

test('files that are gone or not usable are lost, what a crash left unsaved is not', async () => {
  await using made = await spaceFixture(pools);
  const lostOf = async (live: Uint32Array) => {
    const { space, lost, missing } = await VectorSpace.open(made.options, setOf(live));
    await Promise.all(pools.map((pool) => pool.run('release', { space: made.options.modelId })));
    return { space, lost, missing: missing.length };
  };
  const first = await lostOf(range(0, 0));
  assert.equal(first.lost, false);
  // Nothing was saved since: as after a kill.
  const killed = await lostOf(LABELS);
  assert.deepEqual([killed.lost, killed.missing], [false, 400]);
  await killed.space.add(LABELS, vectorsOf(LABELS));
  await killed.space.save();
  assert.deepEqual((await lostOf(range(0, 450))).lost, false);
  await rm(await fileOf(made, 0));
  assert.equal((await lostOf(LABELS)).lost, true);
  await rm(join(made.options.dir, 'manifest.json'));
  assert.equal((await lostOf(LABELS)).lost, true);
  assert.equal((await lostOf(range(0, 0))).lost, false);
  const { space, lost } = await VectorSpace.open({ ...made.options, storeId: 'store-2' }, setOf(LABELS));
  assert.equal(lost, true);
  await space.drop();
});

test('a few changes of a large space are not saved in quiet times nor on closing, many are', async () => {
  const dim = 1024;
  await using made = await spaceFixture(pools, { dim });
  const generation = async () => JSON.parse(await readFile(join(made.options.dir, 'manifest.json'), 'utf8')).generation;
  const pageOf = (from: number, count: number) => {
    const labels = range(from, from + count);
    return [labels, new Float32Array(count * dim).map((_, i) => 1 + ((i * 7) % 11) + from)] as const;
  };
  const { space } = await VectorSpace.open(made.options, setOf([]));
  await space.add(...pageOf(0, 6000));
  await space.saveIfWorthIt();
  assert.equal(await generation(), 1);
  await space.add(...pageOf(6000, 10));
  await space.saveIfWorthIt();
  assert.equal(await generation(), 1);
  await space.close();
  assert.equal(await generation(), 1);
  const { space: again, missing, lost } = await VectorSpace.open(made.options, setOf(range(0, 6010)));
  assert.deepEqual([missing, lost], [range(6000, 6010), false]);
  await again.add(...pageOf(6000, 2001));
  await again.saveIfWorthIt();
  assert.equal(await generation(), 2);
  await again.close();
});
