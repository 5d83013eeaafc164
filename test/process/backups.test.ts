/** Backups that a running service is asked for: they are made beside it, and restore as those of the command do. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BackupListResponse, BackupResponse } from '../../src/domain/backup.ts';
import { Cli } from '../cli/run-cli.ts';
import { RunningService, token, withoutEntities } from './service.ts';

test('a backup is made beside the running service, listed, and restores elsewhere', async (t) => {
  const service = await RunningService.start(t, withoutEntities);
  const page = { url: 'https://a.example/', title: 'Herons', body_extracted: 'Herons wade in shallow water.' };
  const { body: added } = await service.call<{ page_id: string }>('POST', '/v1/pages', page);
  await service.settled([added.page_id]);
  const before = await service.call<BackupListResponse>('GET', '/v1/admin/backups');
  const dir = `${service.dataDir}-backups`;
  assert.deepEqual(before.body, { dir, backups: [], running: false });
  // At once, over connections that are open, so that one is not made before the other is asked for.
  await Promise.all([1, 2].map(() => service.call('GET', '/v1/admin/backups')));
  const [made, other] = await Promise.all([
    service.call<BackupResponse>('POST', '/v1/admin/backups'),
    service.call<{ detail: string }>('POST', '/v1/admin/backups'),
  ]);
  const [done, refused] = made.status === 201 ? [made, other] : [other as unknown as typeof made, made];
  assert.deepEqual([done.status, refused.status], [201, 409]);
  assert.ok(done.body.dir.startsWith(dir));
  assert.equal(done.body.pages, 1);
  const after = await service.call<BackupListResponse>('GET', '/v1/admin/backups');
  assert.deepEqual(after.body, { dir, backups: [done.body], running: false });
  await service.stop();
  const home = join(service.home, 'elsewhere');
  mkdirSync(home);
  const cli = new Cli(home, { SERVICE_AUTH_TOKEN: token });
  const restored = await cli.json<{ pages: number }>(['restore', done.body.dir]);
  assert.equal(restored.pages, 1);
  assert.ok(!existsSync(join(home, 'data', 'access.json')));
});

test('a backup that cannot be made is answered with the reason, and is not listed', async (t) => {
  const service = RunningService.prepare(t, withoutEntities);
  const file = join(service.home, 'no folder');
  writeFileSync(file, '');
  await service.start({ SERVICE_BACKUP__DIR: join(file, 'backups') });
  const { status, body } = await service.call<{ detail: string }>('POST', '/v1/admin/backups');
  assert.equal(status, 503);
  assert.match(body.detail, /^the backup could not be made: ENOTDIR/);
  const list = await service.call<BackupListResponse>('GET', '/v1/admin/backups');
  assert.deepEqual([list.body.backups, list.body.running], [[], false]);
});
