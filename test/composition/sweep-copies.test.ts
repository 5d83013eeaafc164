import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptCopyMs, sweepCopies } from '../../src/composition/join-cluster.ts';
import { openDataFolder } from '../../src/store/data-folder.ts';
import { keptLog } from '../actors/quiet-log.ts';
import { temporaryFolder } from '../scope.ts';

test('copies that were not used for a day go, unless they are open, or still held', async (t) => {
  const dir = temporaryFolder(t);
  const day = new Date('2020-01-01');
  const later = new Date(day.getTime() + 5000);
  const now = day.getTime() + keptCopyMs + 1000;
  const held = openDataFolder(join(dir, 'closing'), 'its close has not ended');
  for (const name of ['closing', 'open', 'old', 'reopened', 'written', 'indexed']) {
    const path = join(dir, name);
    if (name !== 'closing') openDataFolder(path, 'first').release();
    mkdirSync(join(path, 'store'));
    mkdirSync(join(path, 'index'));
    const file = join(path, 'store', 'data.mdb');
    writeFileSync(file, 'rows');
    utimesSync(file, day, name === 'written' ? later : day);
    utimesSync(join(path, 'index'), day, name === 'indexed' ? later : day);
    utimesSync(path, day, day);
  }
  openDataFolder(join(dir, 'reopened'), 'second').release();
  writeFileSync(join(dir, 'no folder'), '');
  utimesSync(join(dir, 'no folder'), day, day);
  const { log, lines } = keptLog();
  const isOpen = (name: string) => name === 'open';
  assert.deepEqual(await sweepCopies(dir, { isOpen, now: day.getTime() + keptCopyMs, log }), []);
  assert.deepEqual(await sweepCopies(dir, { isOpen, now, log }), ['old'], 'what cannot go keeps no other from going');
  assert.deepEqual(
    lines.map(({ library }) => library),
    ['no folder', 'no folder'],
  );
  const kept = ['closing', 'indexed', 'no folder', 'open', 'reopened', 'written'];
  assert.deepEqual(readdirSync(dir).sort(), kept);
  held.release();
  utimesSync(join(dir, 'closing'), day, day);
  assert.deepEqual(await sweepCopies(dir, { isOpen, now, log }), ['closing']);
  assert.deepEqual(await sweepCopies(join(dir, 'none'), { isOpen, now, log }), []);
});
