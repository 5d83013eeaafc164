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

/** Run files with these contents, each in a process of its own or all in one; the exit code, and what was counted in the end. */
function runOf(t: TestContext, sources: readonly string[], isTogether: boolean, settings: Record<string, string> = {}) {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'package.json'), '{"type": "module"}');
  const files = sources.map((source, at) => {
    const file = join(dir, `${at}.test.ts`);
    writeFileSync(file, source);
    return file;
  });
  // This process is one of a test run itself, which its children are not to take part in.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
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

for (const [what, source] of Object.entries({ killed, exiting, leaving, unloadable, empty })) {
  for (const isTogether of [true, false]) {
    test(`of files run ${isTogether ? 'together' : 'each by itself'} one that is ${what} fails the run`, (t) => {
      assert.equal(runOf(t, [passing, source], isTogether)[0], 1);
    });
  }
}

test('a file that never ends fails the run', (t) => {
  assert.equal(runOf(t, [passing, hanging], false, { READBACK_TEST_LIMIT_MS: '10000' })[0], 1);
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
