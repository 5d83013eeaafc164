/** Imports go one way, each package has its place, nothing is exported for nobody, and pure folders have no clock and no chance of their own (ARCHITECTURE.md). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../src/', import.meta.url));
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts'))
  .sort();

/** What each folder may import from, besides itself. Files beside the folders (app, main and their like) may import everything. */
const foundations = ['domain', 'compute'];
const mayImport: Record<string, readonly string[]> = {
  files: [],
  domain: [],
  compute: ['domain'],
  settings: foundations,
  access: [...foundations, 'files'],
  telemetry: foundations,
  machines: foundations,
  store: [...foundations, 'files'],
  // The pool is below the engine, the entries are above it; no file imports itself by way of others.
  threads: [...foundations, 'engine', 'importers'],
  engine: [...foundations, 'files', 'threads', 'encoder'],
  encoder: [...foundations, 'files'],
  providers: [...foundations, 'files', 'settings', 'encoder'],
  importers: foundations,
  cluster: [...foundations, 'access', 'store'],
  commands: [...foundations, 'machines', 'store'],
  actors: [
    ...foundations,
    'files',
    'machines',
    'store',
    'commands',
    'threads',
    'engine',
    'providers',
    'telemetry',
    'importers',
  ],
  mcp: foundations,
  http: [...foundations, 'access', 'telemetry', 'actors', 'settings', 'mcp'],
};

/** Programs of their own over the whole: they may import everything, and only files beside the folders import them. */
const programs = ['cli', 'composition'];

/** Where a package may be imported: a folder or a file. */
const placeOf: Record<string, string> = {
  lmdb: 'store/',
  pg: 'cluster/database.ts',
  'wink-bm25-text-search': 'engine/words/',
  piscina: 'threads/thread-pool.ts',
  fastify: 'http/',
  cookie: 'http/credentials.ts',
  commander: 'cli/',
  eld: 'compute/text/page-languages.ts',
  'franc-all': 'compute/text/page-languages.ts',
  stopword: 'compute/text/stop-words.ts',
  'node-sqlite3-wasm': 'importers/read-history.ts',
};

const specifiers = /(?:\bfrom|\bimport|\bcreateRequire\(import\.meta\.url\))\s*\(?\s*'([^']+)'/g;

function textOf(file: string): string {
  return readFileSync(`${src}${file}`, 'utf8');
}

/** The source without its comments, which may speak of anything. */
function codeOf(file: string): string {
  return textOf(file).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
}

function importsOf(file: string): string[] {
  return Array.from(codeOf(file).matchAll(specifiers), ([, specifier]) => specifier);
}

function folderOf(file: string): string | null {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : null;
}

/** The project's files that a file imports. */
function importedFiles(file: string): string[] {
  return importsOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.normalize(posix.join(posix.dirname(file), specifier)));
}

test('every folder of the source has its place in the order', () => {
  const folders = new Set(files.map(folderOf).filter((folder) => folder !== null));
  const unplaced = [...folders].filter((folder) => mayImport[folder] === undefined && !programs.includes(folder));
  assert.deepEqual(unplaced, []);
  assert.ok(files.length > 80, `only ${files.length} files were looked at`);
});

test('imports go one way', () => {
  const wrong = files.flatMap((file) => {
    const folder = folderOf(file);
    if (folder === null || programs.includes(folder)) return [];
    const allowed = [folder, ...(mayImport[folder] ?? [])];
    return importedFiles(file)
      .filter((imported) => !allowed.includes(folderOf(imported) ?? 'the top') && !imported.startsWith('../models/'))
      .map((imported) => `${file} imports ${imported}`);
  });
  assert.deepEqual(wrong, []);
});

test('no file imports itself by way of others', () => {
  const state = new Map<string, 'open' | 'done'>();
  const circles: string[] = [];
  const visit = (file: string, way: readonly string[]) => {
    if (state.get(file) === 'open') circles.push([...way.slice(way.indexOf(file)), file].join(' → '));
    if (state.has(file)) return;
    state.set(file, 'open');
    for (const imported of importedFiles(file)) visit(imported, [...way, file]);
    state.set(file, 'done');
  };
  for (const file of files) visit(file, []);
  assert.deepEqual(circles, []);
});

