/** Backups that a running service is asked for: they are made beside it, and restore as those of the command do. */

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBackups } from '../../src/composition/backups.ts';
import { defaultLibrary } from '../../src/domain/access.ts';
import type { BackupListResponse, NewBackupResponse } from '../../src/domain/admin.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { takeFolderLock } from '../../src/store/folder-lock.ts';
import { keptLog } from '../actors/quiet-log.ts';
import { CliHere } from '../cli/run-cli.ts';
import { type Scope, temporaryFolder } from '../scope.ts';
import { RunningService, token, withoutModel } from './service.ts';

test('a backup is made beside the running service, listed, and restores elsewhere', async (t) => {
  const service = await RunningService.start(t, withoutModel);
  const page = { url: 'https://a.example/', title: 'Herons', body_extracted: 'Herons wade in shallow water.' };
  await service.add(page);
  const before = await service.call<BackupListResponse>('GET', '/v1/admin/backups');
  const dir = `${service.dataDir}-backups`;
  assert.deepEqual(before.body, { dir, backups: [], running: false });
  // At once, over connections that are open, so that one is not made before the other is asked for.
  await Promise.all([1, 2].map(() => service.call('GET', '/v1/admin/backups')));
  const [made, other] = await Promise.all([
    service.call<NewBackupResponse>('POST', '/v1/admin/backups'),
    service.call<{ detail: string }>('POST', '/v1/admin/backups'),
  ]);
  const [done, refused] = made.status === 201 ? [made, other] : [other as unknown as typeof made, made];
  assert.deepEqual([done.status, refused.status], [201, 409]);
  assert.ok(done.body.dir.startsWith(dir));
  assert.equal(done.body.pages, 1);
  const after = await service.call<BackupListResponse>('GET', '/v1/admin/backups');
  const { removed, ...shown } = done.body;
  assert.deepEqual([after.body, removed], [{ dir, backups: [shown], running: false }, []]);
  await service.stop();
  const home = join(service.home, 'elsewhere');
  mkdirSync(home);
  const cli = new CliHere(home, { SERVICE_AUTH_TOKEN: token });
  const restored = await cli.json<{ pages: number }>(['restore', done.body.dir]);
  assert.equal(restored.pages, 1);
  assert.ok(!existsSync(join(home, 'data', 'access.json')));
});

/** What makes backups, over a store that no service has open. `usedBytes`: what the store takes. */
async function backupsOf(t: Scope, env: Record<string, string> = {}, usedBytes = 0) {
  const home = temporaryFolder(t);
  await new CliHere(home).json(['import', '-'], 0, { input: 'https://a.example/\n' });
  const open = (more: Record<string, string> = {}) =>
    openBackups(readSettings({ SERVICE_DATA_DIR: join(home, 'data'), SERVICE_AUTH_TOKEN: token, ...env, ...more }), {
      storeBytes: async () => usedBytes,
      log: keptLog().log,
      now: Date.now,
    });
  return { home, dir: join(home, 'data-backups'), open };
}

test('a backup that cannot be made is answered with the reason, and is not listed', async (t) => {
  const { home, open } = await backupsOf(t);
  const file = join(home, 'no folder');
  writeFileSync(file, '');
  const backups = open({ SERVICE_BACKUP__DIR: join(file, 'backups') });
  await assert.rejects(backups.make(defaultLibrary), {
    code: 'store_unavailable',
    message: /^the backup could not be made: ENOTDIR/,
  });
  const list = await backups.list(defaultLibrary);
  assert.deepEqual([list.backups, list.running], [[], false]);
});

test('a new backup deletes the oldest above backup.keep, and what is not finished, but nothing that is used or is no backup of this store', async (t) => {
  const { dir, open } = await backupsOf(t, { SERVICE_BACKUP__KEEP: '2' });
  const { make } = open();
  const [first, second] = [await make(defaultLibrary), await make(defaultLibrary)];
  assert.deepEqual([first.removed, second.removed], [[], []]);

  const planted = (day: string, fill: (path: string) => void) => {
    const path = join(dir, `${day}T00-00-00.000Z`);
    mkdirSync(path);
    fill(path);
    return path;
  };
  const unfinished = planted('2001-01-01', (path) => mkdirSync(join(path, 'store-partial')));
  const ofOthers = planted('2001-01-02', (path) => writeFileSync(join(path, 'diary.txt'), 'dear diary'));
  const copyOf = (changes: object) => (path: string) => {
    cpSync(first.dir, path, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8'));
    writeFileSync(join(path, 'backup.json'), JSON.stringify({ ...manifest, ...changes }));
  };
  const ofAnotherStore = planted('2001-01-03', copyOf({ store_id: 'another' }));
  const byAWrongClock = planted('2999-01-01', copyOf({ taken_at: '2999-01-01T00:00:00.000Z' }));
  const lock = takeFolderLock(first.dir, 'as a process that restores from it');
  assert.ok('release' in lock);
  const third = await make(defaultLibrary);
  assert.deepEqual(third.removed, [byAWrongClock, unfinished]);
  lock.release();
  const fourth = await make(defaultLibrary);
  assert.deepEqual(fourth.removed, [second.dir, first.dir]);
  const paths = [ofOthers, ofAnotherStore, third.dir, fourth.dir];
  assert.deepEqual(
    readdirSync(dir)
      .map((name) => join(dir, name))
      .sort(),
    paths.sort(),
  );
});

test('older backups are deleted until store and backups fit in storage.max_bytes, and the newest one stays in any case', async (t) => {
  const usedBytes = 50_000;
  const { open } = await backupsOf(t, {}, usedBytes);
  const [first, second] = [await open().make(defaultLibrary), await open().make(defaultLibrary)];
  const oneFits = usedBytes + Math.floor(1.9 * first.bytes);
  const third = await open({ SERVICE_STORAGE__MAX_BYTES: String(oneFits) }).make(defaultLibrary);
  assert.deepEqual(third.removed, [second.dir, first.dir]);
  const full = open({ SERVICE_STORAGE__MAX_BYTES: String(usedBytes) });
  const fourth = await full.make(defaultLibrary);
  assert.deepEqual(fourth.removed, [third.dir]);
  const { backups } = await full.list(defaultLibrary);
  assert.deepEqual(
    backups.map(({ dir }) => dir),
    [fourth.dir],
  );
});
