// The one check that people and CI run: format and lint, types, then every test. Stops at the first step that fails.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name, path) => join(root, 'node_modules', name, path);
const steps = [
  ['format and lint', bin('@biomejs/biome', 'bin/biome'), 'check', '--error-on-warnings', '.'],
  ['types', bin('typescript', 'bin/tsc'), '--noEmit'],
  ['build', join(root, 'scripts', 'build-if-stale.mjs')],
  ['tests', join(root, 'scripts', 'run-tests.mjs')],
];
for (const [title, ...args] of steps) {
  console.log(`— ${title}`);
  const run = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (run.status !== 0) {
    console.error(`${title}: failed`);
    process.exit(1);
  }
}
