/** The runner of the tests: what fails must fail however files are put together, and a run of nothing is no success. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../scope.ts';

const root = join(import.meta.dirname, '../..');

const passing = "import { test } from 'node:test'; test('passes', () => {}); test('passes, too', () => {});";
const failing = "import { test } from 'node:test'; test('fails', () => { throw new Error('broken'); });";
const empty = 'export {};';
const exiting = "import { test } from 'node:test'; test('ends', () => process.exit(0)); test('is left', () => {});";
const leaving = `import { test } from 'node:test'; test('passes', () => {});
  test('leaves', async () => { await new Promise((resolve) => setTimeout(resolve, 100)); process.exit(0); });
  test('is left', () => { throw new Error('broken'); });`;
const killed = "import { test } from 'node:test'; test('dies', () => void process.kill(process.pid, 'SIGKILL'));";
const hanging =
  "import { test } from 'node:test'; test('hangs', () => new Promise((resolve) => setTimeout(resolve, 600_000)));";
const unloadable = "import { nothing } from './nowhere.ts'; nothing();";

// This process is one of a test run itself, which its children are not to take part in.
const { NODE_TEST_CONTEXT: _, ...env } = process.env;

/** Write files with these contents; gives their paths. */
function written(t: TestContext, sources: Record<string, string>): string[] {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'package.json'), '{"type": "module"}');
  return Object.entries(sources).map(([name, source]) => {
    const file = join(dir, `${name}.test.ts`);
    writeFileSync(file, source);
    return file;
  });
}

/** Run files with these contents, each in a process of its own or all in one; the exit code, and what was counted in the end. */
function runOf(t: TestContext, sources: readonly string[], isTogether: boolean, settings: Record<string, string> = {}) {
  const files = written(t, Object.fromEntries(sources.entries()));
  const args = [join(root, 'scripts', 'run-tests.mjs'), ...(isTogether ? ['--together'] : []), ...files];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...env, ...settings },
    encoding: 'utf8',
  });
  return [status, /^\d+ passed, \d+ failed, \d+ skipped$/m.exec(stdout)?.[0]];
}

for (const isTogether of [false, true]) {
  const how = isTogether ? 'together' : 'each by itself';
  test(`tests are counted one by one, and one that fails fails the run, of files run ${how}`, (t) => {
    assert.deepEqual(runOf(t, [passing, passing], isTogether), [0, '4 passed, 0 failed, 0 skipped']);
    assert.deepEqual(runOf(t, [passing, failing], isTogether), [1, '2 passed, 1 failed, 0 skipped']);
  });
}

test('a file that ends its process, cannot be loaded or has no test is named, by itself and together with others', (t) => {
  const bad = Object.entries({ killed, exiting, leaving, unloadable, empty });
  const lists = bad.map(([what, source]) =>
    written(t, { [`${what}-by-itself`]: source, passing, [`${what}-together`]: source }),
  );
  const plan = lists.flatMap(([alone, ...together]) => [[alone], together]);
  const loaders = ['tsx-in-threads', 'test-seed'].flatMap((name) => ['--import', `./scripts/${name}.mjs`]);
  const args = [...loaders, 'scripts/test-lanes.mjs', JSON.stringify(plan)];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
  assert.equal(status, 1);
  const named = (how: string) => bad.filter(([what]) => stderr.includes(`${what}-${how}.test.ts`)).length;
  assert.deepEqual([named('by-itself'), named('together')], [bad.length, bad.length], stderr);
});

test('a file that never ends fails the run', (t) => {
  assert.equal(runOf(t, [passing, hanging], false, { READBACK_TEST_LIMIT_MS: '3000' })[0], 1);
});

test('a run of nothing fails', (t) => {
  assert.equal(runOf(t, [empty], false)[0], 1);
});

test('every file is in one of the two suites, and is run once there', async () => {
  const plans: { planOf: (files: string[]) => string[][]; isSlow: (file: string) => boolean } = await import(
    join(root, 'scripts', 'test-plan.mjs')
  );
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.test.ts')).map((name) => join('test', name));
  for (const isSlow of [false, true]) {
    const own = files.filter((file) => plans.isSlow(file) === isSlow);
    assert.ok(own.length > 0);
    assert.deepEqual(plans.planOf(own).flat().sort(), own.sort());
  }
});
