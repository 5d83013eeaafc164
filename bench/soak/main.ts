/**
 * `npm run soak [-- --minutes 180 --only NAME --slack N --seed N --report FILE]`: the long reliability runs, one after another, each with a time limit
 * and a seed of its own. Prints a JSON report; leaves with code 1 where an entry failed or did not come to its turn, and, in a whole run,
 * where a rare state never happened.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { type Note, type RareStateCounts, rareStates } from '../../test/process/rare-states.ts';
import { describeMachine } from '../machine.ts';
import { type SoakEntry, soakEntries } from './entries.ts';

const root = join(import.meta.dirname, '../..');
/** A third is left out, and a line through two points has no error. */
const leastMixedMinutes = 5;
const usage = `npm run soak [-- OPTIONS]
  --minutes N     end after so many minutes, 240 by default; entries that do not come to their turn fail the run
  --only NAME     this entry; may be given more than once
  --mixed-minutes N  how long the mixed load goes on, 10 by default and ${leastMixedMinutes} at least, or growth cannot be told from chance
  --slack N       multiply the time limit of each entry by it: for a machine that others use, too; 1 by default
  --seed N        the seed of the first entry; the next ones count on. Random by default
  --report FILE   write the report there, too
  --list          name the entries and leave
  --help          this text
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '240' },
    only: { type: 'string', multiple: true, default: [] },
    'mixed-minutes': { type: 'string', default: '10' },
    slack: { type: 'string', default: '1' },
    seed: { type: 'string' },
    report: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface EntryReport {
  name: string;
  result: 'passed' | 'failed' | 'over_time' | 'not_run';
  /** How its process ended: an exit code, or the signal that ended it, such as SIGSEGV. */
  ended: number | string | null;
  seconds: number;
  seed: number;
  /** What the entry sets in its environment, as it was in this run: the environment of the run goes before it. */
  env: Record<string, string>;
  /** Of tests, or what a program printed; and what the tests noted. */
  counts: Record<string, unknown>;
  rare_states: RareStateCounts;
  log: string | null;
}

/** Run one entry in a process group of its own, which its time limit ends. */
async function run(entry: SoakEntry, seed: number, limitMs: number, dir: string): Promise<EntryReport> {
  const log = join(dir, `${entry.name}.log`);
  const notes = join(dir, `${entry.name}.notes`);
  const program = entry.program?.map((word) => (word === 'SEED' ? String(seed) : word));
  const args =
    program === undefined
      ? [join('scripts', 'run-tests.mjs'), ...(entry.files ?? [])]
      : ['--import', './scripts/tsx-in-threads.mjs', ...program];
  const env = Object.fromEntries(
    Object.entries(entry.env ?? {}).map(([variable, value]) => [variable, process.env[variable] ?? value]),
  );
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...env,
      READBACK_PRIORITIES: 'own', // as people run it: what yields is part of what is measured
      READBACK_TEST_SEED: String(seed),
      READBACK_SOAK_MINUTES: values['mixed-minutes'],
      READBACK_SOAK_NOTES: notes,
    },
  });
  let overTime = false;
  const limit = setTimeout(() => {
    overTime = true;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, limitMs);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const written = pipeline(child.stderr, createWriteStream(`${log}.stderr`));
  await once(child, 'close');
  await written;
  clearTimeout(limit);
  writeFileSync(log, output);
  const told = notesIn(notes);
  return {
    name: entry.name,
    result: overTime ? 'over_time' : child.exitCode === 0 ? 'passed' : 'failed',
    ended: child.exitCode ?? child.signalCode,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    seed,
    env,
    counts: { ...(program === undefined ? testCounts(output) : printed(output)), ...told.counts },
    rare_states: told.rare,
    log,
  };
}

function testCounts(output: string): Record<string, number> {
  const [, passed, failed, skipped] = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(output) ?? [];
  return { passed: Number(passed ?? 0), failed: Number(failed ?? 0), skipped: Number(skipped ?? 0) };
}

/** The JSON that a program printed at last, where it did. */
function printed(output: string): Record<string, unknown> {
  try {
    return { printed: JSON.parse(output.slice(output.indexOf('{'))) };
  } catch {
    return { printed: null };
  }
}

function notesIn(file: string): { counts: Record<string, number | string>; rare: RareStateCounts } {
  const counts: Record<string, number | string> = {};
  const rare: RareStateCounts = {};
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  for (const told of lines.map((line): Note => JSON.parse(line))) {
    if ('counts' in told) Object.assign(counts, told.counts);
    else for (const state of rareStates) rare[state] = (rare[state] ?? 0) + (told.rare[state] ?? 0);
  }
  return { counts, rare };
}

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (values.list) {
    for (const { name, limitMinutes, shows } of soakEntries) {
      process.stdout.write(`${name.padEnd(22)} ${String(limitMinutes).padStart(3)} min  ${shows}\n`);
    }
    return 0;
  }
  const unknown = values.only.filter((name) => soakEntries.every((entry) => entry.name !== name));
  if (unknown.length > 0) {
    process.stderr.write(`there is no ${unknown.join(', ')}; --list names what there is\n`);
    return 2;
  }
  if (!(Number(values['mixed-minutes']) >= leastMixedMinutes)) {
    process.stderr.write(`--mixed-minutes takes a number from ${leastMixedMinutes} on\n`);
    return 2;
  }
  const isWhole = values.only.length === 0;
  const chosen = soakEntries.filter(({ name }) => isWhole || values.only.includes(name));
  const firstSeed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const slack = Number(values.slack);
  const dir = mkdtempSync(join(tmpdir(), 'readback-soak-'));
  const deadline = performance.now() + Number(values.minutes) * 60_000;
  const entries: EntryReport[] = [];
  for (const [at, entry] of chosen.entries()) {
    const seed = firstSeed + at;
    const left = deadline - performance.now();
    if (left <= 0) {
      const nothing = { ended: null, seconds: 0, seed, env: {}, counts: {}, rare_states: {}, log: null };
      entries.push({ name: entry.name, result: 'not_run', ...nothing });
      continue;
    }
    process.stderr.write(`${entry.name}: seed ${seed} …\n`);
    const report = await run(entry, seed, Math.min(left, entry.limitMinutes * 60_000 * slack), dir);
    process.stderr.write(`${entry.name}: ${report.result} after ${report.seconds} s\n`);
    entries.push(report);
  }
  const rare = Object.fromEntries(
    rareStates.map((state) => [state, entries.reduce((sum, each) => sum + (each.rare_states[state] ?? 0), 0)]),
  );
  const never = rareStates.filter((state) => rare[state] === 0);
  const passed = entries.every(({ result }) => result === 'passed') && (!isWhole || never.length === 0);
  const report = {
    soak: 'readback',
    passed,
    whole: isWhole,
    machine: describeMachine(),
    seed: firstSeed,
    slack,
    entries,
    rare_states: rare,
    rare_states_never_seen: never,
  };
  const text = `${JSON.stringify(report, null, 2)}\n`;
  process.stdout.write(text);
  if (values.report !== undefined) writeFileSync(values.report, text);
  return passed ? 0 : 1;
}

process.exitCode = await main();
