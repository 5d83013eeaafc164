import assert from 'node:assert/strict';
import { copyFile, cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { slotFor } from '../../../src/engine/query-slot.ts';
import { Searchers } from '../../../src/engine/searchers.ts';
import { VectorSpace, type VectorSpaceOptions } from '../../../src/engine/vectors/vector-space.ts';
import { createMember, labelSegment } from '../../../src/engine/words/segment.ts';
import { buildSegment } from '../words/small-corpus.ts';
import { documentOf, wordsOnly } from '../words/sparse-harness.ts';
import {
  DIM,
  nearest,
  openMortalThreads,
  openSpaceThreads,
  range,
  recall,
  type SpaceFixture,
  savedSpace,
  setOf,
  spaceFixture,
  vectorOf,
  vectorsOf,
} from './space-harness.ts';

const threads = openSpaceThreads();
after(() => threads.close());

const LABELS = range(0, 400);

/** Open again, expect `missing`, bring them back as the owner would, and expect a space as good as before. */
async function recoverFrom({ options }: SpaceFixture, missing: Uint32Array): Promise<void> {
  const opened = await VectorSpace.open(options, setOf(LABELS));
  assert.deepEqual(opened.missing, missing);
  const { space } = opened;
  await space.add(missing, vectorsOf(missing));
  assert.equal(space.stats().live, 400);
  const query = vectorOf(70_000);
  assert.ok(recall((await space.search(query, 50)).labels, nearest(query, LABELS, 50)) >= 0.96);
  await space.close();
  const again = await VectorSpace.open(options, setOf(LABELS));
  assert.equal(again.missing.length, 0);
  await again.space.close();
}

/** Of the first generation. */
const fileOf = ({ options }: SpaceFixture) => join(options.dir, '1.rows');

test('a space that was closed comes back as it was', async () => {
  await using made = await savedSpace(threads, LABELS);
  const { space, missing } = await VectorSpace.open(made.options, setOf(LABELS));
  assert.equal(missing.length, 0);
  assert.deepEqual(made.warnings, []);
  const { live, generation } = space.stats();
  assert.deepEqual({ live, generation }, { live: 400, generation: 1 });
  assert.equal((await space.search(vectorOf(7), 1)).labels[0], 7);
  await space.close();
});

test('files of an earlier version are set aside or deleted, and all is built again', async () => {
  for (const format of [1, 2, 3]) {
    await using made = await savedSpace(threads, LABELS);
    const { dir } = made.options;
    const path = join(dir, 'manifest.json');
    const { rows, ...manifest } = JSON.parse(await readFile(path, 'utf8'));
    assert.equal(manifest.format, 4);
    const shards = [0, 1].map((shard) => ({ rows: { ...rows, name: `shard-${shard}.1.rows` } }));
    for (const name of ['shard-0.1.rows', 'shard-1.1.rows', 'shard-0.1.graph.1']) await writeFile(join(dir, name), 'x');
    await writeFile(path, JSON.stringify({ ...manifest, format, shards }));
    const { space, missing, lost } = await VectorSpace.open(made.options, setOf(LABELS));
    assert.deepEqual([missing, lost], [LABELS, true]);
    assert.deepEqual(made.warnings, [
      { model: made.options.modelId, files: ['manifest.json'], reason: 'from an earlier version' },
    ]);
    assert.deepEqual(await readdir(dir), ['manifest.json.bad']);
    await space.add(LABELS, vectorsOf(LABELS));
    await space.close();
    assert.deepEqual((await readdir(dir)).sort(), ['1.rows', 'manifest.json']);
    await recoverFrom(made, range(0, 0));
  }
});

test('labels that are no longer live are removed on opening, and live ones that are not there are named', async () => {
  await using made = await savedSpace(threads, LABELS);
  const { space, missing } = await VectorSpace.open(made.options, setOf(range(100, 450)));
  assert.deepEqual(missing, range(400, 450));
  const { labels } = await space.search(vectorOf(20), 400);
  assert.deepEqual(labels.sort(), range(100, 400));
  await space.close();
});

test('a space is saved while it is empty, and takes labels after it is loaded', async () => {
  await using made = await savedSpace(threads, range(0, 0));
  await recoverFrom(made, LABELS);
});

test('deleted files are added again from the store', async () => {
  await using rows = await savedSpace(threads, LABELS);
  await rm(fileOf(rows));
  await recoverFrom(rows, LABELS);
  assert.equal(rows.warnings.length, 1);

  await using manifest = await savedSpace(threads, LABELS);
  await rm(join(manifest.options.dir, 'manifest.json'));
  await recoverFrom(manifest, LABELS);
  assert.deepEqual(manifest.warnings, []);
});

/** The files that were set aside, which have gone since with a save. */
async function setAside({ warnings, options }: SpaceFixture): Promise<string[]> {
  assert.doesNotMatch((await readdir(options.dir)).join(), /\.bad/);
  return warnings.flatMap((fields) => ('files' in fields ? (fields.files as string[]) : []));
}

test('truncated and empty files are set aside', async () => {
  for (const keep of [0, 16, 2000]) {
    await using rows = await savedSpace(threads, LABELS);
    await truncate(fileOf(rows), keep);
    await recoverFrom(rows, LABELS);
    assert.deepEqual(await setAside(rows), ['1.rows']);
  }
});

/** More in `npm run soak -- --only damage`. */
const bitFlips = Number(process.env.READBACK_TEST_BIT_FLIPS ?? 6);

test('a file with any bit flipped is set aside', async () => {
  await using made = await savedSpace(threads, LABELS);
  const whole = await readFile(fileOf(made));
  for (let seed = 1; seed <= bitFlips; seed++) {
    const damaged = Buffer.from(whole);
    damaged[(Math.imul(seed, 0x9e3779b1) >>> 0) % whole.length] ^= 1 << (seed % 8);
    assert.notDeepEqual(damaged, whole);
    await using copy = await copyOf(made);
    await writeFile(fileOf(copy), damaged);
    const { space, missing } = await VectorSpace.open(copy.options, setOf(LABELS));
    assert.deepEqual(missing, LABELS, `seed ${seed}`);
    assert.equal(copy.warnings.length, 1);
    await space.add(LABELS, vectorsOf(LABELS));
    assert.equal((await space.search(vectorOf(7), 1)).labels[0], 7);
    await space.drop();
  }
});

/** The same saved space in a folder of its own. */
async function copyOf(made: SpaceFixture): Promise<SpaceFixture> {
  const copy = await spaceFixture(threads, { modelId: made.options.modelId });
  await cp(made.options.dir, copy.options.dir, { recursive: true });
  return copy;
}

test('a manifest that is damaged, or of another store, model or dimension, is set aside', async () => {
  const changes: Partial<VectorSpaceOptions>[] = [{ storeId: 'store-2' }, { modelId: 'another' }, { dim: DIM + 1 }];
  for (const change of changes) {
    await using made = await savedSpace(threads, LABELS);
    const { space, missing } = await VectorSpace.open({ ...made.options, ...change }, setOf(LABELS));
    assert.deepEqual(missing, LABELS, JSON.stringify(Object.keys(change)));
    assert.equal(made.warnings.length, 1);
    assert.deepEqual(await readdir(made.options.dir), ['manifest.json.bad']);
    await space.drop();
  }
  for (const text of ['', '{', '{"format": 4}', '{"format": 5}', 'null']) {
    await using made = await savedSpace(threads, LABELS);
    await writeFile(join(made.options.dir, 'manifest.json'), text);
    await recoverFrom(made, LABELS);
    assert.equal(made.warnings.length, 1);
  }
});

test('a file of another model or of an older generation in the place of the right one is set aside', async () => {
  await using made = await savedSpace(threads, LABELS);
  await using other = await savedSpace(threads, range(1000, 1400));
  const old = await readFile(fileOf(made));
  const { space } = await VectorSpace.open(made.options, setOf(LABELS));
  space.remove(range(0, 100));
  await space.add(range(400, 600), vectorsOf(range(400, 600)));
  await space.close();
  for (const wrong of [old, await readFile(fileOf(other))]) {
    await using copy = await copyOf(made);
    await writeFile(join(copy.options.dir, '2.rows'), wrong);
    const { space: again, missing, lost } = await VectorSpace.open(copy.options, setOf(range(100, 600)));
    assert.deepEqual([missing, lost, copy.warnings.length], [range(100, 600), true, 1]);
    await again.drop();
  }
});

test('a whole folder of an older generation lacks what came later and loses what went', async () => {
  await using made = await savedSpace(threads, LABELS);
  await using older = await copyOf(made);
  const { space, missing } = await VectorSpace.open(older.options, setOf(range(50, 500)));
  assert.deepEqual(missing, range(400, 500));
  assert.equal(space.stats().live, 350);
  assert.deepEqual(older.warnings, []);
  await space.drop();
});

test('what a crash left beside the manifest is deleted', async () => {
  await using made = await savedSpace(threads, LABELS);
  const before = (await readdir(made.options.dir)).sort();
  for (const name of ['2.rows.new', '2.rows', 'shard-1.2.rows.new', 'shard-1.2.graph.new.1', 'manifest.json.new']) {
    await writeFile(join(made.options.dir, name), 'half');
  }
  const { space, missing } = await VectorSpace.open(made.options, setOf(LABELS));
  assert.equal(missing.length, 0);
  assert.deepEqual((await readdir(made.options.dir)).sort(), before);
  await space.close();
});

test('a save that fails leaves the old generation valid, and a later one succeeds', async () => {
  await using made = await savedSpace(threads, LABELS);
  const { space } = await VectorSpace.open(made.options, setOf(LABELS));
  await space.add(range(400, 500), vectorsOf(range(400, 500)));
  // The name of a file to come is taken by a folder: the thread cannot write there.
  const inTheWay = join(made.options.dir, '2.rows.new');
  await mkdir(join(inTheWay, 'x'), { recursive: true });
  const before = await readFile(join(made.options.dir, 'manifest.json'));
  await assert.rejects(space.save());
  assert.deepEqual(await readFile(join(made.options.dir, 'manifest.json')), before);
  await using copy = await spaceFixture(threads, { modelId: `${made.options.modelId}-copy` });
  for (const name of await readdir(made.options.dir)) {
    if (!name.endsWith('.new')) await copyFile(join(made.options.dir, name), join(copy.options.dir, name));
  }
  const manifest = JSON.parse(before.toString());
  const copied = JSON.stringify({ ...manifest, model_id: copy.options.modelId });
  await writeFile(join(copy.options.dir, 'manifest.json'), copied);
  const old = await VectorSpace.open(copy.options, setOf(LABELS));
  assert.equal(old.missing.length, 0);
  assert.deepEqual(copy.warnings, []);
  await old.space.drop();

  await rm(inTheWay, { recursive: true, force: true });
  await space.save();
  assert.equal(space.stats().unsaved, 0);
  await space.close();
  const { space: again, missing } = await VectorSpace.open(made.options, setOf(range(0, 500)));
  assert.equal(missing.length, 0);
  await again.close();
});

test('saves and adds at the same time give a generation that loads', async () => {
  await using made = await spaceFixture(threads);
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
  await using made = await spaceFixture(threads);
  const { space } = await VectorSpace.open(made.options, setOf([]));
  await space.add(LABELS, vectorsOf(LABELS));
  const row = quantised(vectorOf(8));
  await space.save();
  assert.ok((await contents(made.options.dir)).some((file) => file.includes(row)));
  await writeFile(join(made.options.dir, '1.rows.bad'), row);
  space.remove([8]);
  await space.purge();
  assert.ok((await contents(made.options.dir)).every((file) => !file.includes(row)));
  assert.equal(space.stats().deleted, 0);
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

test('a searcher that was ended gets segments and rows again, the search goes through, and nothing is lost', async () => {
  const own = await openMortalThreads();
  await using made = await spaceFixture(own);
  const [first] = own.searchers;
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (_: object, message: string) => warnings.push(message) };
  const searchers = new Searchers([first], 'mortal', { ...log, error: log.warn });
  const { space } = await VectorSpace.open({ ...made.options, searchers }, setOf([]));
  const segment = buildSegment([documentOf('heron'), documentOf('egret')]);
  labelSegment(segment, Uint32Array.of(30, 31));
  await searchers.publish([createMember(1, segment)]);
  await space.add(range(0, 300), vectorsOf(range(0, 300)));
  await space.save();
  await space.add(range(300, 400), vectorsOf(range(300, 400)));
  space.remove(range(0, 20));
  const find = async () => {
    const vector = slotFor(Promise.resolve(vectorOf(50)), DIM);
    const vectors = { rows: space.rows, vector, floor: null };
    const { sparse, dense } = await searchers.find({ ...wordsOnly, query: 'heron', k: 400, vectors });
    return [[...sparse.labels], dense.labels.toSorted()];
  };
  const related = { to: Uint32Array.of(50), k: 3, few: 5, except: new Set<number>() };
  const passages = [{ label: 30, text: 'heron', url: 'https://e.com/' }];
  const tasks: [name: string, ask: () => Promise<unknown>, answer: unknown][] = [
    ['find', find, [[30], range(20, 400)]],
    ['nearest', async () => (await space.search(vectorOf(10), 400)).labels.toSorted(), range(20, 400)],
    ['related', async () => (await space.related(related)).length > 0, true],
    ['locate', () => searchers.locate([{ in: 'word', text: 'egret' }]), [Uint32Array.of(31)]],
    ['mark', async () => (await searchers.mark({ passages, stems: ['heron'] }))[0].highlights.length, 1],
  ];
  await assert.rejects(first.run('end', undefined));
  for (const [name, ask, answer] of tasks) {
    assert.deepEqual(await ask(), answer, name);
    await first.run('release', { namespace: 'mortal' });
  }
  assert.deepEqual(warnings, new Array(tasks.length).fill(warnings[0]));
  await assert.rejects(first.run('end', undefined));
  await space.add(range(400, 410), vectorsOf(range(400, 410)));
  space.remove([20]);
  assert.deepEqual((await space.search(vectorOf(10), 500)).labels.toSorted(), range(21, 410));
  await space.close();
  await own.close();
});

test('no search among many finds what was removed, while a searcher is replaced', async () => {
  const own = await openMortalThreads();
  await using made = await spaceFixture(own);
  const { space } = await VectorSpace.open(made.options, setOf([]));
  await space.add(LABELS, vectorsOf(LABELS));
  await space.save();
  for (let round = 0; round < 3; round++) {
    space.remove(range(20 * round, 20 * round + 20));
    await assert.rejects(own.searchers[round % 2].run('end', undefined));
    const searches: Promise<Uint32Array>[] = [];
    // Some are asked before the thread has the rows, some while it gets them, some after.
    for (let turn = 0; turn < 50; turn++) {
      searches.push(space.search(vectorOf(10), 400).then(({ labels }) => labels));
      await new Promise(setImmediate);
    }
    for (const labels of await Promise.all(searches)) assert.deepEqual(labels.toSorted(), range(20 * round + 20, 400));
  }
  await space.close();
  await own.close();
});

test('files that are gone or not usable are lost, what a crash left unsaved is not', async () => {
  await using made = await spaceFixture(threads);
  const lostOf = async (live: Uint32Array) => {
    const { space, lost, missing } = await VectorSpace.open(made.options, setOf(live));
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
  await rm(fileOf(made));
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
  await using made = await spaceFixture(threads, { dim });
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
