/** Other programs and what they leave behind. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { runProgram } from '../../src/providers/run-program.ts';
import { temporaryFolder } from '../scope.ts';

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
  const cwd = temporaryFolder(t);
  const child = `
    setTimeout(() => process.stdout.write(', late', () => require('node:fs').writeFileSync('said', String(process.pid))), 100);
    setTimeout(() => {}, 600_000);`;
  const script = `
    const { spawn } = require('node:child_process');
    spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] }).unref();
    process.stdout.write('early', () => process.exit(0));`;
  const ran = runScript(cwd, script);
  // Its end is known, mostly; then nothing is done here until the child has spoken and the time is over.
  await delay(300);
  const said = join(cwd, 'said');
  for (const began = performance.now(); performance.now() - began < 1500 || !existsSync(said); )
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  const { output } = await ran;
  process.kill(Number(readFileSync(said, 'utf8')), 'SIGKILL');
  assert.equal(Buffer.from(output).toString(), 'early, late');
});
