// Runs the test files named on the command line, or every *.test.ts below test/, under node:test through tsx.
// Node 20 neither expands globs nor finds .ts tests by itself (it would exit 0 having run nothing), so the list is made here.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const named = process.argv.slice(2);
const files =
  named.length > 0
    ? named
    : readdirSync(join(root, 'test'), { recursive: true })
        .filter((name) => name.endsWith('.test.ts'))
        .sort()
        .map((name) => join('test', name));
if (files.length === 0) {
  console.error('no test files found below test/');
  process.exit(1);
}
const args = ['--import', 'tsx', '--test', '--test-reporter=spec', '--test-concurrency=2', ...files];
const run = spawnSync(process.execPath, args, {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 1 << 30,
});
process.stdout.write(run.stdout);
const passed = Number(/^ℹ pass (\d+)/m.exec(run.stdout)?.[1] ?? 0);
const failed = Number(/^ℹ fail (\d+)/m.exec(run.stdout)?.[1] ?? 0);
const skipped = Number(/^ℹ skipped (\d+)/m.exec(run.stdout)?.[1] ?? 0);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
if (passed === 0) console.error('no test ran');
process.exit(run.status === 0 && failed === 0 && passed > 0 ? 0 : 1);
