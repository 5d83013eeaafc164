/** What a start writes of models where the disk is full. */

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { installModel } from '../../src/commands/install-model.ts';
import { renewModels } from '../../src/composition/first-model.ts';
import { traitsOf } from '../../src/compute/embedding/local-model.ts';
import { isOperatorError } from '../../src/domain/errors.ts';
import { Store } from '../../src/store/store.ts';
import { SmallDisk } from '../reliability/small-disk.ts';

const policy = { at: 1, max_attempts: 5 };
const log = pino({ level: 'silent' });

test('models of another version are renewed as soon as there is room, and until then a line says how much is needed', async (t) => {
  const disk = SmallDisk.mount(16);
  if (typeof disk === 'string') return t.skip(disk);
  t.after(() => disk.unmount());
  const path = join(disk.path, 'data');
  mkdirSync(path);
  const store = await Store.open(path, () => 'store-1');
  t.after(() => store.close());
  const named = { provider: 'local', model_name: 'wink', dim: 100, max_input_tokens: 512 };
  await store.commit(installModel({ id: 'small', ...named, ...traitsOf(named) }, policy));
  const models = () => store.reader.models.all().map(({ version, space }) => ({ version, space }));
  const [{ version, space }] = models();
  disk.fill();
  await renewModels(store, path, policy, log); // nothing to do

  disk.clear();
  await store.commit(({ models }) => models.put({ ...models.all()[0], version: 0 }));
  disk.fill();
  await assert.rejects(renewModels(store, path, policy, log), (error) => {
    assert.ok(isOperatorError(error, 'disk_full'));
    assert.match(
      error.message,
      /data is full: 524288 bytes are needed to bring the store to this version, 0 are free$/,
    );
    return true;
  });
  assert.deepEqual(models(), [{ version: 0, space }]);

  disk.clear();
  await renewModels(store, path, policy, log);
  assert.deepEqual(models(), [{ version, space: space + 1 }]);
});
