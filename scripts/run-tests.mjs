// Runs the test files named on the command line, or every *.test.ts below test/ that is quick, under node:test through tsx; with `--slow` the others.
// Node 20 neither expands globs nor finds .ts tests by itself (it would exit 0 having run nothing), so the list is made here.
// `--together` runs the named files in one process, as most of the small ones are run when all are.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isSlow, planOf } from './test-plan.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

/** Lists of files, each for a process of its own. */
function planned([first, ...rest]) {
  if (first === '--together') return [rest];
  if (first !== undefined && first !== '--slow') return [first, ...rest].map((file) => [file]);
  const names = readdirSync('test', { recursive: true }).filter((name) => name.endsWith('.test.ts'));
  const isSlowRun = first === '--slow';
  return planOf(names.map((name) => join('test', name)).filter((file) => isSlow(file) === isSlowRun));
}

const plan = planned(process.argv.slice(2));
if (plan.flat().length === 0) {
  console.error('no test files found below test/');
  process.exit(1);
}
// Services are started from what is built.
execFileSync(process.execPath, ['scripts/build-if-stale.mjs'], { stdio: 'inherit' });
const loader = ['--import', './scripts/tsx-in-threads.mjs', '--import', './scripts/test-seed.mjs'];
const run = spawn(process.execPath, [...loader, './scripts/test-lanes.mjs', JSON.stringify(plan)], {
  stdio: ['ignore', 'pipe', 'inherit'],
  // Tests wait for what yields to other work, too: beside a busy program it would hardly run. Threads load in no time from what is built.
  env: { READBACK_PRIORITIES: 'equal', READBACK_THREADS: 'compiled', ...process.env },
});
const counts = { pass: 0, fail: 0, skipped: 0 };
for await (const line of createInterface({ input: run.stdout })) {
  console.log(line);
  const [, name, count] = /^ℹ (pass|fail|skipped) (\d+)$/.exec(line) ?? [];
  if (name !== undefined) counts[name] = Number(count);
}
if (run.exitCode === null && run.signalCode === null) await once(run, 'exit');
console.log(`${counts.pass} passed, ${counts.fail} failed, ${counts.skipped} skipped`);
if (counts.pass === 0) console.error('no test ran');
process.exit(run.exitCode === 0 && counts.fail === 0 && counts.pass > 0 ? 0 : 1);
