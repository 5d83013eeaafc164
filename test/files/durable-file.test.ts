import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFile, replaceFile } from '../../src/files/durable-file.ts';
import { temporaryFolder } from '../scope.ts';

for (const put of [createFile, replaceFile]) {
  test(`${put.name}: a file that cannot be brought to the disk leaves nothing, and the next try succeeds`, async (t) => {
    const dir = temporaryFolder(t);
    const [path, temporary] = [join(dir, 'file'), join(dir, 'own.new')];
    // What is not there can be opened for fsync as little as what the disk refuses.
    const lost = put(path, async (written) => rmSync(written, { force: true }), temporary);
    await assert.rejects(lost, { code: 'ENOENT' });
    assert.deepEqual(readdirSync(dir), []);
    assert.equal(await put(path, (written) => writeFile(written, 'text').then(() => 4), temporary), 4);
    assert.deepEqual(readdirSync(dir), ['file']);
    assert.equal(readFileSync(path, 'utf8'), 'text');
  });
}

test('createFile: a file that is there stays as it is, and replaceFile puts another in its place', async (t) => {
  const dir = temporaryFolder(t);
  const [path, temporary] = [join(dir, 'file'), join(dir, 'own.new')];
  writeFileSync(path, 'first');
  const write = (written: string) => writeFile(written, 'second');
  await assert.rejects(createFile(path, write, temporary), { code: 'EEXIST' });
  assert.equal(readFileSync(path, 'utf8'), 'first');
  await replaceFile(path, write, temporary);
  assert.equal(readFileSync(path, 'utf8'), 'second');
  assert.deepEqual(readdirSync(dir), ['file']);
});
