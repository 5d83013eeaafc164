/** The engine without the service: its own folder, its own threads. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Document, SearchIndex as Index, SearchIndexOptions } from '../../src/engine/search-index.ts';
import { compiled } from '../app/compiled.ts';
import { tinyEncoder } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';

const { SearchIndex }: typeof import('../../src/engine/search-index.ts') = await compiled('engine/search-index');

const root = join(import.meta.dirname, '../..');
/** For what does not ask for meaning: it loads in no time. */
const { SERVICE_ENCODER__DIR: encoderDir } = tinyEncoder;
const documents: Document[] = [
  { label: 7, title: 'Herons', text: 'Herons are wading birds that hunt fish in shallow water.' },
  { label: 2, title: 'Bread', text: 'A sourdough loaf needs flour, water, salt and patience.' },
  { label: 40, title: 'Storks', text: 'Storks nest on roofs and migrate to Africa in autumn.' },
  { label: 41, text: '… …' },
];

async function opened(t: TestContext, options: SearchIndexOptions): Promise<Index> {
  const index = await SearchIndex.open(options);
  t.after(() => index.close().catch(() => {}));
  return index;
}

const labels = (hits: { label: number }[]) => hits.map(({ label }) => label);

test('documents are found by words and by meaning, until they are removed', async (t) => {
  const index = await opened(t, { dir: join(temporaryFolder(t), 'index') });
  await index.add(documents);
  assert.equal(index.size, 4);
  assert.equal(labels(await index.search('wading birds'))[0], 7);
  assert.equal(labels(await index.search('baking with yeast'))[0], 2, 'no word of it is in the text');
  assert.deepEqual(labels(await index.search('birds', { allow: [2, 40], k: 1 })), [40]);
  await index.add(documents);
  assert.equal(index.size, 4, 'what is there stays as it is');
  await index.remove([7, 999]);
  assert.equal(index.size, 3);
  assert.ok(!labels(await index.search('wading birds')).includes(7));
});

test('a folder keeps what was persisted, and names what its files have lost, until that is added again', async (t) => {
  const dir = join(temporaryFolder(t), 'index');
  const index = await opened(t, { dir, encoderDir });
  await index.add(documents.slice(0, 2));
  await index.persist();
  await index.add(documents.slice(2));
  await index.remove([2]);
  await index.close();

  const again = await opened(t, { dir, encoderDir });
  assert.deepEqual([again.size, again.missing], [3, []]);
  assert.deepEqual(labels(await again.search('storks on the roof', { k: 1 })), [40]);
  assert.ok(!labels(await again.search('sourdough')).includes(2));
  await again.close();

  await assert.rejects(SearchIndex.open({ dir, dim: 384 }), /is an index of the built-in model, not of 384 dimensions/);
  const path = join(dir, 'manifest.json');
  const text = readFileSync(path, 'utf8');
  for (const damaged of ['', text.slice(0, 100)]) {
    writeFileSync(path, damaged);
    await assert.rejects(SearchIndex.open({ dir, encoderDir }), /manifest.json cannot be read/);
  }
  writeFileSync(path, text);
  const words = join(dir, 'words');
  for (const file of readdirSync(words)) if (file.endsWith('.segment')) rmSync(join(words, file));

  const poor = await opened(t, { dir, encoderDir });
  assert.deepEqual([...poor.missing].sort(), [40, 41, 7]);
  const adding = poor.add([...documents, { label: 50, text: 'Egrets are wading birds, too.' }]);
  await poor.remove([50]);
  await adding;
  assert.deepEqual([poor.size, poor.missing], [4, []]);
  assert.equal(labels(await poor.search('sourdough'))[0], 2);
  assert.ok(!labels(await poor.search('egrets')).includes(50), 'it was removed while it was added');
  for (const label of [0, -1, 1.5, 2 ** 31]) await assert.rejects(poor.add([{ label, text: 'x' }]), RangeError);
  await poor.close();
  const last = await opened(t, { dir, encoderDir });
  assert.deepEqual([last.size, last.missing], [4, []], 'nor is it missing');
});

test('the example of the README runs', async (t) => {
  const [, example] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  assert.ok(example !== undefined);
  const dir = temporaryFolder(t);
  const file = join(dir, 'example.mjs');
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const engine = pathToFileURL(join(root, exports['./engine'])).href;
  writeFileSync(file, example.replace("'readback/engine'", JSON.stringify(engine)));
  const said = execFileSync(process.execPath, [file], { cwd: dir, encoding: 'utf8' });
  assert.match(said, /^2 \d+(\.\d+)?\n$/);
});

test('vectors may be brought', async (t) => {
  const dir = join(temporaryFolder(t), 'index');
  const index = await opened(t, { dir, dim: 3 });
  await assert.rejects(index.add([{ label: 1, text: 'north' }]), /document 1 has no vector of 3 dimensions/);
  await index.add([
    { label: 1, text: 'north', vector: Float32Array.of(1, 0, 0) },
    { label: 2, text: 'east', vector: Float32Array.of(0, 1, 0) },
  ]);
  assert.deepEqual(labels(await index.search('east')), [2], 'by words alone');
  assert.deepEqual(labels(await index.search('somewhere', { vector: Float32Array.of(0.9, 0.1, 0) })), [1, 2]);
  await assert.rejects(index.search('x', { vector: Float32Array.of(1, 2) }), /row 0: length/);
});
