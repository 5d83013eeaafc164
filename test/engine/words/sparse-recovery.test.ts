import assert from 'node:assert/strict';
import { readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { randomStream } from '../../../bench/workload.ts';
import type { SparseDocument } from './small-corpus.ts';
import {
  closeThreads,
  documentOf,
  openThreads,
  SparseHarness,
  type Threads,
  temporaryFolder,
} from './sparse-harness.ts';

const WORDS = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'constructor'];
/** More in `npm run soak -- --only damage`. */
const bitFlips = Number(process.env.READBACK_TEST_BIT_FLIPS ?? 3);
let threads: Threads;
before(() => {
  threads = openThreads();
});
after(() => closeThreads(threads));

/** Three segments of 40, 30 and 20 documents on disk; gives what the store holds and the segment files, largest first. */
async function makeIndex(dir: string): Promise<{ documents: Map<number, SparseDocument>; files: string[] }> {
  const random = randomStream(3, 0, 0);
  const harness = await SparseHarness.open(threads, dir, new Map());
  for (const [first, count] of Object.entries({ 1: 40, 100: 30, 200: 20 })) {
    const someWords = () =>
      Array.from({ length: 1 + Math.floor(random() * 30) }, () => WORDS[Math.floor(random() * WORDS.length)]);
    const documents = Array.from({ length: count }, () => documentOf(...someWords()));
    await harness.add(Number(first), documents);
  }
  await harness.index.close();
  const files = (await readdir(dir)).filter((file) => file.endsWith('.segment')).sort();
  assert.equal(files.length, 3);
  return { documents: harness.documents, files };
}

/** Start on a folder, whatever is in it; re-add what is missing; the answers are those of the store's documents, and stay so. */
async function assertRecovers(
  dir: string,
  documents: Map<number, SparseDocument>,
  missing: number,
  storeId = 'store 1',
) {
  const harness = await SparseHarness.open(threads, dir, documents, { storeId });
  assert.equal(harness.missing.length, missing);
  await harness.addMissing();
  await harness.assertExact(WORDS);
  await harness.index.close();
  for (const file of await readdir(dir)) assert.match(file, /^(\d+\.segment|manifest\.json)$/);
  const again = await SparseHarness.open(threads, dir, documents, { storeId });
  assert.deepEqual({ missing: again.missing.length, lines: again.lines }, { missing: 0, lines: [] });
  await again.assertExact(WORDS);
  await again.index.close();
  return harness;
}

test('a folder left in order is loaded whole', async () => {
  await using folder = await temporaryFolder();
  const { documents } = await makeIndex(folder.path);
  await assertRecovers(folder.path, documents, 0);
});

test('labels that the store holds no more are not found, new ones are reported missing', async () => {
  await using folder = await temporaryFolder();
  const { documents } = await makeIndex(folder.path);
  for (let label = 5; label < 30; label++) documents.delete(label);
  documents.set(300, documentOf('ant', 'gnu'));
  await assertRecovers(folder.path, documents, 1);
});

test('a segment file that was deleted is reported missing', async () => {
  await using folder = await temporaryFolder();
  const { documents, files } = await makeIndex(folder.path);
  await rm(join(folder.path, files[1]));
  await assertRecovers(folder.path, documents, 30);
});

test('an empty or truncated segment file is set aside', async () => {
  for (const size of [0, 10, 200, 1000]) {
    await using folder = await temporaryFolder();
    const { documents, files } = await makeIndex(folder.path);
    await truncate(join(folder.path, files[0]), size);
    const { lines } = await assertRecovers(folder.path, documents, 40);
    const [{ level, fields }, ...others] = lines;
    assert.deepEqual([level, 'file' in fields && fields.file, others], ['warn', files[0], []]);
  }
});

test('a segment file with one bit changed is set aside, wherever the bit is', async () => {
  for (let seed = 0; seed < bitFlips; seed++) {
    await using folder = await temporaryFolder();
    const { documents, files } = await makeIndex(folder.path);
    const path = join(folder.path, files[2]);
    const bytes = await readFile(path);
    const random = randomStream(seed, 0, 0);
    bytes[Math.floor(random() * bytes.length)] ^= 1 << Math.floor(random() * 8);
    await writeFile(path, bytes);
    await assertRecovers(folder.path, documents, 20);
  }
});

test('segment files that changed names are set aside', async () => {
  await using folder = await temporaryFolder();
  const { documents, files } = await makeIndex(folder.path);
  const [first, second] = files.map((file) => join(folder.path, file));
  await rename(first, `${first}.x`);
  await rename(second, first);
  await rename(`${first}.x`, second);
  await assertRecovers(folder.path, documents, 70);
});

