// Holds the running service against its contract, section by section: runs test/process/contract*.test.ts, prints how many named
// checks each section has and how many of them passed. Fails where a check does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join('test', 'process');
const files = readdirSync(join(root, folder))
  .filter((name) => /^contract.*\.test\.ts$/.test(name))
  .sort();

/** A file begins with its section and what of it is checked: `Contract section: NAME. SENTENCES`. */
function sectionOf(file) {
  const text = readFileSync(join(root, folder, file), 'utf8');
  const said = /^\/\*\* Contract section: (.*?)\. /.exec(text);
  if (said === null) throw new Error(`${file} does not begin with its section`);
  return { name: said[1], checks: 0, passed: 0 };
}

/** With `--cluster` each service is three hosts of a cluster, on a PostgreSQL that runs meanwhile; a request goes to any of them. */
const isClustered = process.argv.includes('--cluster');
const loader = ['--import', './scripts/tsx-in-threads.mjs'];
async function startPostgres() {
  const stdio = ['pipe', 'pipe', 'inherit'];
  const server = spawn(process.execPath, [...loader, 'test/cluster/run-postgres.ts'], { cwd: root, stdio });
  for await (const url of createInterface({ input: server.stdout })) return { url, stop: () => server.stdin.end() };
  throw new Error('PostgreSQL did not start');
}
const postgres = isClustered ? await startPostgres() : null;

const sections = new Map(files.map((file) => [file, sectionOf(file)]));
const args = [
  ...[...loader, '--import', './scripts/test-seed.mjs'],
  ...['--test', '--test-reporter=./scripts/checks-reporter.mjs', '--test-concurrency=2'],
  ...files.map((file) => join(folder, file)),
];
const env = postgres === null ? process.env : { ...process.env, READBACK_TEST_CLUSTER: postgres.url };
const run = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
for await (const line of createInterface({ input: run.stdout })) {
  if (!line.startsWith('{"file"')) {
    if (line !== '') console.log(line);
    continue;
  }
  const { file, name, passed, why } = JSON.parse(line);
  const section = sections.get(basename(file));
  section.checks++;
  if (passed) section.passed++;
  else console.log(`✖ ${section.name}: ${name}\n  ${why}`);
}
if (run.exitCode === null && run.signalCode === null) await once(run, 'exit');
postgres?.stop();

const rows = [...sections.values()];
const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
const table = [
  ['Section', 'Checks', 'Passed'],
  ...rows.map(({ name, checks, passed }) => [name, checks, passed]),
  ['all', sum('checks'), sum('passed')],
];
for (const [section, checks, passed] of table)
  console.log(`${String(section).padEnd(36)} ${String(checks).padStart(6)} ${String(passed).padStart(6)}`);
const failed = run.exitCode !== 0 || sum('checks') !== sum('passed') || rows.some(({ checks }) => checks === 0);
process.exit(failed ? 1 : 0);
