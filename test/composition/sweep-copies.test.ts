import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptCopyMs, sweepCopies } from '../../src/composition/sweep-copies.ts';
import { openDataFolder } from '../../src/store/data-folder.ts';

test('copies that were not open for a day go, unless they are open', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'readback-copies-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const day = new Date('2020-01-01');
  const now = day.getTime() + keptCopyMs + 1000;
  for (const name of ['open', 'old', 'reopened']) {
    openDataFolder(join(dir, name), 'first').release();
    mkdirSync(join(dir, name, 'store'));
    utimesSync(join(dir, name), day, day);
  }
  openDataFolder(join(dir, 'reopened'), 'second').release();
  const isOpen = (name: string) => name === 'open';
  assert.deepEqual(sweepCopies(dir, { isOpen, now: day.getTime() + keptCopyMs }), []);
  assert.deepEqual(sweepCopies(dir, { isOpen, now }), ['old']);
  assert.deepEqual(readdirSync(dir).sort(), ['open', 'reopened']);
  assert.deepEqual(sweepCopies(join(dir, 'none'), { isOpen, now }), []);
});
