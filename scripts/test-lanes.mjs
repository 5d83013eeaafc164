// Runs test files by a plan, the JSON of lists of files on the command line: four lists at a time, in the order given, each in a process of
// its own, which is run with the options of this one. Prints as `node --test` does, which would change the order. Leaves with 1 where a
// test fails, where a process ends before its tests have or never does, and where a file has no test.
import { realpathSync, rmSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { together } from './test-plan.mjs';

const plan = JSON.parse(process.argv[2]);
const folders = [];
const entries = plan.map((files, at) => {
  if (files.length === 1) return files[0];
  const { entry, dir } = together(`together-${at}`, files);
  folders.push(dir);
  return entry;
});
process.on('exit', () => {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const pathOf = (file) => realpathSync(file.startsWith('file:') ? fileURLToPath(file) : resolve(file));
const silent = new Set(plan.flat().map(pathOf));
/** Of each file, how many tests at its top were found and have not ended. */
const open = new Map();
/** No process takes this long on any machine: one that hangs is ended and named, ms. */
const timeout = Number(process.env.READBACK_TEST_LIMIT_MS ?? 15 * 60_000);
// Twice the cores of small machines: tests that kill, start and wait leave half of two cores idle.
const tests = run({ files: entries, concurrency: 4, timeout });
/** A process without tests is told as a test itself, which has the name of its file. */
const isProcess = ({ name, file }) => resolve(name) === resolve(file.startsWith('file:') ? fileURLToPath(file) : file);
const counted = (step) => (test) => {
  if (test.file === undefined || test.nesting > 0 || isProcess(test)) return;
  const path = pathOf(test.file);
  open.set(path, (open.get(path) ?? 0) + step);
  if (step < 0) silent.delete(path);
};
tests.on('test:enqueue', counted(1));
tests.on('test:pass', counted(-1));
tests.on('test:fail', counted(-1));
tests.on('test:fail', () => {
  process.exitCode = 1;
});
/** Time of the tests of each file, ms. */
const spent = new Map();
for (const event of ['test:pass', 'test:fail']) {
  tests.on(event, (test) => {
    if (test.file === undefined || test.nesting > 0 || isProcess(test)) return;
    const path = pathOf(test.file);
    spent.set(path, (spent.get(path) ?? 0) + test.details.duration_ms);
  });
}
const faults = [];
tests.on('end', () => {
  for (const file of silent) faults.push(`no test of ${file} ran`);
  for (const [file, count] of open) if (count > 0) faults.push(`${count} tests of ${file} did not end`);
  if (faults.length > 0) process.exitCode = 1;
});
const longest = () =>
  [...spent]
    .sort(([, a], [, b]) => b - a)
    .slice(0, Number(process.env.READBACK_TEST_LONGEST ?? 10))
    .map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${relative('.', file)}`);
process.on('exit', () => console.log(['the longest files:', ...longest()].join('\n')));
// What is printed last is what people see.
process.on('exit', () => {
  for (const fault of faults) console.error(fault);
});
tests.compose(new spec()).pipe(process.stdout);
