/** A start on a full disk: what it needs of it is told in a line before anything is made, and the lock of a used folder needs nothing. */

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isOperatorError } from '../../src/domain/errors.ts';
import { openDataFolder, requireRoomToOpen } from '../../src/store/data-folder.ts';
import { openEnvironment } from '../../src/store/environment.ts';
import { Store } from '../../src/store/store.ts';
import { SmallDisk } from '../reliability/small-disk.ts';

const kinds = ['tmpfs', 'ext4'] as const;

/** A disk for this test, which is skipped where there is none. */
function diskFor(t: TestContext, kind: (typeof kinds)[number], megabytes = 16): SmallDisk | null {
  const disk = SmallDisk.mount(megabytes, kind);
  if (typeof disk === 'string') {
    t.skip(disk);
    return null;
  }
  t.after(() => disk.unmount());
  return disk;
}

const isFull = (needs: RegExp) => (error: unknown) =>
  isOperatorError(error, 'disk_full') && needs.test(error.message) && !error.message.includes('\n');

for (const kind of kinds) {
  test(`on a full ${kind} the folder's lock is taken, holds, is let go of and followed`, (t) => {
    const disk = diskFor(t, kind);
    if (disk === null) return;
    const path = join(disk.path, 'data');
    openDataFolder(path, 'a').release();
    for (const nonce of ['b', 'c']) {
      disk.fill();
      const folder = openDataFolder(path, nonce);
      assert.equal(folder.wasUsed, true);
      disk.fill();
      assert.throws(() => openDataFolder(path, 'other'), new RegExp(`process ${process.pid}\\) is using`));
      folder.release();
    }
    disk.clear();
    const folder = openDataFolder(path, 'd');
    assert.equal(folder.wasUsed, true);
    assert.deepEqual(readdirSync(path), ['lock.4']);
    folder.release();
  });

  test(`a full ${kind} is told by name before a store is made, and one that was open before needs no room`, async (t) => {
    const disk = diskFor(t, kind);
    if (disk === null) return;
    const path = join(disk.path, 'data');
    mkdirSync(path);
    disk.fill(512 * 1024);
    assert.throws(
      () => requireRoomToOpen(path),
      isFull(/^the disk of .*data is full: 1048576 bytes are needed to create a new store, \d+ are free$/),
    );
    assert.deepEqual(readdirSync(path), []);

    disk.clear();
    requireRoomToOpen(path);
    await (await Store.open(path, () => 'store-1')).close();
    disk.fill();
    requireRoomToOpen(path);
    const again = await Store.open(path, () => 'store-2');
    assert.equal(again.storeId, 'store-1');
    await again.close();

    rmSync(join(path, 'store', 'lock.mdb'));
    disk.fill();
    assert.throws(() => requireRoomToOpen(path), isFull(/8192 bytes are needed to open the store/));
  });

  test(`a full ${kind} is told before databases are added to the store of an older version`, async (t) => {
    const disk = diskFor(t, kind, 48); // a rewrite leaves 32 MB free
    if (disk === null) return;
    const path = join(disk.path, 'data');
    mkdirSync(path);
    const older = openEnvironment(join(path, 'store'), () => 'store-1');
    await older.openAll(() => older.openDatabase<string, string>('pages', {})).put('kept', 'row');
    await older.rewrite(); // no page is free in the file
    await older.close();
    const file = join(path, 'store', 'data.mdb');
    const before = readFileSync(file);
    disk.fill();
    requireRoomToOpen(path);
    await assert.rejects(
      () => Store.open(path, () => 'store-2'),
      isFull(/^the disk of .*data is full: 524288 bytes are needed to upgrade the store, \d+ are free$/),
    );
    assert.deepEqual(readFileSync(file), before);
    assert.deepEqual(readdirSync(path), ['store']);

    disk.clear();
    const store = await Store.open(path, () => 'store-2');
    assert.equal(store.storeId, 'store-1');
    await store.close();
    disk.fill();
    await (await Store.open(path, () => 'store-2')).close();
    const again = openEnvironment(join(path, 'store'), () => 'store-2');
    assert.equal(again.openDatabase<string, string>('pages', {}).get('kept'), 'row');
    await again.close();
  });
}
