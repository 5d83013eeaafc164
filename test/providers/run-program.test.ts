/** Other programs and what they leave behind. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram } from '../../src/providers/run-program.ts';
import { temporaryFolder } from '../scope.ts';
import { turnUntil } from '../turns.ts';

const runScript = (cwd: string, script: string) =>
  runProgram({
    program: process.execPath,
    args: ['-e', script],
    env: { PATH: process.env.PATH ?? '' },
    cwd,
    maxOutputBytes: 100,
    signal: new AbortController().signal,
  });

test('what has left the group of a program and holds its output open is not waited for', async (t) => {
  const cwd = temporaryFolder(t);
  const script = `
    const { spawn } = require('node:child_process');
    const left = spawn('sleep', ['600'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
    require('node:fs').writeFileSync('left', String(left.pid));
    process.stdout.write('said', () => process.exit(3));`;
  const { output, ended } = await runScript(cwd, script);
  process.kill(Number(readFileSync(join(cwd, 'left'), 'utf8')), 'SIGKILL');
  assert.deepEqual([Buffer.from(output).toString(), ended], ['said', 3]);
});

test('what a program’s child has said by the time that its output is let go is read, though this process stood still meanwhile', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const cwd = temporaryFolder(t);
  const [ended, asked, said] = ['ended', 'asked', 'said'].map((name) => join(cwd, name));
  const child = `
    const { existsSync, writeFileSync } = require('node:fs');
    const asking = setInterval(() => {
      if (!existsSync('asked')) return;
      clearInterval(asking);
      process.stdout.write(', late', () => writeFileSync('said', String(process.pid)));
      setTimeout(() => {}, 600_000);
    }, 10);`;
  const script = `
    const { spawn } = require('node:child_process');
    spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
    require('node:fs').writeFileSync('ended', String(process.pid));
    process.stdout.write('early', () => process.exit(0));`;
  const ran = runScript(cwd, script);
  const pid = () => (existsSync(ended) ? readFileSync(ended, 'utf8') : '');
  await turnUntil(() => pid() !== '' && !isThere(Number(pid())), 'its end is known');
  // From here on this process does nothing until the child has spoken and the time is over.
  writeFileSync(asked, '');
  while (!existsSync(said) || readFileSync(said, 'utf8') === '')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  t.mock.timers.tick(1000);
  const { output } = await ran;
  process.kill(Number(readFileSync(said, 'utf8')), 'SIGKILL');
  assert.equal(Buffer.from(output).toString(), 'early, late');
});

/** Whether a process is there; one that has ended is, until its end is known here. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
