// Runs test files by a plan, the JSON of lists of files on the command line: two lists at a time, in the order given, each in a process of
// its own, which is run with the options of this one. Prints as `node --test` does, which would change the order. Leaves with 1 where a
// test fails, where a process ends before its tests have, and where a file has no test.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
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

const silent = new Set(plan.flat().map((file) => resolve(file)));
const tests = run({ files: entries, concurrency: 2 });
/** A process without tests is told as a test itself, which has the name of its file. */
const heard = ({ name, file = '' }) => {
  const path = file.startsWith('file:') ? fileURLToPath(file) : file;
  if (resolve(name) !== path) silent.delete(path);
};
tests.on('test:pass', heard);
tests.on('test:fail', (test) => {
  heard(test);
  process.exitCode = 1;
});
tests.on('end', () => {
  for (const file of silent) console.error(`no test of ${file} ran`);
  if (silent.size > 0) process.exitCode = 1;
});
tests.compose(new spec()).pipe(process.stdout);
