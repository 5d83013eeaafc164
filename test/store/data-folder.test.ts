import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isOperatorError } from '../../src/domain/errors.ts';
import { openDataFolder } from '../../src/store/data-folder.ts';

async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'readback-folder-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const holder = fileURLToPath(new URL('./hold-data-folder.ts', import.meta.url));

/** Start a process that opens the folder, at a given time if need be; resolves with what it says. */
async function openElsewhere(path: string, startAt = 0): Promise<{ process: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', holder, path, String(startAt)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [said] = await once(createInterface({ input: child.stdout }), 'line');
  return { process: child, said };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

const refusal = (message: RegExp) => (error: unknown) =>
  isOperatorError(error, 'data_folder') && message.test(error.message) && !error.message.includes('\n');

test('the folder is made for its owner alone, whatever the umask, and an open one is closed to others', async () => {
  await using temporary = await temporaryFolder();
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  const umask = process.umask(0);
  try {
    const path = join(temporary.path, 'new', 'folder');
    const folder = openDataFolder(path, 'a');
    assert.equal(await mode(path), '700');
    assert.deepEqual(await readdir(path), ['lock.1']);
    assert.equal(await mode(join(path, 'lock.1')), '600');
    folder.release();
    await chmod(path, 0o755);
    openDataFolder(path, 'b').release();
    assert.equal(await mode(path), '700');
  } finally {
    process.umask(umask);
  }
});

test('a second holder is refused in one line that names the first; after release the folder is free', async () => {
  await using temporary = await temporaryFolder();
  const folder = openDataFolder(temporary.path, 'a');
  const refused = refusal(new RegExp(`^another readback \\(process ${process.pid}\\) is using ${temporary.path}$`));
  assert.throws(() => openDataFolder(temporary.path, 'b'), refused);
  assert.throws(() => openDataFolder(temporary.path, 'c'), refused);
  folder.release();
  openDataFolder(temporary.path, 'd').release();
  openDataFolder(temporary.path, 'e').release();
});

test('release lets go of no lock but its own', async () => {
  await using temporary = await temporaryFolder();
  const first = openDataFolder(temporary.path, 'a');
  first.release();
  const second = openDataFolder(temporary.path, 'b');
  first.release();
  assert.throws(() => openDataFolder(temporary.path, 'c'), { code: 'data_folder' });
  second.release();
});

test('a holder finds out that another, which did not see it, has the folder now', async () => {
  await using temporary = await temporaryFolder();
  const first = openDataFolder(temporary.path, 'a');
  assert.equal(first.isLost(), false);
  await rm(join(temporary.path, 'lock.1'));
  assert.equal(first.isLost(), false, 'nobody else has it');
  const second = openDataFolder(temporary.path, 'b');
  assert.deepEqual([first.isLost(), second.isLost()], [true, false]);
  first.release();
  assert.equal(second.isLost(), false);
});

test('the lock of a killed process is taken over; that of a living one is not', async () => {
  await using temporary = await temporaryFolder();
  const { process: child, said } = await openElsewhere(temporary.path);
  assert.equal(said, 'open');
  assert.throws(() => openDataFolder(temporary.path, 'a'), refusal(new RegExp(`process ${child.pid}\\)`)));
  await end(child, 'SIGKILL');
  const folder = openDataFolder(temporary.path, 'b');
  assert.throws(() => openDataFolder(temporary.path, 'c'), { code: 'data_folder' });
  folder.release();
});

test('of many processes that come at once, after one was killed, exactly one gets the folder', async () => {
  await using temporary = await temporaryFolder();
  const killed = await openElsewhere(temporary.path);
  await end(killed.process, 'SIGKILL');
  const startAt = Date.now() + 2500;
  const others = await Promise.all(Array.from({ length: 8 }, () => openElsewhere(temporary.path, startAt)));
  const winners = others.filter(({ said }) => said === 'open');
  await Promise.all(others.map(({ process: child }) => end(child, 'SIGKILL')));
  assert.equal(winners.length, 1);
  const refused = /^OperatorError: (another readback .* is using|the lock .* could not be taken)/;
  for (const { said } of others) if (said !== 'open') assert.match(said, refused);
});

/** Run `work`; before its file system call number n, `others[n]` runs. Tells how many calls there were. On a full disk no file can be written. */
function interleaved(work: () => void, others: Record<number, () => void>, isDiskFull: boolean): number {
  const names = [
    'linkSync',
    'renameSync',
    'rmSync',
    'readFileSync',
    'writeFileSync',
    'readdirSync',
    'lstatSync',
    'symlinkSync',
    'readlinkSync',
  ] as const;
  const originals = Object.fromEntries(names.map((name) => [name, fs[name]]));
  let calls = 0;
  let inside = false;
  for (const name of names) {
    const original = originals[name] as (...args: unknown[]) => unknown;
    const wrapped = (...args: unknown[]) => {
      if (!inside) {
        inside = true;
        others[++calls]?.();
        inside = false;
      }
      if (isDiskFull && name === 'writeFileSync') throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return original(...args);
    };
    Object.assign(fs, { [name]: wrapped });
  }
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    Object.assign(fs, originals);
    syncBuiltinESMExports();
  }
  return calls;
}

for (const isDiskFull of [false, true])
  test(`however three starts interleave over a lock left behind${isDiskFull ? ' on a full disk' : ''}, one gets the folder`, async () => {
    for (let first = 1, calls = Infinity; first <= calls; first++) {
      for (let second = first + 1; second <= calls + 1; second++) {
        await using temporary = await temporaryFolder();
        openDataFolder(temporary.path, 'dead');
        const [lock] = await readdir(temporary.path);
        await writeFile(join(temporary.path, lock), '{"pid":1,"started":"never","nonce":"dead"}');
        const winners: string[] = [];
        const start = (name: string) => () => {
          try {
            openDataFolder(temporary.path, name);
            winners.push(name);
          } catch (error) {
            assert.ok(isOperatorError(error, 'data_folder'), String(error));
          }
        };
        calls = interleaved(start('slow'), { [first]: start('one'), [second]: start('two') }, isDiskFull);
        assert.equal(winners.length, 1, `${winners.join(' and ')}, at calls ${first} and ${second}`);
      }
    }
  });

test('a lock that nobody can have written whole is taken over', async () => {
  await using temporary = await temporaryFolder();
  openDataFolder(temporary.path, 'a').release();
  const [lock] = await readdir(temporary.path);
  for (const text of ['', '{"pid":', '{"pid":"1"}', 'null']) {
    await writeFile(join(temporary.path, lock), text);
    openDataFolder(temporary.path, 'b').release();
  }
});

test('a link and a file are refused', async () => {
  await using temporary = await temporaryFolder();
  const real = join(temporary.path, 'real');
  await mkdir(real);
  await symlink(real, join(temporary.path, 'link'));
  await writeFile(join(temporary.path, 'file'), '');
  const refused = refusal(/is not a plain folder/);
  assert.throws(() => openDataFolder(join(temporary.path, 'link'), 'a'), refused);
  assert.throws(() => openDataFolder(join(temporary.path, 'file'), 'a'), refused);
  assert.throws(() => openDataFolder(join(temporary.path, 'file', 'below'), 'a'), refusal(/cannot be created/));
  assert.deepEqual(await readdir(real), []);
});