/** Files outside the source that may import from it. */
const others = ['test', 'bench', 'scripts', 'extension'].flatMap((folder) =>
  readdirSync(`${src}../${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs)$/.test(name))
    .map((name) => `../${folder}/${name.replaceAll('\\', '/')}`),
);

test('what a file exports as a value is imported somewhere', () => {
  const imported = new Set<string>();
  /** The entries of threads, whose functions are called by name, what is imported while it runs, and modules in a list. */
  const whole = new Set<string>();
  for (const file of [...files, ...others]) {
    const code = codeOf(file);
    const pathOf = (specifier: string) =>
      posix.normalize(posix.join(posix.dirname(file), specifier)).replace(/^\.\.\/src\//, '');
    for (const [, names, specifier] of code.matchAll(/\bimport\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g)) {
      for (const name of names.split(',')) imported.add(`${pathOf(specifier)} ${/(?:type )?(\w+)/.exec(name)?.[1]}`);
    }
    for (const [, all, specifier] of code.matchAll(/\*\s+as\s+(\w+)\s+from\s+'(\.[^']+)'/g)) {
      const uses = code.matchAll(new RegExp(`\\b${all}\\.(\\w+)|\\{([^{}]*)\\} = ${all}\\b`, 'g'));
      const names = Array.from(uses, ([, one, some]) => one ?? some).flatMap((text) => text.match(/\w+/g) ?? []);
      for (const name of names) imported.add(`${pathOf(specifier)} ${name}`);
      if (new RegExp(`[[,] ?${all}[\\],]`).test(code)) whole.add(pathOf(specifier));
    }
    for (const [, specifier] of code.matchAll(/\bimport\('(\.[^']+)'/g)) whole.add(pathOf(specifier));
  }
  const values = files.flatMap((file) =>
    Array.from(
      codeOf(file).matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm),
      ([, name]) => `${file} ${name}`,
    ),
  );
  assert.ok(values.length > 500, `only ${values.length} exports were looked at`);
  const unused = values.filter((value) => !imported.has(value) && !whole.has(value.split(' ')[0]));
  assert.deepEqual(unused, []);
});

test('relative imports name files that exist, with their ending', () => {
  const missing = files.flatMap((file) =>
    importedFiles(file)
      .filter((imported) => (imported.startsWith('..') ? !imported.endsWith('.json') : !files.includes(imported)))
      .map((imported) => `${file} imports ${imported}`),
  );
  assert.deepEqual(missing, []);
});

for (const [name, place] of Object.entries(placeOf)) {
  test(`${name} is imported in src/${place} only`, () => {
    const importers = files.filter((file) =>
      importsOf(file).some((specifier) => specifier === name || specifier.startsWith(`${name}/`)),
    );
    assert.ok(importers.length > 0, 'it is imported at all');
    const outside = importers.filter((file) => !file.startsWith(place));
    assert.deepEqual(outside, []);
  });
}

test('the languages of a page are decided in one place, which asks the one module that detects them', () => {
  const decides = (file: string) =>
    /\bdecideLanguages\b/.test(codeOf(file)) && file !== 'compute/text/page-languages.ts';
  assert.deepEqual(files.filter(decides), ['engine/prepare-page.ts']);
});

/** Beside the settings: what is no setting, since only the runner of tests gives it. */
const readsEnvironment = ['encoder/encoder.ts', 'files/program-files.ts', 'threads/thread-pool.ts'];

test('the environment is read in the settings only; the process hands it over', () => {
  const readers = files.filter((file) => /process\s*\.\s*env\b|['"]node:process['"]/.test(codeOf(file)));
  assert.deepEqual(
    readers.filter(
      (file) => !file.startsWith('settings/') && !/^(\w+\/)?main\.ts$/.test(file) && !readsEnvironment.includes(file),
    ),
    [],
  );
});

test('pure folders and commands have no clock and no chance of their own', () => {
  const pure = ['domain/', 'compute/', 'engine/words/', 'machines/', 'commands/'];
  const impure =
    /\bDate\.now\b|\bMath\.random\b|\bnew Date\(\)|\bperformance\.now\b|\brandomUUID\b|\brandomBytes\b|\bsetTimeout\b/;
  const wrong = files.filter((file) => pure.some((folder) => file.startsWith(folder)) && impure.test(codeOf(file)));
  assert.deepEqual(wrong, []);
});