test('a folder of another store is set aside whole', async () => {
  await using folder = await temporaryFolder();
  const { documents } = await makeIndex(folder.path);
  await assertRecovers(folder.path, documents, 90, 'store 2');
});

test('a damaged, empty or missing manifest costs the index, not the start', async () => {
  for (const damage of ['{"format":1,', '', '{"format":2}', 'null', undefined]) {
    await using folder = await temporaryFolder();
    const { documents } = await makeIndex(folder.path);
    const path = join(folder.path, 'manifest.json');
    if (damage === undefined) await rm(path);
    else await writeFile(path, damage);
    await assertRecovers(folder.path, documents, 90);
  }
});

test('a manifest with one bit changed costs at most what it misnames', async () => {
  for (let seed = 0; seed <= bitFlips; seed++) {
    await using folder = await temporaryFolder();
    const { documents } = await makeIndex(folder.path);
    const path = join(folder.path, 'manifest.json');
    const bytes = await readFile(path);
    const random = randomStream(seed, 1, 0);
    bytes[Math.floor(random() * bytes.length)] ^= 1 << Math.floor(random() * 7);
    await writeFile(path, bytes);
    const harness = await SparseHarness.open(threads, folder.path, documents);
    await harness.addMissing();
    await harness.assertExact(WORDS);
    await harness.index.close();
  }
});

test('the folder of an older generation is brought up to the store', async () => {
  await using folder = await temporaryFolder();
  const { documents, files } = await makeIndex(folder.path);
  const older = await Promise.all(
    ['manifest.json', ...files].map(async (file) => ({ file, bytes: await readFile(join(folder.path, file)) })),
  );
  const harness = await SparseHarness.open(threads, folder.path, documents);
  harness.remove([1, 2, 3, 100, 201]);
  await harness.add(400, [documentOf('ant', 'fox'), documentOf('fox')]);
  await harness.index.consolidate();
  await harness.index.close();
  for (const file of await readdir(folder.path)) await rm(join(folder.path, file));
  for (const { file, bytes } of older) await writeFile(join(folder.path, file), bytes);
  await assertRecovers(folder.path, harness.documents, 2);
});

test('files that no manifest names are removed', async () => {
  await using folder = await temporaryFolder();
  const { documents, files } = await makeIndex(folder.path);
  const bytes = await readFile(join(folder.path, files[0]));
  await writeFile(join(folder.path, '900.segment'), bytes);
  await writeFile(join(folder.path, '901.segment.new'), bytes);
  await assertRecovers(folder.path, documents, 0);
});

test('files that are gone or not usable are lost, what a crash left unsaved is not', async () => {
  await using folder = await temporaryFolder();
  const first = await SparseHarness.open(threads, folder.path, new Map());
  assert.equal(first.lost, false);
  // Nothing was saved since: as after a kill.
  const documents = new Map([[1, documentOf('ant')]]);
  const killed = await SparseHarness.open(threads, folder.path, documents);
  assert.deepEqual([killed.lost, [...killed.missing]], [false, [1]]);
  await killed.addMissing();
  await killed.index.save();
  documents.set(2, documentOf('bee'));
  const behind = await SparseHarness.open(threads, folder.path, documents);
  assert.deepEqual([behind.lost, [...behind.missing]], [false, [2]]);
  const [segment] = (await readdir(folder.path)).filter((file) => file.endsWith('.segment'));
  await truncate(join(folder.path, segment), 10);
  assert.equal((await SparseHarness.open(threads, folder.path, documents)).lost, true);
  assert.equal((await SparseHarness.open(threads, folder.path, documents, { storeId: 'store 2' })).lost, true);
  await rm(join(folder.path, 'manifest.json'), { force: true });
  assert.equal((await SparseHarness.open(threads, folder.path, documents)).lost, true);
});

test('a small page in a quiet time leaves the files of large segments as they are', async () => {
  await using folder = await temporaryFolder();
  const { documents, files } = await makeIndex(folder.path);
  const harness = await SparseHarness.open(threads, folder.path, documents);
  await harness.index.consolidate();
  const [large, ...others] = (await readdir(folder.path)).filter((file) => file.endsWith('.segment'));
  assert.deepEqual([others, files.includes(large)], [[], false]);
  await harness.add(400, [documentOf('ant', 'fox')]);
  await harness.index.consolidate();
  const after = (await readdir(folder.path)).filter((file) => file.endsWith('.segment'));
  assert.deepEqual([after.length, after.includes(large)], [2, true]);
  await harness.index.close();
});
