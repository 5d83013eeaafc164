import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSettings } from '../../src/settings/read-settings.ts';
import { compiled } from '../app/compiled.ts';
import { library, WholeSystem, withEntities } from '../app/whole-system.ts';

const { runFsck }: typeof import('../../src/fsck/run-fsck.ts') = await compiled('fsck/run-fsck');

test('a repair builds faulty files of every part of the index again, and a sound folder is left alone', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  await system.read(library);
  await system.stop();
  const settings = readSettings({
    SERVICE_DATA_DIR: system.dataDir,
    SERVICE_AUTH_TOKEN: 'whole-system-token',
  });
  let id = 0;
  const fsck = async (repair: boolean) => {
    const said: string[] = [];
    const say = (line: string) => said.push(line);
    const sound = await runFsck({ settings, repair, say, newId: () => `fsck-${id++}`, now: () => 5 });
    return { sound, said };
  };
  assert.deepEqual(await fsck(false), { sound: true, said: ['6 pages, 6 chunks', 'sound'] });

  for (const folder of ['sparse', 'dense/1', 'pages/1']) {
    const dir = join(system.dataDir, 'index', folder);
    const name = readdirSync(dir).find((each) => /\.(segment|rows)$/.test(each));
    assert.ok(name !== undefined);
    const content = readFileSync(join(dir, name));
    content[content.length >> 1] ^= 1;
    writeFileSync(join(dir, name), content);
  }
  const found = await fsck(false);
  assert.equal(found.sound, false);
  for (const folder of ['sparse', 'dense/1', 'pages/1']) {
    assert.ok(
      found.said.some((line) => line.startsWith(`index/${folder}: `) && line.includes('another checksum')),
      JSON.stringify(found.said),
    );
  }
  const repaired = await fsck(true);
  assert.equal(repaired.sound, true, JSON.stringify(repaired.said));
  assert.deepEqual(await fsck(false), { sound: true, said: ['6 pages, 6 chunks', 'sound'] });
});
