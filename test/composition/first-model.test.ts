/** The model that a library begins with, and what a start writes of models where the disk is full. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { installModel } from '../../src/commands/manage-models.ts';
import { ensureActiveModel, renewModels } from '../../src/composition/open-library.ts';
import { isOperatorError } from '../../src/domain/errors.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { Store } from '../../src/store/store.ts';
import { keptLog } from '../actors/quiet-log.ts';
import { SmallDisk } from '../reliability/small-disk.ts';
import { temporaryFolder } from '../scope.ts';

const policy = { at: 1, max_attempts: 5, max_input_tokens: 512 };
const log = pino({ level: 'silent' });

test('a length that a known model does not give is told at the first start', async (t) => {
  const store = await Store.open(temporaryFolder(t), () => 'store-1');
  t.after(() => store.close());
  const settings = readSettings({
    SERVICE_AUTH_TOKEN: 'a-token-of-this-test',
    SERVICE_EMBEDDER__PROVIDER: 'ollama',
    SERVICE_EMBEDDER__MODEL: 'nomic-embed-text:latest',
    SERVICE_EMBEDDER__DIM: '1024',
    SERVICE_EMBEDDER__BASE_URL: 'http://127.0.0.1:11434/v1',
  });
  const { log: kept, lines } = keptLog();
  const first = await ensureActiveModel(store, settings, { now: () => 1, log: kept });
  assert.equal(first?.dim, 1024);
  assert.match(lines.map(({ msg }) => msg).join(), /^embedder\.dim: nomic gives 768 .*not 1024$/);
});

test('local models of an earlier version give way as soon as there is room, and until then a line says how much is needed', async (t) => {
  const disk = SmallDisk.mount(16);
  if (typeof disk === 'string') return t.skip(disk);
  t.after(() => disk.unmount());
  const path = join(disk.path, 'data');
  mkdirSync(path);
  const store = await Store.open(path, () => 'store-1');
  t.after(() => store.close());
  const named = { provider: 'local', model_name: 'wink', dim: 100, max_input_tokens: 512 };
  await store.commit(installModel({ id: 'small', ...named, floor: null }, policy));
  const models = () => store.reader.models.all().map(({ id, space }) => ({ id, space }));
  const [{ space }] = models();
  disk.fill();
  await assert.rejects(renewModels(store, path, policy, log), (error) => {
    assert.ok(isOperatorError(error, 'disk_full'));
    assert.match(error.message, /data is full: 524288 bytes are needed to upgrade the store, 0 are free$/);
    return true;
  });
  assert.deepEqual(models(), [{ id: 'small', space }]);

  disk.clear();
  await renewModels(store, path, policy, log);
  assert.deepEqual(models(), [{ id: 'local-multilingual-e5-small-384', space: space + 1 }]);
});
