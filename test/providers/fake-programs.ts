/**
 * A folder of programs made for a test, each a script for this Node, and what they said of themselves: the arguments that each run was
 * given, one line each.
 */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Scope, temporaryFolder } from '../scope.ts';

export class FakePrograms {
  /** In the form of PATH. */
  readonly path: string;

  constructor(scope: Scope) {
    this.path = temporaryFolder(scope);
  }

  /** `body`: an ES module that may use `args`, `note` (a line that `notes` gives) and imports of its own. */
  add(name: string, body: string): string {
    const file = join(this.path, name);
    const head = [
      `#!${process.execPath}`,
      "const { appendFileSync } = require('node:fs');",
      'const args = process.argv.slice(2);',
      `const note = (text) => appendFileSync(${JSON.stringify(`${file}.notes`)}, text + '\\n');`,
      'note(JSON.stringify(args));',
    ];
    writeFileSync(file, `${head.join('\n')}\n${body}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** What the runs of a program have noted, in order. */
  notes(name: string): string[] {
    const file = join(this.path, `${name}.notes`);
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }
}

/** Whether a process goes on. One that was killed and that nobody has waited for yet, a zombie, does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false; // no such process
  }
}

/** ffmpeg as far as this service uses it: a recording of so many seconds, loud but for one second in ten. Content that starts with "no" is refused. */
export const fakeFfmpeg = (seconds: number): string => `
  const { readFileSync } = require('node:fs');
  const value = (name) => args[args.indexOf(name) + 1];
  const from = Number(value('-ss'));
  const length = Math.max(0, Math.min(Number(value('-t')), ${seconds} - from));
  if (readFileSync(value('-i').replace('file:', '')).subarray(0, 2).toString() === 'no') {
    process.stderr.write('Invalid data found when processing input');
    process.exit(1);
  }
  const samples = new Int16Array(Math.round(length * 16000));
  for (let i = 0; i < samples.length; i++) samples[i] = Math.floor(from + i / 16000) % 10 === 5 ? 0 : 1000;
  process.stdout.write(Buffer.from(samples.buffer));
`;
