import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeBackup, removeBackup, restoreBackup } from '../../src/store/backup.ts';
import { TemporaryStore } from './temporary-store.ts';

for (const code of ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']) {
  test(`on a disk whose hard links fail with ${code} backups are made, restored and removed`, async (t) => {
    await using temporary = await TemporaryStore.open();
    const refuse = () => {
      throw Object.assign(new Error('no hard links here'), { code });
    };
    const mocked = t.mock.method(fs, 'linkSync', refuse as never);
    syncBuiltinESMExports();
    try {
      const now = () => 5;
      const [target, elsewhere] = ['backup', 'elsewhere'].map((name) => join(temporary.path, name));
      const made = await makeBackup({ dataDir: temporary.path, target, now, version: '1' });
      assert.deepEqual(fs.readdirSync(join(target, 'store')), ['data.mdb']);
      fs.mkdirSync(elsewhere);
      const options = { backup: target, dataDir: elsewhere, replace: false, newStoreId: () => 'another', now };
      assert.equal((await restoreBackup(options)).sha256, made.sha256);
      assert.equal(await removeBackup(target), true);
      assert.equal(fs.existsSync(target), false);
      assert.ok(mocked.mock.callCount() > 0);
    } finally {
      mocked.mock.restore();
      syncBuiltinESMExports();
    }
  });
}
