import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTerminal } from '../../src/cli/output.ts';
import { withStoppedStore } from '../../src/cli/stopped-folder.ts';
import { FatalError } from '../../src/domain/errors.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { openDataFolder } from '../../src/store/data-folder.ts';
import type { Transaction } from '../../src/store/store.ts';
import { temporaryFolder } from '../scope.ts';

test('a command that works on a stopped folder writes nothing more when a service has taken it that did not see the command', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const settings = readSettings({ SERVICE_DATA_DIR: dataDir, SERVICE_AUTH_TOKEN: 'stopped-token' });
  const { stdout, stderr } = process;
  const terminal = openTerminal({ stdout, stderr, colors: false, monotonic: () => 0 });
  let id = 0;
  const takeLabel = ({ counters }: Transaction) => counters.take('label');
  await withStoppedStore({ settings, terminal, newId: () => `id-${id++}` }, 'an import', async (store) => {
    assert.equal(await store.commit(takeLabel), 1);
    rmSync(join(dataDir, 'lock.1'));
    const service = openDataFolder(dataDir, 'service');
    await assert.rejects(
      store.commit(takeLabel),
      (error) => error instanceof FatalError && error.message === 'another process has taken the data folder',
    );
    assert.equal(store.reader.counters.peek('label'), 2);
    service.release();
  });
});

test('nothing is written into the copy of a library whose truth is in PostgreSQL', async (t) => {
  const { stdout, stderr } = process;
  const settings = readSettings({
    SERVICE_DATA_DIR: join(temporaryFolder(t), 'data'),
    SERVICE_CLUSTER__DATABASE_URL: 'postgresql://nobody@127.0.0.1/readback',
    SERVICE_CLUSTER__SECRET: 'of the hosts of a test',
    SERVICE_CLUSTER__ADDRESS: 'http://127.0.0.1:8000',
  });
  const terminal = openTerminal({ stdout, stderr, colors: false, monotonic: () => 0 });
  let isOpened = false;
  const open = async () => {
    isOpened = true;
  };
  assert.throws(
    () => withStoppedStore({ settings, terminal, newId: () => 'id' }, 'an import', open),
    /^Error: an import does not work in a cluster/,
  );
  assert.equal(isOpened, false);
});
