/** Damage inside the store's file is told by name, by the service and by every command; a backup mends it. */
import assert from 'node:assert/strict';
import { copyFileSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { RunningService, withoutModel } from '../process/service.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import { Cli, CliHere } from './run-cli.ts';

const pages = 100;
const pageBytes = 4096;
/** Pages of the file that are overwritten, one store each: `READBACK_TEST_SMASHES` in the environment; 20 in `npm run soak -- --only damage`. */
const smashes = Number(process.env.READBACK_TEST_SMASHES ?? 2);

interface Prepared {
  service: RunningService;
  cli: Cli;
  data: string;
  /** A sound copy of the store's file. */
  sound: string;
  backup: string;
}

let prepared: Prepared;
const scope = newestFirst({ after });
/** A stopped service with pages in its store and in its index, and a backup of it. */
before(async () => {
  const home = temporaryFolder(scope);
  const service = await RunningService.start(scope, withoutModel);
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
    pages: Array.from({ length: pages }, (_, no) => ({
      url: `https://notes.example/${no}`,
      body_extracted: `Notes number ${no} on tides, bread and steam governors. `.repeat(1 + (no % 300)),
    })),
  });
  await service.settled(body.results.map(({ page_id }) => page_id));
  await service.stop();
  const cli = new Cli(home, { SERVICE_DATA_DIR: service.dataDir });
  const backup = join(home, 'backup');
  await new CliHere(home, cli.env).json(['backup', backup]);
  const data = join(service.dataDir, 'store', 'data.mdb');
  const sound = join(home, 'sound.mdb');
  copyFileSync(data, sound);
  prepared = { service, cli, data, sound, backup };
});

/** Bytes that nobody would write, the same for the same seed. */
function noise(bytes: number, seed: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let state = seed + 1;
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    buffer[at] = state >>> 24;
  }
  return buffer;
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  writeSync(openSync(path, 'r+'), bytes, 0, bytes.length, at);
}

function cutInHalf(data: string): void {
  truncateSync(data, Math.floor(statSync(data).size / 2 / pageBytes) * pageBytes);
}

test('of a store that lost its second half a start and a command say so and leave it as it is; restore mends it', async () => {
  const { service, cli, data, backup } = prepared;
  cutInHalf(data);
  const { size } = statSync(data);
  const { code, signal, stdout, stderr } = await service.attempt();
  assert.deepEqual([code, signal, stdout], [6, null, ''], stderr);
  assert.match(
    stderr,
    /^the store's file .* is damaged: .*\. `readback restore --replace` replaces it with a backup\n$/,
  );
  assert.equal((await cli.run(['status'])).code, 6);
  assert.equal(statSync(data).size, size, 'no byte was added or taken');
  await cli.json(['restore', backup, '--replace']);
  assert.equal((await cli.json<{ store: { pages: number } }>(['status'], 3)).store.pages, pages);
});

test('every command that opens a damaged store says so', async (t) => {
  const home = temporaryFolder(t);
  const cli = new Cli(home);
  const input = Array.from({ length: 200 }, (_, no) => `https://one.example/${no}`).join('\n');
  await new CliHere(home).json(['import', '-'], 0, { input });
  cutInHalf(join(cli.env.SERVICE_DATA_DIR, 'store', 'data.mdb'));
  const commands = [['fsck'], ['export', '-'], ['backup', join(home, 'backup')]];
  for (const command of [...commands, ['import', '--offline', '-']]) {
    const { code, stderr } = await cli.run(command, { input: 'https://two.example/\n' });
    assert.equal(code, 6, `${command[0]}: ${stderr}`);
    assert.match(stderr, /is damaged/);
  }
  const doctor = await cli.json<{ checks: { name: string; detail: string }[] }>(['doctor'], 1);
  for (const part of ['store', 'index']) {
    assert.match(doctor.checks.find(({ name }) => name === part)?.detail ?? '', /is damaged/);
  }
});

test('an empty file where a store once was closed in order is no new store, though nothing is in the index', async (t) => {
  const home = temporaryFolder(t);
  const cli = new CliHere(home);
  await cli.json(['import', '-'], 0, { input: 'https://one.example/\n' });
  truncateSync(join(cli.env.SERVICE_DATA_DIR, 'store', 'data.mdb'), 0);
  const { code, stderr } = await cli.run(['import', '-'], { input: 'https://two.example/\n' });
  assert.equal(code, 6, stderr);
  assert.match(stderr, /data\.mdb is damaged: it is empty/);
});

test('whatever page of the file is overwritten, no command dies of it', async (t) => {
  const { cli, data, sound } = prepared;
  const all = statSync(sound).size / pageBytes;
  const codes = new Map<number | null, number>();
  for (let seed = 0; seed < smashes; seed++) {
    copyFileSync(sound, data);
    overwrite(data, (2 + (noise(4, seed).readUInt32LE() % (all - 2))) * pageBytes, noise(pageBytes, seed));
    const { code, stderr } = await cli.run(['fsck']);
    assert.ok(code === 0 || code === 1 || code === 6, `seed ${seed} ended with ${code}: ${stderr}`);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  t.diagnostic(`exit codes of fsck: ${[...codes].map(([code, count]) => `${count} × ${code}`).join(', ')}`);
});
