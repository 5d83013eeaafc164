/** What the bundle costs in memory: V8 keeps every source that a thread loads, and whatever its packages make of themselves. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bitsNotIn } from '../../src/compute/structures/bitmap.ts';
import { VectorRows } from '../../src/engine/vectors/vector-rows.ts';
import { temporaryFolder } from '../scope.ts';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const entries = ['main.js', ...readdirSync(`${dist}threads`).map((name) => `threads/${name}`)];
const textOf = (file: string) => readFileSync(`${dist}${file}`, 'utf8');

/** The packages that are loaded with a file of dist/ or when it needs them, also by way of others. */
function packagesOf(entry: string): Set<string> {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    const text = textOf(file);
    for (const [, name] of text.matchAll(/^\/\/ node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//gm)) packages.add(name);
    for (const [, imported] of text.matchAll(/(?:^\} from |^import |\bimport\()"(\.[^"]+)"/gm))
      files.add(posix.join(posix.dirname(file), imported));
  }
  return packages;
}

test('the built thread loads the native package of graphs, which is left out of the bundle', async (t) => {
  const { growGraph }: typeof import('../../src/engine/vectors/graph-file.ts') = await import(
    `${dist}threads/graph-thread.js`
  );
  const rows = VectorRows.create(2);
  rows.append(7, Float32Array.of(1, 2), 0);
  const to = join(temporaryFolder(t), 'graph');
  const grown = await growGraph({ shared: rows.shared, from: null, to, flags: new SharedArrayBuffer(8) });
  assert.deepEqual(grown && bitsNotIn(grown.labels, new Uint32Array(0)), Uint32Array.of(7));
});

test('what detects languages is loaded by the threads for texts, and by no other thread', () => {
  for (const name of ['eld', 'franc-all']) {
    const loading = entries.filter((entry) => packagesOf(entry).has(name));
    assert.deepEqual(loading, ['threads/text-thread.js'], name);
  }
});

test('of n-grams and of the languages of complaints no more is loaded, and in no other form, than is needed', () => {
  const names = [...readdirSync(`${dist}chunks`).map((name) => `chunks/${name}`), ...entries];
  const sources = names.map(textOf);
  const ngrams = sources.filter((text) => text.includes('XS60'));
  assert.equal(ngrams.length, 1);
  assert.match(ngrams[0], /ngramsData = JSON\.parse\(/);
  assert.ok(sources.some((text) => text.includes('node_modules/zod/v4/locales/en.js')));
  assert.ok(!sources.some((text) => text.includes('node_modules/zod/v4/locales/de.js')));
});

test('every source is ASCII, so that V8 keeps it in one byte a character', () => {
  const sources = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.js') && !/^(?:console|extension)\b/.test(name),
  );
  assert.ok(sources.length > 40, `only ${sources.length} files were looked at`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  const wide = sources.filter((name) => /[^\x00-\x7f]/.test(textOf(name)));
  assert.deepEqual(wide, []);
});
