import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startOrder } from '../../src/actors/system/services.ts';
import { jobKinds } from '../../src/domain/job.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${root}ARCHITECTURE.md`, 'utf8');
const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).map((name) =>
  name.replaceAll('\\', '/'),
);

/** `a/{b,c}.ts` stands for `a/b.ts` and `a/c.ts`. */
function spelledOut(path: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(path);
  if (braces === null) return [path];
  return braces[1].split(',').flatMap((name) => spelledOut(path.replace(braces[0], name)));
}

/** Pages may leave out the ending of a test. */
const isThere = (path: string) => [path, `${path}.test.ts`].some((each) => existsSync(root + each));

const pages = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
test('the paths that the pages name are there', () => {
  const missing = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', ...pages.map((name) => `docs/${name}`)].flatMap(
    (name) => {
      const text = readFileSync(`${root}${name}`, 'utf8');
      const named = Array.from(
        text.matchAll(/(?<![\w/])(?:src|docs|test|scripts|bench|console|extension)\/[\w./{},*-]*[\w}*]/g),
        ([path]) => path,
      );
      const paths = named.filter((path) => !path.includes('*')).flatMap(spelledOut);
      return paths.filter((path) => !isThere(path)).map((path) => `${name}: ${path}`);
    },
  );
  assert.deepEqual(missing, []);
});

for (const name of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
  test(`the files that ${name} names are there`, () => {
    const text = readFileSync(`${root}${name}`, 'utf8');
    const tests = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' });
    const inBrowsers = ['console', 'extension'].flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' }),
    );
    const all = [...sources, ...tests, ...inBrowsers, ...readdirSync(`${root}scripts`)];
    const files = new Set(all.map((path) => basename(path)));
    const named = Array.from(text.matchAll(/(?<![\w.-])[\w-]+\.ts\b/g), ([file]) => file);
    const gone = named.filter((file) => !files.has(file));
    assert.deepEqual(gone, []);
  });
}

test('every folder of the source is in the codemap', () => {
  const folders = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const untold = folders.map(({ name }) => name).filter((name) => !page.includes(`\`src/${name}\``));
  assert.deepEqual(untold, []);
});

test('every kind of job, every service and every thread is told of', () => {
  const untold = jobKinds.filter((kind) => !page.includes(`| \`${kind}\` |`));
  assert.deepEqual(untold, []);
  assert.deepEqual(
    startOrder.flat().filter((service) => !new RegExp(`[├└]─ ${service}\\b`).test(page)),
    [],
  );
  const opened = sources
    .filter((path) => path.endsWith('.ts') && !path.startsWith('threads/'))
    .flatMap((path) =>
      Array.from(
        readFileSync(`${root}src/${path}`, 'utf8').matchAll(/programFile\('threads\/([\w-]+)'/g),
        ([, entry]) => `| \`${entry}.ts\` |`,
      ),
    );
  assert.ok(opened.length > 5, `only ${opened.length} threads are opened`);
  assert.deepEqual(
    opened.filter((row) => !page.includes(row)),
    [],
  );
});
