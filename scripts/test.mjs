// What people and CI run first: format and lint, types and a build, at the same time; then every quick test. Fails where a step fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name, path) => join(root, 'node_modules', name, path);

/** Run a step; to whether it went well. */
async function run([title, ...args]) {
  console.log(`— ${title}`);
  const [code] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit');
  if (code !== 0) console.error(`${title}: failed`);
  return code === 0;
}

const checks = [
  ['format and lint', bin('@biomejs/biome', 'bin/biome'), 'check', '--error-on-warnings', '.'],
  ['types', bin('typescript', 'bin/tsc'), '--noEmit'],
  ['types of the console', bin('typescript', 'bin/tsc'), '--noEmit', '-p', 'console'],
  ['types of the extension and of tests in browsers', bin('typescript', 'bin/tsc'), '--noEmit', '-p', 'extension'],
  ['build', join(root, 'scripts', 'build-if-stale.mjs')],
];
const passed = await Promise.all(checks.map(run));
if (passed.includes(false) || !(await run(['tests', join(root, 'scripts', 'run-tests.mjs')]))) process.exit(1);
