/** The rehearsal of an upgrade (`npm run bench -- upgrade`), with few pages and a tiny encoder. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { patienceMs, patientSettings } from '../../test/process/service.ts';

const root = join(import.meta.dirname, '../..');
const pages = 200;

test('an upgrade serves words at once, fills the vectors, and can be taken back from a backup', () => {
  const command = ['--import', './scripts/tsx-in-threads.mjs', 'bench/upgrade.ts'];
  const given = ['--pages', String(pages), '--fill-s', String(patienceMs / 1000)];
  const env = { ...process.env, ...patientSettings };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...command, ...given], {
    ...{ cwd: root, env, encoding: 'utf8', timeout: 2 * patienceMs },
  });
  assert.equal(status, 0, stderr);
  const { passages, disk_mb, seconds, back } = JSON.parse(stdout);
  assert.ok(passages >= pages);
  assert.ok(seconds.words_serve > 0 && seconds.filled > 0 && seconds.restore > 0);
  assert.ok(disk_mb.before > 0 && disk_mb.most_while_filling >= disk_mb.before);
  assert.deepEqual(back, { active_model: 'local-wink-384', pages });
});
