/** Other programs and what they leave behind. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram } from '../../src/providers/run-program.ts';
import { temporaryFolder } from '../scope.ts';

test('what has left the group of a program and holds its output open is not waited for', async (t) => {
  const cwd = temporaryFolder(t);
  const script = `
    const { spawn } = require('node:child_process');
    const left = spawn('sleep', ['600'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
    require('node:fs').writeFileSync('left', String(left.pid));
    process.stdout.write('said', () => process.exit(3));`;
  const { output, ended } = await runProgram({
    program: process.execPath,
    args: ['-e', script],
    env: { PATH: process.env.PATH ?? '' },
    cwd,
    maxOutputBytes: 100,
    signal: new AbortController().signal,
  });
  process.kill(Number(readFileSync(join(cwd, 'left'), 'utf8')), 'SIGKILL');
  assert.deepEqual([Buffer.from(output).toString(), ended], ['said', 3]);
});
