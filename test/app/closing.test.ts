import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSettings } from '../../src/settings/read-settings.ts';
import { openDataFolder } from '../../src/store/data-folder.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { keptLog } from '../actors/quiet-log.ts';
import { temporaryFolder } from '../scope.ts';
import { compiled } from './compiled.ts';
import { WholeSystem } from './whole-system.ts';

const { startApp }: typeof import('../../src/app.ts') = await compiled('app');

test('whoever asks for the end while the system closes waits until it has let go of the data folder', async (t) => {
  const home = temporaryFolder(t);
  const settings = readSettings({
    SERVICE_DATA_DIR: join(home, 'data'),
    SERVICE_AUTH_TOKEN: 'closing-token',
  });
  const app = await startApp({ settings, log: keptLog().log, metrics: createMetrics() });
  assert.throws(() => openDataFolder(settings.data_dir, 'too early'), { code: 'data_folder' });
  const closed = app.close();
  await app.close();
  openDataFolder(settings.data_dir, 'next').release();
  await closed;
});

test('temporary files that a killed process left are removed when the library is opened', async (t) => {
  const system = await WholeSystem.start(t);
  await system.stop();
  const left = ['recordings/r-left', 'yt-dlp/run-abc'].map((name) => join(system.dataDir, 'tmp', name));
  for (const folder of left) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'file'), 'secret');
  }
  await system.start();
  assert.deepEqual(left.map(existsSync), [false, false]);
});
