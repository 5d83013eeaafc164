/** A store that is written while another process opens it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { programFile } from '../../src/files/program-files.ts';
import { compilePreload } from '../reliability/preload-library.ts';
import { TemporaryStore } from './temporary-store.ts';

const lookProcess = fileURLToPath(programFile('store/look-process'));
const compiled = compilePreload(join(import.meta.dirname, 'slow-reader.c'));

/** A process that opens the store, and waits half way until it may go on. */
async function openingBeside(storeDir: string, { library, dir }: { library: string; dir: string }) {
  const child = spawn(process.execPath, [lookProcess, 'open', storeDir], {
    stdio: 'ignore',
    env: { ...process.env, LD_PRELOAD: library, WAIT_DIR: dir },
  });
  const ended = once(child, 'close');
  while (!existsSync(join(dir, 'waiting'))) {
    assert.equal(child.exitCode, null, 'it waits before it ends');
    await delay(10);
  }
  return async () => {
    writeFileSync(join(dir, 'go'), '');
    assert.deepEqual(await ended, [0, null]);
    for (const name of ['waiting', 'go']) rmSync(join(dir, name));
  };
}

test('no commit is lost to another process that opens the store meanwhile, however many fall into it', {
  skip: typeof compiled === 'string' && compiled,
}, async (t) => {
  assert.ok(typeof compiled !== 'string');
  t.after(() => rmSync(compiled.dir, { recursive: true }));
  await using temporary = await TemporaryStore.open();
  const take = () => temporary.store.commit(({ counters }) => counters.take('page'));
  let last = await take();
  for (const commits of [1, 2, 3]) {
    const letGoOn = await openingBeside(join(temporary.path, 'store'), compiled);
    for (let no = 0; no < commits; no++) assert.equal(await take(), ++last);
    await letGoOn();
    assert.equal(await take(), ++last, `the next commit after ${commits} of them`);
  }
  await temporary.reopen();
  assert.equal(temporary.reader.counters.peek('page'), last + 1);
});
