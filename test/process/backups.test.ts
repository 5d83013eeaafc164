/** Backups that a running service is asked for: they are made beside it, and restore as those of the command do. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BackupListResponse, DiskResponse, NewBackupResponse } from '../../src/domain/admin.ts';
import { takeFolderLock } from '../../src/store/folder-lock.ts';
import { Cli } from '../cli/run-cli.ts';
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
  const cli = new Cli(home, { SERVICE_AUTH_TOKEN: token });
  const restored = await cli.json<{ pages: number }>(['restore', done.body.dir]);
  assert.equal(restored.pages, 1);
  assert.ok(!existsSync(join(home, 'data', 'access.json')));
});

test('a backup that cannot be made is answered with the reason, and is not listed', async (t) => {
  const service = RunningService.prepare(t, withoutModel);
  const file = join(service.home, 'no folder');
  writeFileSync(file, '');
  await service.start({ SERVICE_BACKUP__DIR: join(file, 'backups') });
  const { status, body } = await service.call<{ detail: string }>('POST', '/v1/admin/backups');
  assert.equal(status, 503);
  assert.match(body.detail, /^the backup could not be made: ENOTDIR/);
  const list = await service.call<BackupListResponse>('GET', '/v1/admin/backups');
  assert.deepEqual([list.body.backups, list.body.running], [[], false]);
});

test('a new backup deletes the oldest above backup.keep, and what is not finished, but nothing that is used or is no backup of this store', async (t) => {
  const service = await RunningService.start(t, { ...withoutModel, SERVICE_BACKUP__KEEP: '2' });
  const dir = `${service.dataDir}-backups`;
  const make = async () => (await service.call<NewBackupResponse>('POST', '/v1/admin/backups')).body;
  const [first, second] = [await make(), await make()];
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
  const third = await make();
  assert.deepEqual(third.removed, [byAWrongClock, unfinished]);
  lock.release();
  const fourth = await make();
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
  const service = await RunningService.start(t, withoutModel);
  const make = () => service.call<NewBackupResponse>('POST', '/v1/admin/backups');
  const [first, second] = [(await make()).body, (await make()).body];
  const { store_used_bytes: used } = (await service.call<DiskResponse>('GET', '/v1/admin/disk')).body;
  await service.stop();

  // Room for the store, which may have grown by then, and less than two backups.
  const oneFits = used + Math.floor(1.9 * first.bytes);
  await service.start({ SERVICE_STORAGE__MAX_BYTES: String(oneFits) });
  const { status, body: third } = await make();
  assert.deepEqual([status, third.removed], [201, [second.dir, first.dir]]);
  await service.stop();

  await service.start({ SERVICE_STORAGE__MAX_BYTES: String(used) });
  const { status: made, body: fourth } = await make();
  assert.deepEqual([made, fourth.removed], [201, [third.dir]]);
  const { body: list } = await service.call<BackupListResponse>('GET', '/v1/admin/backups');
  assert.deepEqual(
    list.backups.map(({ dir }) => dir),
    [fourth.dir],
  );
});
